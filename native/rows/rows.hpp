// SPDX-License-Identifier: BSD-3-Clause
// What a training or test row is. Three kinds: dense (float32 or uint8, as the caller's array lies
// in memory), sparse (CSR), and a window of an image (windows/rows.hpp). The rest of the core is
// templated on the kind and asks only for the members that it needs:
//   project(ids, h, ..., z)  projections of rows on a hyperplane's weights
//   dots(i, planes, z)       projections of a row on several
//   value(i, j)              one element
//   standardise, copy / visit  (dense, window / sparse) what a node's sample is gathered from
//
// A missing value (NaN) counts as the feature's mean everywhere. Dense, indexed and CSR products
// add the same numbers in the same lanes, so they agree to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "hash.hpp"
#include "types.hpp"

namespace co2 {

// Where the kernels add the product of feature j of p.
inline std::size_t lane_of(Feature feature, std::size_t p) {
    const auto j = static_cast<std::size_t>(feature);
    return j < p / kLanes * kLanes || p < kLanes ? j % kLanes : j - (p - kLanes);
}

// Adds products as the kernels do, for rows or weights that list their elements.
class LaneSum {
   public:
    explicit LaneSum(std::size_t p) : p_(p) {}

    void add(Feature j, float product) { lane_[lane_of(j, p_)] += product; }

    float total() const {
        float quad[4];
        for (int l = 0; l < 4; ++l)
            quad[l] = (lane_[l] + lane_[l + 8]) + (lane_[l + 4] + lane_[l + 12]);
        return (quad[0] + quad[2]) + (quad[1] + quad[3]);
    }

   private:
    std::size_t p_;
    float lane_[kLanes] = {};
};

// z_i = <x_i, w_i> for n pairs of vectors of length p.
inline void dense_dots(const float* const* x, const Bfloat16* const* w, std::size_t p,
                       std::size_t n, float* z) {
    kernels().dots_f32(x, w, p, n, z);
}
inline void dense_dots(const std::uint8_t* const* x, const Bfloat16* const* w, std::size_t p,
                       std::size_t n, float* z) {
    kernels().dots_u8(x, w, p, n, z);
}

// What projections of many bytes need beside the rows: a kind of rows names its own as `Space`. The
// caller keeps it from node to node, because a node may have few rows; not thread_local, because
// glibc ends a process that has no memory for those.
struct ProjectionSpace {
    AlignedFloats weight, ones;
    std::vector<std::int16_t> quantised;
};

// How much a projection on weights in `unit`s of 16 bits, whose sizes have this sum, may differ
// from one with floats, which are added in lanes. A unit of zero says nothing about any row.
inline float byte_margin(float unit, float size, std::size_t features) {
    const auto p = static_cast<float>(features);
    return unit > 0.0f ? 255.0f * (0.501f * unit * p + size * (p / 16.0f + 16.0f) * 0x1p-23f)
                       : std::numeric_limits<float>::infinity();
}

// The projection of a row on a hyperplane that lists its features; element(t) is the row's element
// at the t-th of them.
template <class ElementAt>
float listed_dot(std::size_t p, const HyperplaneView& h, ElementAt&& element) {
    if (h.feature.size() == 1)  // axis-aligned; the sum of the lanes is the one product
        return element(0) * widen(h.weight[0]);
    if (h.feature.size() == 2)  // two probes; lanes that stay zero change nothing
        return element(0) * widen(h.weight[0]) + element(1) * widen(h.weight[1]);
    LaneSum sum(p);
    for (std::size_t t = 0; t < h.feature.size(); ++t)
        sum.add(h.feature[t], element(t) * widen(h.weight[t]));
    return sum.total();
}

template <class Rows>
float dot_with_missing(const Rows& rows, std::size_t i, const HyperplaneView& h) {
    LaneSum sum(rows.features());
    for (std::size_t t = 0; t < h.weight.size(); ++t) {
        const Feature j = h.is_dense() ? static_cast<Feature>(t) : h.feature[t];
        sum.add(j, rows.value(i, j) * widen(h.weight[t]));
    }
    return sum.total();
}

template <class T>
class DenseRows {
   public:
    using Element = T;
    using Space = ProjectionSpace;

    DenseRows(const T* data, std::size_t n, std::size_t p, const float* mean)
        : data_(data), n_(n), p_(p), mean_(mean) {}

    DenseRows with_mean(const float* mean) const { return {data_, n_, p_, mean}; }

    std::size_t count() const { return n_; }
    std::size_t features() const { return p_; }
    bool same(std::size_t a, std::size_t b) const {
        return std::memcmp(row(a), row(b), p_ * sizeof(T)) == 0;
    }
    std::uint64_t hash(std::size_t i) const { return hash_bytes(row(i), p_ * sizeof(T)); }
    const T* row(std::size_t i) const { return data_ + i * p_; }
    const T* in_one_piece(std::size_t i, std::vector<T>&) const { return row(i); }
    void copy(std::size_t i, T* out) const { std::copy_n(row(i), p_, out); }
    void prefetch(std::size_t i) const {
        const auto* bytes = reinterpret_cast<const char*>(row(i));
        for (std::size_t t = 0; t < p_ * sizeof(T); t += 64) __builtin_prefetch(bytes + t);
    }

    T element(std::size_t i, std::size_t j) const { return row(i)[j]; }

    float value(std::size_t i, Feature j) const {
        const float x = static_cast<float>(row(i)[j]);
        return std::isnan(x) ? mean_[j] : x;
    }

    // z_t = the projection of row first + ids_t on a hyperplane; on its right side of the
    // threshold, but for many bytes not exact (see project_bytes).
    void project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                 ProjectionSpace& space, float* z) const {
        if constexpr (sizeof(T) == 1) {
            if (h.is_dense() && p_ >= 64 && ids.size() >= 24)
                return project_bytes(first, ids, h, space, z);
        }
        project_with_floats(first, ids, h, z);
    }

    // z_t = the projection of row ids_t, exactly as a row on its own has it.
    void project_exactly(std::span<const RowId> ids, const HyperplaneView& h, float* z) const {
        project_with_floats(0, ids, h, z);
    }

    // z_t = the projection of row i on the hyperplane plane_at(t), for n of them; weights_at(t) are
    // its weights, or null if it lists features.
    template <class WeightsAt, class PlaneAt>
    void dots(std::size_t i, std::size_t n, WeightsAt&& weights_at, PlaneAt&& plane_at,
              float* z) const {
        constexpr std::size_t block = 128;
        const T* x[block];
        const Bfloat16* w[block];
        float product[block];
        std::size_t place[block];  // of each product in z
        std::fill_n(x, block, row(i));
        for (std::size_t begin = 0; begin < n; begin += block) {
            const std::size_t end = std::min(n, begin + block);
            std::size_t dense = 0;
            for (std::size_t t = begin; t < end; ++t) {
                w[dense] = weights_at(t);
                place[dense] = t;
                if (w[dense] != nullptr)
                    ++dense;
                else
                    z[t] = listed_dot(row(i), plane_at(t));
            }
            dense_dots(x, w, p_, dense, product);
            for (std::size_t d = 0; d < dense; ++d) z[place[d]] = product[d];
            for (std::size_t t = begin; t < end; ++t)
                if (std::isnan(z[t])) z[t] = dot_with_missing(*this, i, plane_at(t));
        }
    }

    void standardise(std::span<const RowId> ids, const Standardisation& s, std::size_t stride,
                     float* out) const {
        if constexpr (sizeof(T) == 1)
            kernels().standardise_u8(data_, n_, p_, ids.data(), ids.size(), s.map(), stride, out);
        else
            kernels().standardise_f32(data_, n_, p_, ids.data(), ids.size(), s.map(), stride, out);
    }

   private:
    void project_with_floats(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                             float* z) const {
        if (!h.is_dense()) {
            for (std::size_t t = 0; t < ids.size(); ++t)
                z[t] = listed_dot(row(first + static_cast<std::size_t>(ids[t])), h);
        } else if constexpr (sizeof(T) == 1) {
            kernels().project_u8(row(first), p_, ids.data(), ids.size(), h.weight.data(), z);
        } else {
            kernels().project_f32(row(first), p_, ids.data(), ids.size(), h.weight.data(), z);
        }
        // Only a row with a missing value (or one whose sum overflows) is worth a second look.
        if constexpr (sizeof(T) == 1) return;
        for (std::size_t t = 0; t < ids.size(); ++t)
            if (std::isnan(z[t]))
                z[t] = dot_with_missing(*this, first + static_cast<std::size_t>(ids[t]), h);
    }

    // Weights as 16-bit whole numbers decide for all rows but the few so near to the threshold that
    // their rounding might matter; those are projected again with floats. So every row goes where
    // floats would send it, in a third of the time.
    void project_bytes(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                       ProjectionSpace& space, float* z) const {
        const std::size_t whole = p_ / kLanes * kLanes, stride = round_up_to_lanes(p_);
        auto& [weight, ones, quantised] = space;
        weight.assign(stride, 0.0f);
        ones.assign(stride, 1.0f);
        quantised.resize(stride);
        for (std::size_t j = 0; j < whole; ++j) weight[j] = widen(h.weight[j]);
        for (std::size_t j = whole; j < p_; ++j) weight[stride - p_ + j] = widen(h.weight[j]);
        const auto [unit, size] =
            kernels().quantise(weight.data(), ones.data(), stride, weight.data(), quantised.data());
        kernels().project_quantised(row(first), p_, ids.data(), ids.size(), quantised.data(), unit,
                                    z);
        const float margin = byte_margin(unit, size, p_);
        for (std::size_t t = 0; t < ids.size(); ++t)
            if (!(std::abs(z[t] - h.threshold) > margin))
                kernels().project_u8(row(first), p_, &ids[t], 1, h.weight.data(), z + t);
    }

    float listed_dot(const T* x, const HyperplaneView& h) const {
        return co2::listed_dot(p_, h,
                               [&](std::size_t t) { return static_cast<float>(x[h.feature[t]]); });
    }

    const T* data_;  // n x p, row-major, not owned
    std::size_t n_, p_;
    const float* mean_;  // p values, what NaN stands for
};

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
