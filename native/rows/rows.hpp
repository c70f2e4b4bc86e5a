// SPDX-License-Identifier: BSD-3-Clause
// What a training or test row is. Two kinds: dense (float32 or uint8, as the caller's array lies in
// memory) and sparse (CSR). The rest of the core is templated on the kind and asks only for the
// members that both have:
//   dot(i, h)                the projection of row i on a hyperplane's weights
//   value(i, j)              one element
//   standardise / visit      (dense / sparse) what a node's sample is gathered from
//
// A missing value (NaN) counts as the feature's mean everywhere. Dense, indexed and CSR products
// add the same numbers in the same lanes, so they agree to the last bit.
#pragma once

#include <cmath>
#include <cstring>

#include "random.hpp"
#include "types.hpp"

namespace co2 {

// Adds products in the 16 lanes of the kernels, for rows or weights that list their elements.
class LaneSum {
   public:
    void add(Feature j, float product) { lane_[static_cast<std::size_t>(j) % kLanes] += product; }

    float total() const {
        float quad[4];
        for (int l = 0; l < 4; ++l)
            quad[l] = (lane_[l] + lane_[l + 8]) + (lane_[l + 4] + lane_[l + 12]);
        return (quad[0] + quad[2]) + (quad[1] + quad[3]);
    }

   private:
    float lane_[kLanes] = {};
};

// For finding rows that are alike; not for anything that must resist an adversary.
inline std::uint64_t hash_bytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint64_t h = size, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        std::memcpy(&word, bytes, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    word = 0;
    std::memcpy(&word, bytes, size);
    return mix(h ^ word);
}

inline float dense_dot(const float* x, const float* w, std::size_t p) {
    return kernels().dot_f32(x, w, p);
}
inline float dense_dot(const std::uint8_t* x, const float* w, std::size_t p) {
    return kernels().dot_u8(x, w, p);
}

template <class T>
class DenseRows {
   public:
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

    float value(std::size_t i, Feature j) const {
        const float x = static_cast<float>(row(i)[j]);
        return std::isnan(x) ? mean_[j] : x;
    }

    float dot(std::size_t i, const HyperplaneView& h) const {
        float z;
        if (h.is_dense()) {
            z = dense_dot(row(i), h.weight.data(), p_);
        } else if (h.feature.size() ==
                   1) {  // axis-aligned; the sum of the lanes is the one product
            z = static_cast<float>(row(i)[h.feature[0]]) * h.weight[0];
        } else {
            LaneSum sum;
            const T* x = row(i);
            for (std::size_t t = 0; t < h.feature.size(); ++t)
                sum.add(h.feature[t], static_cast<float>(x[h.feature[t]]) * h.weight[t]);
            z = sum.total();
        }
        // Only a row with a missing value (or one whose sum overflows) is worth a second look.
        return std::isnan(z) ? dot_with_missing(i, h) : z;
    }

    void standardise(std::size_t i, const Standardisation& s, float* out) const {
        if constexpr (sizeof(T) == 1)
            kernels().standardise_u8(row(i), s.map(), p_, out);
        else
            kernels().standardise_f32(row(i), s.map(), p_, out);
    }

   private:
    float dot_with_missing(std::size_t i, const HyperplaneView& h) const {
        LaneSum sum;
        for (std::size_t t = 0; t < h.weight.size(); ++t) {
            const Feature j = h.is_dense() ? static_cast<Feature>(t) : h.feature[t];
            sum.add(j, value(i, j) * h.weight[t]);
        }
        return sum.total();
    }

    const T* data_;  // n x p, row-major, not owned
    std::size_t n_, p_;
    const float* mean_;  // p values, what NaN stands for
};

class SparseRows {
   public:
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

    float dot(std::size_t i, const HyperplaneView& h) const {
        LaneSum sum;
        if (h.is_dense()) {
            visit(i, [&](Feature j, float x) {
                sum.add(j, x * h.weight[static_cast<std::size_t>(j)]);
            });
        } else {
            std::size_t t = 0;
            visit(i, [&](Feature j, float x) {
                while (t < h.feature.size() && h.feature[t] < j) ++t;
                if (t < h.feature.size() && h.feature[t] == j) sum.add(j, x * h.weight[t]);
            });
        }
        return sum.total();
    }

   private:
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
