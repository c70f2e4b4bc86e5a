// SPDX-License-Identifier: BSD-3-Clause
// How a grown tree is refined.
#pragma once

#include <cstdint>

namespace co2 {

// Validation errors of five sets chose the numbers; with more steps, single trees get a little
// better, and forests do not.
struct RefineParams {
    std::int64_t passes = 0;          // over all nodes; 0: the tree stays as it is
    std::int64_t max_rows = 1000;     // votes of a node that its fit sees
    double penalty = 1e-3;            // of |w|^2, where rows have total variance one
    std::int64_t newton_steps = 1;    // of a fit
    std::int64_t gradient_steps = 4;  // of conjugate gradients, in each of them
    double start_size = 2.0;  // the votes' mean distance from a grown plane when its fit starts
};

}  // namespace co2
