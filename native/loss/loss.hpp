// SPDX-License-Identifier: BSD-3-Clause
// What all losses have in common. A loss has
//   Targets                       what is known of each row: Labels or Values
//   Summary                       of a set of rows: weight, impurity (the loss at the best leaf)
//   add, take, take_right_of      how the grower makes summaries
//   Scan                          how a finder tries many ways to part the same rows
// and the rest of the core is templated on it.
#pragma once

namespace co2 {

// The two sides of a node.
struct Sides {
    double left_weight = 0.0, right_weight = 0.0;
    double impurity = 0.0;  // of both, in the unit of the loss
};

}  // namespace co2
