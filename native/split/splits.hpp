// SPDX-License-Identifier: BSD-3-Clause
// The list of splits. A split is a file with parameters and a finder, such as split/axis.hpp, and
// its place here. Its parameters choose the finder and are what Python sets.
#pragma once

#include <variant>

#include "split/axis.hpp"
#include "split/co2/params.hpp"
#include "split/coordinates.hpp"
#include "split/discriminant.hpp"
#include "split/narrow.hpp"
#include "split/two_probe.hpp"

namespace co2 {

using SplitParams = std::variant<Co2Params, AxisParams, TwoProbeParams, CoordinateParams,
                                 DiscriminantParams, NarrowParams>;

// Whether the finder reads BinnedColumns if it is given some.
inline bool reads_bins(const SplitParams& params) {
    if (const auto* axis = std::get_if<AxisParams>(&params))
        return axis->threshold_bins > 0 && !axis->random_thresholds;
    const auto* narrow = std::get_if<NarrowParams>(&params);
    return narrow != nullptr && narrow->threshold_bins > 0;
}

}  // namespace co2
