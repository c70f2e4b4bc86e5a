// SPDX-License-Identifier: BSD-3-Clause
// How the steps of the node optimiser become shorter, as a factor of the learning rates in
// Co2Params.
#pragma once

#include <cstdint>
#include <limits>

#include "split/linear/local_plane.hpp"

namespace co2 {

// The decay of kRidge and kWarm, the defaults: from one to zero in a straight line, over all steps
// of the node.
inline double linear_decay(std::int64_t step, std::int64_t steps) {
    return 1.0 - static_cast<double>(step) / static_cast<double>(steps);
}

// The paper's (Solver::kCccp): the objective is tracked and the rate is halved when it stops
// falling.
class HalvedWhenStalled {
   public:
    explicit HalvedWhenStalled(double tol) : tol_(tol) {}

    double rate() const { return rate_; }

    // Looks at the objective after a period. False if three periods in a row brought no progress.
    bool keep_going(double objective, const LocalPlane& plane) {
        if (objective < best_objective_ * (1.0 - tol_)) {
            stalled_ = 0;
        } else {
            rate_ *= 0.5;
            ++stalled_;
        }
        if (objective < best_objective_) {
            best_objective_ = objective;
            best_ = plane;
        }
        return stalled_ < 3;
    }

    // The best plane seen, unless the last one, with this objective, is as good.
    void take_better(double last_objective, LocalPlane& last) const {
        if (best_objective_ < last_objective) last = best_;
    }

   private:
    double tol_;  // relative decrease that counts as progress
    double rate_ = 1.0;
    int stalled_ = 0;  // periods in a row without progress
    double best_objective_ = std::numeric_limits<double>::infinity();
    LocalPlane best_;
};

}  // namespace co2
