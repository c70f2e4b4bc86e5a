// SPDX-License-Identifier: BSD-3-Clause
// How a grown tree is refined.
#pragma once

#include <cstdint>

namespace co2 {

struct RefineParams {
    std::int64_t passes = 0;          // over all nodes; 0: the tree stays as it is
    std::int64_t max_rows = 1000;     // votes of a node that its fit sees
    double penalty = 0.001;           // of |w|^2, in units of the standardised space
    std::int64_t newton_steps = 2;    // of a fit
    std::int64_t gradient_steps = 6;  // of conjugate gradients, in each of them
    double start_size = 2.0;          // mean distance of the votes from a grown plane, as it starts
    bool halve = true;                // a fit that is too bold is tried again half-way
};

}  // namespace co2
