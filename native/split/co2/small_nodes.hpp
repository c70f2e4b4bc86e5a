// SPDX-License-Identifier: BSD-3-Clause
// The rule for small nodes: with few rows a ridge regression is faster than the steps that minimise
// the paper's bound, and no less accurate (docs/algorithm.md has the errors of other numbers).
#pragma once

#include <algorithm>
#include <limits>

#include "rows/rows.hpp"
#include "split/co2/params.hpp"

namespace co2 {

inline constexpr std::size_t kFewRowsOfNumbers = 60;

// For classes: nodes with at least this many rows minimise the bound. That is ridge_rows (100); or
// the number of features if it is larger, but at most three hundred, and at most what fills a
// megabyte. Listed rows have many features, which are mostly zero: for them it is a hundred.
template <RowKind Rows>
std::size_t bound_of_classes_from(const Rows& rows, const Co2Params& params) {
    if (params.solver != Solver::kRidge) return 0;
    const auto least = static_cast<std::size_t>(params.ridge_rows), p = rows.features();
    if constexpr (ListedRows<Rows>) return least;
    return std::max(least, std::min({p, 3 * least, (std::size_t{1} << 18) / p}));
}

// The same for numbers.
inline std::size_t bound_of_numbers_from(const Co2Params& params) {
    switch (params.solver) {
        case Solver::kRidge: break;
        case Solver::kWarm: return kFewRowsOfNumbers;
        case Solver::kCccp: return 0;
    }
    return std::numeric_limits<std::size_t>::max();
}

}  // namespace co2
