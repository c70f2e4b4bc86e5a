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
        const Range range(values);
        if (!(range.low < range.high)) return std::nullopt;
        const SideLimits limits(node);
        scan.rewind();
        best_.reset();
        if (range.levels() * scan.numbers_per_level() <= 2 * values.size())
            try_levels(values, range, limits, scan);
        else
            try_gaps(values, limits, scan);
        return best_;
    }

   private:
    // Of values; whole numbers of a small range need no sort.
    struct Range {
        float low, high;
        bool whole = true;

        explicit Range(std::span<const float> values) : low(values[0]), high(values[0]) {
            for (const float x : values) {
                low = std::min(low, x);
                high = std::max(high, x);
                whole = whole && x == static_cast<float>(static_cast<std::int32_t>(x));
            }
        }

        std::size_t levels() const {
            constexpr float most = 1024.0f;
            const bool few = whole && high - low < most;
            return few ? static_cast<std::size_t>(high - low) + 1
                       : std::numeric_limits<std::size_t>::max() / 4096;
        }
    };

    // Rows with the same value go to the left together. Binary features are searched in a third of
    // the time of a sort (Connect-4).
    template <class Limits>
    void try_levels(std::span<const float> values, const Range& range, const Limits& limits,
                    Scan& scan) {
        const std::size_t n_levels = range.levels();
        scan.clear_levels(n_levels);
        count_.assign(n_levels, 0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto level = static_cast<std::size_t>(values[i] - range.low);
            scan.put_on_level(i, level);
            count_[level] += limits.count(i);
        }
        std::int64_t left = 0;
        std::size_t here = 0;
        for (std::size_t next = 1; next < n_levels; ++next) {
            if (count_[next] == 0) continue;
            scan.move_level_left(here);
            left += count_[here];
            const auto value = [&](std::size_t level) {
                return range.low + static_cast<float>(level);
            };
            if (limits.hold(left, scan)) consider(value(here), value(next), scan);
            here = next;
        }
    }

    template <class Limits>
    void try_gaps(std::span<const float> values, const Limits& limits, Scan& scan) {
        order_.sort(values);
        std::int64_t left = 0;  // the caller's rows
        for (std::size_t rank = 0; rank + 1 < values.size(); ++rank) {
            const std::size_t i = order_[rank];
            scan.move_left(i);
            left += limits.count(i);
            const float here = values[i], next = values[order_[rank + 1]];
            if (here < next && limits.hold(left, scan)) consider(here, next, scan);
        }
    }

    void consider(float here, float next, const Scan& scan) {
        const double score = scan.score();
        if (best_ && !(score > best_->score)) return;
        const float threshold = between(here, next);
        if (std::isfinite(threshold)) best_ = Cut{threshold, score};
    }

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

    std::optional<Cut> best_;
    ValueOrder order_;
    std::vector<std::int64_t> count_;  // the caller's rows on each level
};

}  // namespace co2
