// SPDX-License-Identifier: BSD-3-Clause
// Projections of rows on hyperplanes: what the kinds of rows share. Dense, indexed and CSR products
// add the same numbers in the same lanes, so they agree to the last bit.
#pragma once

#include <cmath>
#include <limits>

#include "rows/hyperplane.hpp"

namespace co2 {

// The lane in which the kernels add the product of feature j of p.
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

// Work space for projections of many bytes; a kind of rows names its own as `Space`. The caller
// keeps it from node to node, because a node may have few rows. It is not thread_local, because
// glibc ends a process that has no memory for such variables.
struct ProjectionSpace {
    AlignedFloats weight, ones;
    std::vector<std::int16_t> quantised;
};

// How far a projection on 16-bit weights may be from one on floats, which are added in lanes.
// `size` is the sum of the weights' sizes. A unit of zero says nothing about any row.
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

}  // namespace co2
