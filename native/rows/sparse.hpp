// SPDX-License-Identifier: BSD-3-Clause
// Rows of a CSR matrix in the caller's arrays.
#pragma once

#include <cstring>

#include "base/hash.hpp"
#include "rows/projection.hpp"

namespace co2 {

class SparseRows {
   public:
    struct Space {};

    SparseRows(const std::int64_t* begin, const Feature* feature, const float* value, std::size_t n,
               std::size_t p, const float* mean)
        : begin_(begin), feature_(feature), value_(value), n_(n), p_(p), mean_(mean) {}

    SparseRows with_mean(const float* mean) const {
        return {begin_, feature_, value_, n_, p_, mean};
    }

    std::size_t count() const { return n_; }
    std::size_t features() const { return p_; }

    bool same(std::size_t a, std::size_t b) const {
        const std::size_t size = stored(a);
        return size == stored(b) &&
               std::memcmp(feature_ + begin_[a], feature_ + begin_[b], size * sizeof(Feature)) ==
                   0 &&
               std::memcmp(value_ + begin_[a], value_ + begin_[b], size * sizeof(float)) == 0;
    }

    std::uint64_t hash(std::size_t i) const {
        return hash_bytes(feature_ + begin_[i], stored(i) * sizeof(Feature)) * 31 +
               hash_bytes(value_ + begin_[i], stored(i) * sizeof(float));
    }

    // Calls f(feature, value) for the stored elements of row i, in increasing order of features.
    template <class F>
    void visit_raw(std::size_t i, F&& f) const {
        for (std::int64_t t = begin_[i]; t < begin_[i + 1]; ++t) f(feature_[t], value_[t]);
    }

    // The same with missing values replaced.
    template <class F>
    void visit(std::size_t i, F&& f) const {
        visit_raw(i, [&](Feature j, float x) { f(j, std::isnan(x) ? mean_[j] : x); });
    }

    float value(std::size_t i, Feature j) const {
        std::int64_t low = begin_[i], high = begin_[i + 1];
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            (feature_[middle] < j ? low : high) = feature_[middle] < j ? middle + 1 : middle;
        }
        if (low == begin_[i + 1] || feature_[low] != j) return 0.0f;
        return std::isnan(value_[low]) ? mean_[j] : value_[low];
    }

    void project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h, Space&,
                 float* z) const {
        for (std::size_t t = 0; t < ids.size(); ++t)
            z[t] = dot(first + static_cast<std::size_t>(ids[t]), h);
    }

    void project_exactly(std::span<const RowId> ids, const HyperplaneView& h, float* z) const {
        for (std::size_t t = 0; t < ids.size(); ++t)
            z[t] = dot(static_cast<std::size_t>(ids[t]), h);
    }

    template <class WeightsAt, class PlaneAt>
    void dots(std::size_t i, std::size_t n, WeightsAt&&, PlaneAt&& plane_at, float* z) const {
        for (std::size_t t = 0; t < n; ++t) z[t] = dot(i, plane_at(t));
    }

   private:
    float dot(std::size_t i, const HyperplaneView& h) const {
        LaneSum sum(p_);
        if (h.is_dense()) {
            visit(i, [&](Feature j, float x) {
                sum.add(j, x * widen(h.weight[static_cast<std::size_t>(j)]));
            });
        } else {
            std::size_t t = 0;
            visit(i, [&](Feature j, float x) {
                while (t < h.feature.size() && h.feature[t] < j) ++t;
                if (t < h.feature.size() && h.feature[t] == j) sum.add(j, x * widen(h.weight[t]));
            });
        }
        return sum.total();
    }

    std::size_t stored(std::size_t i) const {
        return static_cast<std::size_t>(begin_[i + 1] - begin_[i]);
    }

    const std::int64_t* begin_;  // n + 1 offsets, not decreasing
    const Feature* feature_;     // strictly increasing within a row
    const float* value_;
    std::size_t n_, p_;
    const float* mean_;
};

}  // namespace co2
