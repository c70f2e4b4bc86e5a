// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/types.hpp"

namespace co2 {

// A hyperplane in the coordinates of a sample: right iff <w, x> + bias >= 0.
struct LocalPlane {
    AlignedFloats w;  // stride() entries, zero beyond width()
    float bias = 0.0f;
};

}  // namespace co2
