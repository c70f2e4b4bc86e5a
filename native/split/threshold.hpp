// SPDX-License-Identifier: BSD-3-Clause
// The best threshold of a feature or a projection, by an exact search: every gap between two
// different values of the node's rows is tried.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "split/node.hpp"
#include "split/sort.hpp"

namespace co2 {

// In the middle between two neighbouring floats there may be none.
inline float between(float left, float right) {
    const float middle = left * 0.5f + right * 0.5f;
    return middle > left && middle <= right ? middle : right;
}

struct Cut {
    float threshold;  // rows with value >= threshold go right
    double score;     // of the scan; higher is better
};

// Scan: of a loss, with the node's rows gathered.
template <class Scan>
class ThresholdSearch {
   public:
    // Of equal scores the lowest threshold. Nothing if all values are the same, or every threshold
    // leaves too little on a side.
    template <class Node>
    std::optional<Cut> find(std::span<const float> values, const Node& node, Scan& scan) {
        order_.sort(values);
        scan.rewind();
        std::optional<Cut> best;
        const SideLimits limits(node);
        std::int64_t left = 0;  // the caller's rows
        for (std::size_t rank = 0; rank + 1 < values.size(); ++rank) {
            const std::size_t i = order_[rank];
            scan.move_left(i);
            left += limits.count(i);
            const float here = values[i], next = values[order_[rank + 1]];
            if (!(here < next) || !limits.hold(left, scan)) continue;
            const double score = scan.score();
            if (best && !(score > best->score)) continue;
            const float threshold = between(here, next);
            if (std::isfinite(threshold)) best = Cut{threshold, score};
        }
        return best;
    }

   private:
    class SideLimits {
       public:
        template <class Node>
        explicit SideLimits(const Node& node)
            : ids_(node.ids), count_(node.count), least_(node.min_samples_leaf),
              least_weight_(node.min_weight_leaf) {
            if (least_ <= 1) return;
            for (std::size_t i = 0; i < ids_.size(); ++i) total_ += count(i);
        }

        std::int64_t count(std::size_t i) const {
            return count_.empty() ? 1 : count_[static_cast<std::size_t>(ids_[i])];
        }

        bool hold(std::int64_t left, const Scan& scan) const {
            return (least_ <= 1 || (left >= least_ && total_ - left >= least_)) &&
                   scan.left_weight() >= least_weight_ &&
                   scan.total_weight() - scan.left_weight() >= least_weight_;
        }

       private:
        std::span<const RowId> ids_;
        std::span<const std::int32_t> count_;
        std::int64_t least_, total_ = 0;
        double least_weight_;
    };

    ValueOrder order_;
};

}  // namespace co2
