// SPDX-License-Identifier: BSD-3-Clause
// What all losses have in common. A loss has
//   Targets                       what is known of each row: Labels or Values
//   Summary                       of a set of rows: weight, impurity (the loss at the best leaf)
//   add, take, take_right_of      how the grower makes summaries; if needs_left(), add_left too
//   scan()                        how a finder tries many ways to part the same rows
//   outputs(), distributions()    what a leaf stores
// and the rest of the core is templated on it. There are two: LogLoss of labels, and ValuesLoss of
// numbers, which asks a ValueLoss for the loss of a row.
#pragma once

namespace co2 {

// The two sides of a node.
struct Sides {
    double left_weight = 0.0, right_weight = 0.0;
    double impurity = 0.0;  // of both, in the unit of the loss
};

}  // namespace co2
