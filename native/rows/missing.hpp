// SPDX-License-Identifier: BSD-3-Clause
// What a missing value (NaN) does, in training and at prediction: it counts as the mean that the
// feature had in training. Projections pay nothing for that: the sum of a row that has a missing
// value is NaN, and only such a row comes here and asks for its features one by one (value() of its
// kind of rows gives the mean).
#pragma once

#include "rows/projection.hpp"

namespace co2 {

template <class Rows>
float dot_with_missing(const Rows& rows, std::size_t i, const HyperplaneView& h) {
    LaneSum sum(rows.features());
    for (std::size_t t = 0; t < h.weight.size(); ++t) {
        const Feature j = h.is_dense() ? static_cast<Feature>(t) : h.feature[t];
        sum.add(j, rows.value(i, j) * widen(h.weight[t]));
    }
    return sum.total();
}

}  // namespace co2
