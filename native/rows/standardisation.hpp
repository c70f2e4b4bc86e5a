// SPDX-License-Identifier: BSD-3-Clause
// How features are made comparable; moments.hpp finds it.
#pragma once

#include "base/types.hpp"

namespace co2 {

enum class Scaling {
    kStandard,  // unit variance
    kSoft,      // the same, but features of little variance for their range stay small
    kMinMax,    // unit range
    kGlobal,    // one factor for all features
    kNone,      // as they are
};

// How raw features map to the space in which a node is optimised (see FeatureMap). The mapped
// training data have total variance one. A constant feature has scale 0.
struct Standardisation {
    std::vector<float> mean;            // what a missing value stands for
    std::vector<float> centre;          // the mean too, but of the clipped values
    std::vector<float> low, high;       // where values are clipped; empty if no value is beyond
    std::vector<float> scale;           // 0 for a feature that no split may use
    std::vector<float> spread;          // standard deviation, raw; for the importances
    std::vector<Feature> offered = {};  // features that trees may split on; empty: all
    // The number of channels whose means rows lose (rows/channels.hpp); 0: none.
    std::size_t centred_channels = 0;

    // The same for trees that may split on some of the features only.
    Standardisation of(std::span<const Feature> features) const {
        Standardisation out = *this;
        if (features.empty()) return out;
        out.offered.assign(features.begin(), features.end());
        out.scale.assign(scale.size(), 0.0f);
        for (const Feature j : features)
            out.scale[static_cast<std::size_t>(j)] = scale[static_cast<std::size_t>(j)];
        return out;
    }

    FeatureMap map() const {
        const bool clips = !low.empty();
        return {mean.data(), centre.data(), scale.data(), clips ? low.data() : nullptr,
                clips ? high.data() : nullptr};
    }
};

}  // namespace co2
