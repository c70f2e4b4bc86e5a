// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace co2 {

// The weights of all training rows. If all are one, nothing is stored.
class Weights {
   public:
    Weights(std::span<const float> stored) : stored_(stored) {}

    bool all_one() const { return stored_.empty(); }
    std::span<const float> stored() const { return stored_; }
    float operator[](std::size_t row) const { return stored_.empty() ? 1.0f : stored_[row]; }

   private:
    std::span<const float> stored_;
};

// The weights as an array, for a pass over all rows.
struct ExplicitWeights {
    ExplicitWeights(std::size_t n_rows, Weights weight)
        : ones(weight.all_one() ? n_rows : 0, 1.0f),
          all(weight.all_one() ? std::span<const float>(ones) : weight.stored()) {}

    std::vector<float> ones;
    std::span<const float> all;
};

}  // namespace co2
