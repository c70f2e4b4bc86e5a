// SPDX-License-Identifier: BSD-3-Clause
// Rows that lie one after the other in the caller's array, float32 or uint8.
#pragma once

#include <cstring>

#include "base/hash.hpp"
#include "rows/missing.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

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

    // z_t = the projection of row first + ids_t on a hyperplane. It is on its right side of the
    // threshold; for many bytes it is not exact (see project_bytes).
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

    // Weights as 16-bit whole numbers decide for nearly all rows. The few that are so near to the
    // threshold that rounding might matter are projected again with floats. So every row goes where
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

}  // namespace co2
