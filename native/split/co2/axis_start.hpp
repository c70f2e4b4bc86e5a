// SPDX-License-Identifier: BSD-3-Clause
// The start of a node: the best axis-aligned split, by information gain, among q random features.
//
// Thresholds are searched on a histogram of at most 64 equal bins over the node's range, on at most
// 500 rows (with 1000 or 2000 validation errors are the same within one percent, mean over six to
// nine sets); the chosen one is then moved to the middle of the gap that it lies in.
#pragma once

#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "base/stop.hpp"
#include "rows/sample.hpp"
#include "split/co2/class_leaves.hpp"
#include "split/co2/optimiser.hpp"

namespace co2 {

struct AxisStart {
    std::size_t column = 0;              // of the sample
    float cut = 0.0f;                    // rows with value >= cut go right
    std::vector<double> left, right;     // class weights of the two sides, over the whole sample
    std::vector<std::uint8_t> is_right;  // side of each sampled row

    // <w, x> + bias = a (x_column - cut) with a such that |w|^2 + (bias / offset)^2 = nu.
    void to_plane(std::size_t stride, const Co2Params& params, LocalPlane& plane) const {
        const double ratio = cut / params.offset;
        const double a = std::sqrt(params.nu / (1.0 + ratio * ratio));
        plane.w.assign(stride, 0.0f);
        plane.w[column] = static_cast<float>(a);
        plane.bias = static_cast<float>(-a * cut);
    }
};

class AxisSearch {
   public:
    // False if every feature is constant on the rows looked at, or no split of these leaves
    // `min_rows` of the sample, or their share, on each side.
    template <class Sample>
    bool find(const Sample& sample, const NodeTargets& targets, std::int64_t candidates,
              std::int64_t min_rows, Random random, AxisStart& best) {
        n_ = std::min(sample.count(), kRows);
        min_rows = (min_rows * static_cast<std::int64_t>(n_) +
                    static_cast<std::int64_t>(sample.count()) - 1) /
                   static_cast<std::int64_t>(sample.count());
        values_.resize(sample.count());
        permutation_.resize(sample.width());
        std::iota(permutation_.begin(), permutation_.end(), 0);
        best_gain_ = -std::numeric_limits<float>::infinity();
        std::int64_t looked_at = 0;
        for (std::size_t t = 0; t < permutation_.size(); ++t) {
            if (looked_at >= candidates && best_gain_ > -std::numeric_limits<float>::infinity())
                break;
            const auto rest = static_cast<std::uint32_t>(permutation_.size() - t);
            std::swap(permutation_[t], permutation_[t + random.below(rest)]);
            const auto column = static_cast<std::size_t>(permutation_[t]);
            sample.column(column, n_, values_.data());
            if (scan(sample, targets, min_rows, column)) ++looked_at;
        }
        if (best_gain_ == -std::numeric_limits<float>::infinity()) return false;
        finish(sample, targets, best);
        return true;
    }

   private:
    static constexpr std::size_t kRows = 500;

    // Equal intervals of a column; the outer ones have all that lies beyond.
    struct Bins {
        float low = 0.0f, step = 0.0f;
        std::size_t count = 0;  // a multiple of 16

        std::size_t operator()(float x) const {
            const float last = static_cast<float>(count - 1);
            return static_cast<std::size_t>(std::min(last, std::max(0.0f, (x - low) * step)));
        }
    };

    // False if the column is constant.
    template <class Sample>
    bool scan(const Sample& sample, const NodeTargets& targets, std::int64_t min_rows,
              std::size_t column) {
        float low, high;
        kernels().range(values_.data(), n_, &low, &high);
        // No more bins than rows or values: for a 0-1 feature 16 instead of 64.
        Bins bins{low};
        bins.count = round_up_to_lanes(
            std::min({kMaxBins, n_, std::max<std::size_t>(1, sample.levels(column, high - low))}));
        bins.step = static_cast<float>(bins.count) / (high - low);
        if (!(low < high) || !(bins.step < std::numeric_limits<float>::max())) return false;
        histogram_.assign(targets.classes * kMaxBins, 0.0f);
        for (std::size_t i = 0; i < n_; ++i) {
            const auto row = static_cast<std::size_t>(targets.label[i]) * kMaxBins;
            histogram_[row + bins(values_[i])] += targets.weight[i];
        }
        float gain[kMaxBins];
        kernels().entropy_scan(histogram_.data(), targets.classes, bins.count, gain);
        if (min_rows > 1) forbid_small_sides(bins, min_rows, gain);
        for (std::size_t b = 0; b + 1 < bins.count; ++b) {
            if (!(gain[b] > best_gain_)) continue;
            best_gain_ = gain[b];
            best_column_ = column;
            best_bin_ = b;
            best_bins_ = bins;
        }
        return true;
    }

    void forbid_small_sides(const Bins& bins, std::int64_t min_rows, float* gain) const {
        std::int64_t rows[kMaxBins] = {};
        for (std::size_t i = 0; i < n_; ++i) ++rows[bins(values_[i])];
        std::int64_t left = 0;
        for (std::size_t b = 0; b < bins.count; ++b) {
            left += rows[b];
            if (left < min_rows || static_cast<std::int64_t>(n_) - left < min_rows)
                gain[b] = -std::numeric_limits<float>::infinity();
        }
    }

    template <class Sample>
    void finish(const Sample& sample, const NodeTargets& targets, AxisStart& best) {
        sample.column(best_column_, sample.count(), values_.data());
        float left = -std::numeric_limits<float>::infinity(), right = -left;
        for (std::size_t i = 0; i < n_; ++i) {
            const bool is_right = best_bins_(values_[i]) > best_bin_;
            if (is_right)
                right = std::min(right, values_[i]);
            else
                left = std::max(left, values_[i]);
        }
        best.column = best_column_;
        best.cut = left + (right - left) * 0.5f;
        if (!(best.cut > left)) best.cut = right;
        best.left.assign(targets.classes, 0.0);
        best.right.assign(targets.classes, 0.0);
        best.is_right.resize(sample.count());
        for (std::size_t i = 0; i < sample.count(); ++i) {
            best.is_right[i] = values_[i] >= best.cut;
            auto& side = best.is_right[i] ? best.right : best.left;
            side[static_cast<std::size_t>(targets.label[i])] += targets.weight[i];
        }
    }

    std::size_t n_ = 0;  // rows looked at
    AlignedFloats values_, histogram_;
    std::vector<std::int32_t> permutation_;
    float best_gain_ = 0.0f;
    std::size_t best_column_ = 0, best_bin_ = 0;
    Bins best_bins_;
};

}  // namespace co2
