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

}  // namespace co2
