// SPDX-License-Identifier: BSD-3-Clause
// The few types that every part of the core shares.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "simd/kernels.hpp"

namespace co2 {

// Allocates whole cache lines: a load of 16 floats that crosses a line costs two.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* items, std::size_t) { ::operator delete(items, std::align_val_t{64}); }
    bool operator==(const LineAllocator&) const = default;
};

// The vectors that the kernels read in rows of 16.
using AlignedFloats = std::vector<float, LineAllocator<float>>;

using RowId = std::int32_t;    // a row of the training data; at most 2^31 - 1 of them
using Feature = std::int32_t;  // a column of the data
using Label = std::int32_t;    // a class code in [0, n_classes)

// The t-th of some features; an empty list means all.
inline Feature feature_at(std::span<const Feature> features, std::size_t t) {
    return features.empty() ? static_cast<Feature>(t) : features[t];
}

inline float widen(Bfloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }

// The nearest one, of two the even one; infinite if that is too large. Not for NaN.
inline Bfloat16 narrow(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return static_cast<Bfloat16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The test of an inner node: a row x goes right iff <weight, x> >= threshold, in raw units.
struct Hyperplane {
    std::vector<Feature> feature;  // strictly increasing; empty means all features, in order
    std::vector<Bfloat16> weight;  // one per entry of `feature`, or one per feature of the data
    float threshold = 0.0f;

    bool is_dense() const { return feature.empty(); }
};

// The same, as it lies in a forest's arrays.
struct HyperplaneView {
    std::span<const Feature> feature;
    std::span<const Bfloat16> weight;
    float threshold;

    HyperplaneView(const Hyperplane& h)
        : feature(h.feature), weight(h.weight), threshold(h.threshold) {}
    HyperplaneView(std::span<const Feature> f, std::span<const Bfloat16> w, float t)
        : feature(f), weight(w), threshold(t) {}

    bool is_dense() const { return feature.empty(); }
};

// How raw features map to the space in which a node is optimised (see FeatureMap). The mapped
// training data have total variance one. A constant feature has scale 0.
struct Standardisation {
    std::vector<float> mean;       // what a missing value stands for
    std::vector<float> centre;     // the mean too, but of the clipped values
    std::vector<float> low, high;  // where values are clipped; empty if no value is beyond
    std::vector<float> scale;      // 0 for a feature that no split may use
    std::vector<float> spread;     // standard deviation, raw; for the importances
    // Rows lose the mean of each of so many channels; 0: they are as they are (rows/channels.hpp).
    std::size_t centred_channels = 0;

    FeatureMap map() const {
        const bool clips = !low.empty();
        return {mean.data(), centre.data(), scale.data(), clips ? low.data() : nullptr,
                clips ? high.data() : nullptr};
    }
};

}  // namespace co2
