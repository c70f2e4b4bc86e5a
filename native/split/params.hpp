// SPDX-License-Identifier: BSD-3-Clause
// How a hyperplane is found: one kind of parameters for each finder.
#pragma once

#include <cstdint>
#include <variant>

#include "split/co2/params.hpp"

namespace co2 {

// Breiman's random forest (split/axis.hpp).
struct AxisParams {
    std::int64_t max_features = 1;  // random features whose thresholds are searched
};

// The difference of two features (split/two_probe.hpp).
struct TwoProbeParams {
    std::int64_t n_pairs = 1;  // random pairs whose thresholds are searched
};

// OC1 and CART-LC (split/coordinates.hpp).
struct CoordinateParams {
    std::int64_t max_features = 1;    // of the axis-aligned start
    std::int64_t n_restarts = 1;      // hyperplanes that are improved: the start, then random ones
    std::int64_t n_jumps = 0;         // random directions tried at a local minimum
    bool shifted_directions = false;  // CART-LC: three directions for each feature
};

// A regularised discriminant (split/discriminant.hpp).
struct DiscriminantParams {
    std::int64_t max_features = 1;  // random features of the hyperplane
    double shrinkage = 0.1;         // added to the variances, in units of their mean
};

using SplitParams =
    std::variant<Co2Params, AxisParams, TwoProbeParams, CoordinateParams, DiscriminantParams>;

}  // namespace co2
