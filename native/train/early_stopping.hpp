// SPDX-License-Identifier: BSD-3-Clause
// The early-stopping rule of boosting: end when the loss of the rows held out has not fallen for
// some rounds, and keep the rounds up to the best one.
#pragma once

#include <limits>

#include "train/boost.hpp"

namespace co2 {

class EarlyStopping {
   public:
    explicit EarlyStopping(const BoostParams& params)
        : patience_(static_cast<std::size_t>(params.patience)), tolerance_(params.tolerance) {}

    // A warm start: what the trees there are reach, and that no round need be added to them.
    void begin_after(const BoostLoss& loss) {
        best_ = loss;
        kept_ = 0;
    }

    // Whether to end after `done` rounds, the last of which gave this loss.
    bool ends(std::size_t done, const BoostLoss& loss) {
        if (is_better(loss)) {
            best_ = loss;
            kept_ = done;
        }
        return done >= kept_ + patience_;
    }

    std::size_t kept() const { return kept_; }

   private:
    bool is_better(const BoostLoss& loss) const {
        if (loss.loss < best_.loss - tolerance_) return true;
        return loss.loss <= best_.loss && loss.second < best_.second - tolerance_;
    }

    std::size_t patience_;  // rounds without progress
    double tolerance_;      // a smaller decrease is no progress
    std::size_t kept_ = 1;  // rounds
    BoostLoss best_{std::numeric_limits<double>::infinity(), 0.0};
};

}  // namespace co2
