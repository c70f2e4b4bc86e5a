// SPDX-License-Identifier: BSD-3-Clause
// The few types that the whole core shares.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "base/simd/kernels.hpp"

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

// The t-th feature of a list; an empty list means all features.
inline Feature feature_at(std::span<const Feature> features, std::size_t t) {
    return features.empty() ? static_cast<Feature>(t) : features[t];
}

inline float widen(Bfloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }

// Rounds to the nearest number, ties to even; infinite if that is too large. Not for NaN.
inline Bfloat16 narrow(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return static_cast<Bfloat16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace co2
