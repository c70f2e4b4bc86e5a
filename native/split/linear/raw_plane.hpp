// SPDX-License-Identifier: BSD-3-Clause
// Turns a hyperplane over standardised features into the one that is stored, over raw features.
#pragma once

#include <cmath>
#include <optional>
#include "rows/channels.hpp"
#include "rows/hyperplane.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

// z = sum_t w_t (x_t - centre_t) scale_t + bias, over some features or all.
struct StandardPlane {
    std::span<const Feature> feature;  // increasing; empty: all
    std::span<const float> w;          // one for each
    float bias;

    std::size_t feature_of(std::size_t t) const {
        return static_cast<std::size_t>(feature_at(feature, t));
    }
};

// A hyperplane may be stretched. This factor makes its largest weight need no rounding, so that a
// split along one feature does not move.
inline float stretch_for_rounding(const StandardPlane& plane, const Standardisation& s) {
    float largest = 0.0f, exact = 0.0f;  // compared in the space where units mean nothing
    for (std::size_t t = 0; t < plane.w.size(); ++t) {
        const float scale = s.scale[plane.feature_of(t)];
        if (!(std::abs(plane.w[t]) > largest) || scale == 0.0f) continue;
        largest = std::abs(plane.w[t]);
        exact = largest * scale;
    }
    return exact > 0.0f ? widen(narrow(exact)) / exact : 1.0f;
}

// u = w * scale, threshold = <u, centre> - bias: rows stay raw. Rounding u turns the hyperplane
// about the pivot, a standardised row, so that it still splits a node far from the centre. Only
// features with a weight are stored when they are fewer than half of all. Nothing if no weight is
// left or a number is too large for its type.
inline std::optional<Hyperplane> to_raw(StandardPlane plane, std::span<const float> pivot,
                                        const Standardisation& s) {
    const std::size_t n_features = s.scale.size();
    std::vector<float> centred;
    if (s.centred_channels > 0) {  // only dense rows are
        centred.assign(plane.w.begin(), plane.w.end());
        centre_channels(centred, s.centred_channels);
        plane.w = centred;
    }
    const float stretch = stretch_for_rounding(plane, s);
    double threshold = -static_cast<double>(plane.bias * stretch);
    std::vector<Bfloat16> weight(plane.w.size(), 0);
    std::size_t used = 0;
    for (std::size_t t = 0; t < plane.w.size(); ++t) {
        const std::size_t f = plane.feature_of(t);
        const float w = plane.w[t] * stretch, exact = w * s.scale[f];
        if (!std::isfinite(exact)) return std::nullopt;
        weight[t] = narrow(exact);
        const float stored = widen(weight[t]);
        if (stored == 0.0f) continue;
        ++used;
        const float turn = stored / s.scale[f] - w;
        threshold +=
            static_cast<double>(stored) * s.centre[f] + static_cast<double>(turn) * pivot[t];
    }
    // A weight too large for its type makes the threshold infinite or NaN.
    if (used == 0 || !std::isfinite(static_cast<float>(threshold))) return std::nullopt;
    Hyperplane h{{}, {}, static_cast<float>(threshold)};
    if (2 * used >= n_features) {
        if (weight.size() == n_features) {
            h.weight = std::move(weight);
            return h;
        }
        h.weight.assign(n_features, 0);
        for (std::size_t t = 0; t < weight.size(); ++t) h.weight[plane.feature_of(t)] = weight[t];
        return h;
    }
    h.feature.reserve(used);
    h.weight.reserve(used);
    for (std::size_t t = 0; t < weight.size(); ++t) {
        if (widen(weight[t]) == 0.0f) continue;
        h.feature.push_back(static_cast<Feature>(plane.feature_of(t)));
        h.weight.push_back(weight[t]);
    }
    return h;
}

}  // namespace co2
