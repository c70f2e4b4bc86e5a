// SPDX-License-Identifier: BSD-3-Clause
// The best threshold of a feature or a projection, by an exact search: every gap between two
// different values of the node's rows is tried. Or, if that is allowed, only those between equal
// bins of the values, without a sort.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "base/stop.hpp"
#include "rows/binned.hpp"
#include "split/node.hpp"
#include "split/sort.hpp"

namespace co2 {

// The middle of two floats; between two neighbouring floats there is none.
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
    // The best threshold; the lowest one if scores are equal. Nothing if all values are the same,
    // or every threshold leaves too little on a side. Bins are used if there are at least eight
    // rows for each of them (0: never).
    template <class Node>
    std::optional<Cut> find(std::span<const float> values, const Node& node, Scan& scan,
                            std::size_t bins = 0) {
        const Range range(values);
        if (!(range.low < range.high)) return std::nullopt;
        const SideLimits limits(node);
        scan.rewind();
        best_.reset();
        stop_ = &node.stop;
        if (range.suits_levels(scan.numbers_per_level(), values.size()))
            try_levels(values, range, limits, scan);
        else if (bins > 0 && values.size() >= 8 * bins)
            try_bins(values, range, bins, limits, scan);
        else if (values.size() >= kFewRows && find_few(values))
            try_few(values, limits, scan);
        else
            try_gaps(values, limits, scan);
        return best_;
    }

    // The best threshold between the bins of a feature.
    template <class Node>
    std::optional<Cut> find_between(const BinnedColumns& binned, Feature feature, const Node& node,
                                    Scan& scan) {
        const std::size_t n_bins = binned.count(feature);
        if (n_bins < 2) return std::nullopt;
        const BinnedColumns::Bin* const bin = binned.of(feature);
        const SideLimits limits(node);
        scan.rewind();
        best_.reset();
        stop_ = &node.stop;
        count_.assign(limits.count_rows() ? n_bins : 0, 0);
        scan.put_on_levels(node.ids, bin, n_bins, node.count, count_);
        try_boundaries(n_bins, limits, scan, [&](std::size_t here, std::size_t next) {
            return binned.threshold(feature, (here + next + 1) / 2);
        });
        return best_;
    }

    // A threshold anywhere between the smallest and the largest value, as in extra trees (Geurts,
    // Ernst, Wehenkel 2006).
    template <class Node>
    std::optional<Cut> find_random(std::span<const float> values, const Node& node, Scan& scan,
                                   Random& random) {
        float low, high;
        kernels().range(values.data(), values.size(), &low, &high);
        if (!(low < high)) return std::nullopt;
        const double part = static_cast<double>(random.below(1u << 24)) * 0x1p-24;
        const auto inside = static_cast<float>(low + part * (static_cast<double>(high) - low));
        const float threshold = inside > low ? inside : high;
        bin_.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) bin_[i] = values[i] >= threshold;
        scan.rewind();
        best_.reset();
        stop_ = &node.stop;
        try_levels(bin_, Range{0.0f, 1.0f, 2}, SideLimits(node), scan);
        if (best_) best_->threshold = threshold;
        return best_;
    }

   private:
    // The range of values. Whole numbers of a small range need no sort.
    struct Range {
        float low, high;
        std::size_t levels = std::numeric_limits<std::size_t>::max();

        Range(float lowest, float highest, std::size_t count)
            : low(lowest), high(highest), levels(count) {}
        explicit Range(std::span<const float> values) {
            kernels().range(values.data(), values.size(), &low, &high);
            constexpr float most = 1024.0f, exact = 0x1p20f;
            if (high - low < most && std::abs(low) < exact &&
                kernels().all_whole(values.data(), values.size()))
                levels = static_cast<std::size_t>(high - low) + 1;
        }

        // Levels that nearly all are empty would take longer than a sort.
        bool suits_levels(std::size_t numbers_per_level, std::size_t rows) const {
            return levels <= 2 * rows / numbers_per_level;
        }
    };

    // Rows with the same value go to the left together. Binary features are searched in a third of
    // the time of a sort (Connect-4).
    template <class Limits>
    void try_levels(std::span<const float> values, const Range& range, const Limits& limits,
                    Scan& scan) {
        const std::size_t n_levels = range.levels;
        scan.put_on_levels(values, range.low, n_levels);
        if (limits.count_rows()) {
            count_.assign(n_levels, 0);
            for (std::size_t i = 0; i < values.size(); ++i)
                count_[static_cast<std::size_t>(values[i] - range.low)] += limits.count(i);
        }
        try_boundaries(n_levels, limits, scan, [&](std::size_t here, std::size_t next) {
            return between(range.low + static_cast<float>(here),
                           range.low + static_cast<float>(next));
        });
    }

    // The levels have their rows. threshold(here, next) lies between two levels that have some,
    // and no level between them has any.
    template <class Limits, class Threshold>
    void try_boundaries(std::size_t n_levels, const Limits& limits, Scan& scan,
                        Threshold&& threshold) {
        std::int64_t left = 0;
        std::size_t here = 0;
        while (here < n_levels && !scan.has_level(here)) ++here;
        for (std::size_t next = here + 1; next < n_levels; ++next) {
            if (!scan.has_level(next)) continue;
            scan.move_level_left(here);
            if (limits.count_rows()) left += count_[here];
            if (limits.hold(left, scan)) consider(threshold(here, next), scan);
            here = next;
        }
    }

    // The values' bins are levels. The threshold lies between the values next to the best boundary.
    template <class Limits>
    void try_bins(std::span<const float> values, const Range& range, std::size_t bins,
                  const Limits& limits, Scan& scan) {
        const float step = static_cast<float>(bins) / (range.high - range.low);
        if (!std::isfinite(step)) return try_gaps(values, limits, scan);
        bin_.resize(values.size());
        const auto last = static_cast<float>(bins - 1);
        for (std::size_t i = 0; i < values.size(); ++i) {  // of numbers that are not negative
            const auto whole = static_cast<std::int32_t>((values[i] - range.low) * step);
            bin_[i] = std::min(last, static_cast<float>(whole));
        }
        try_levels(bin_, Range{0.0f, last, bins}, limits, scan);
        if (!best_) return;
        float left = range.low, right = range.high;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (bin_[i] < best_->threshold)
                left = std::max(left, values[i]);
            else
                right = std::min(right, values[i]);
        }
        best_->threshold = between(left, right);
        if (!std::isfinite(best_->threshold)) best_.reset();
    }

    // Differences of two binary features have at most four values, in any unit. With so few values
    // a sort takes four times as long.
    static constexpr std::size_t kFewValues = 8, kFewRows = 16;

    // The different values, in increasing order; false if they are many.
    bool find_few(std::span<const float> values) {
        n_few_ = 0;
        for (const float x : values) {
            if (std::find(few_.begin(), few_.begin() + n_few_, x) != few_.begin() + n_few_)
                continue;
            if (n_few_ == static_cast<std::ptrdiff_t>(kFewValues)) return false;
            few_[static_cast<std::size_t>(n_few_++)] = x;
        }
        std::sort(few_.begin(), few_.begin() + n_few_);
        return true;
    }

    template <class Limits>
    void try_few(std::span<const float> values, const Limits& limits, Scan& scan) {
        bin_.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::size_t level = 0;
            while (few_[level] != values[i]) ++level;
            bin_[i] = static_cast<float>(level);
        }
        const auto n = static_cast<std::size_t>(n_few_);
        try_levels(bin_, Range{0.0f, static_cast<float>(n - 1), n}, limits, scan);
        if (!best_) return;
        const auto right = static_cast<std::size_t>(std::ceil(best_->threshold));
        best_->threshold = between(few_[right - 1], few_[right]);
        if (!std::isfinite(best_->threshold)) best_.reset();
    }

    template <class Limits>
    void try_gaps(std::span<const float> values, const Limits& limits, Scan& scan) {
        order_.sort(values);
        std::int64_t left = 0;  // the caller's rows
        for (std::size_t rank = 0; rank + 1 < values.size(); ++rank) {
            const std::size_t i = order_[rank];
            scan.move_left(i);
            if (limits.count_rows()) left += limits.count(i);
            const float here = values[i], next = values[order_[rank + 1]];
            if (here < next && limits.hold(left, scan)) consider(between(here, next), scan);
        }
    }

    void consider(float threshold, const Scan& scan) {
        throw_if(*stop_);  // with thousands of outputs, one score takes as long as a small node
        const double score = scan.score();
        if (best_ && !(score > best_->score)) return;
        if (std::isfinite(threshold)) best_ = Cut{threshold, score};
    }

    class SideLimits {
       public:
        template <class Node>
        explicit SideLimits(const Node& node)
            : ids_(node.ids), count_(node.count), least_(node.min_samples_leaf),
              least_weight_(node.min_weight_leaf) {
            if (!count_rows()) return;
            total_ = static_cast<std::int64_t>(ids_.size());
            if (count_.empty()) return;
            total_ = 0;
            for (std::size_t i = 0; i < ids_.size(); ++i) total_ += count(i);
        }

        // If one row is enough, both sides of a gap have it.
        bool count_rows() const { return least_ > 1; }
        std::int64_t count(std::size_t i) const {
            return count_.empty() ? 1 : count_[static_cast<std::size_t>(ids_[i])];
        }

        bool hold(std::int64_t left, const Scan& scan) const {
            return (!count_rows() || (left >= least_ && total_ - left >= least_)) &&
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
    const std::atomic<bool>* stop_ = nullptr;
    ValueOrder order_;
    std::vector<float> bin_;             // of each value
    std::array<float, kFewValues> few_;  // different values
    std::ptrdiff_t n_few_ = 0;
    std::vector<std::int64_t> count_;  // the caller's rows on each level
};

}  // namespace co2
