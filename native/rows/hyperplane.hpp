// SPDX-License-Identifier: BSD-3-Clause
// What rows are projected on. It belongs to the rows because each kind has its own projections.
#pragma once

#include "base/types.hpp"

namespace co2 {

// The test of an inner node: a row x goes right iff <weight, x> >= threshold, in raw units.
struct Hyperplane {
    std::vector<Feature> feature;  // strictly increasing; empty means all features, in order
    std::vector<Bfloat16> weight;  // one per entry of `feature`, or one per feature of the data
    float threshold = 0.0f;

    bool is_dense() const { return feature.empty(); }
};

// A hyperplane in the arrays of a forest or elsewhere.
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

}  // namespace co2
