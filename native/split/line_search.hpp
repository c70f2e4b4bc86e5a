// SPDX-License-Identifier: BSD-3-Clause
// How far a hyperplane should move along a direction. Row i is on the right iff
// value_i + step * slope_i >= 0, so it changes sides at the critical step -value_i / slope_i.
// Between two neighbouring critical steps nothing changes, so one step in each gap is enough. Steps
// beyond the outermost ones are left out: there the direction alone would be the hyperplane.
//
// The direction of one weight, whose slopes are the values of its feature, is the coordinate step
// of CART-LC and OC1; a random one is OC1's jump.
#pragma once

#include <cmath>
#include <optional>

#include "split/sort.hpp"

namespace co2 {

struct LineStep {
    float step;
    double score;
};

template <class Scan>
class LineSearch {
   public:
    // The best step; the lowest one if scores are equal. Nothing if there are fewer than two
    // critical steps.
    std::optional<LineStep> find(std::span<const float> values, std::span<const float> slopes,
                                 Scan& scan) {
        scan.rewind();
        moving_.clear();
        critical_.clear();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float critical = -values[i] / slopes[i];
            const bool moves = std::isfinite(critical);
            if (moves) {
                moving_.push_back(i);
                critical_.push_back(critical);
            }
            // The side of the row before all critical steps.
            const bool right = moves ? slopes[i] < 0.0f : values[i] >= 0.0f;
            if (!right) scan.move_left(i);
        }
        order_.sort(critical_);
        std::optional<LineStep> best;
        for (std::size_t rank = 0; rank + 1 < moving_.size(); ++rank) {
            const std::size_t place = order_[rank], i = moving_[place];
            if (slopes[i] > 0.0f)
                scan.move_right(i);
            else
                scan.move_left(i);
            const float here = critical_[place], next = critical_[order_[rank + 1]];
            if (!(here < next)) continue;
            const double score = scan.score();
            if (!best || score > best->score) best = LineStep{here * 0.5f + next * 0.5f, score};
        }
        return best;
    }

   private:
    std::vector<std::size_t> moving_;  // rows that change sides
    std::vector<float> critical_;      // their critical steps
    ValueOrder order_;
};

// The score if rows with a negative value go left.
template <class Scan>
double score_of_sides(std::span<const float> values, Scan& scan) {
    scan.rewind();
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(values[i] >= 0.0f)) scan.move_left(i);
    return scan.score();
}

}  // namespace co2
