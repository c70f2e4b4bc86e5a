// SPDX-License-Identifier: BSD-3-Clause
// Duplicates: rows that are the same in features and target. Training sees them as one row with the
// sum of their weights. So an integer weight gives the same forest as that many copies of the row.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop.hpp"
#include "loss/targets.hpp"
#include "rows/rows.hpp"
#include "rows/weights.hpp"

namespace co2 {

struct DistinctRows {
    std::vector<RowId> first;    // for each row its first duplicate; empty if all rows differ
    std::vector<RowId> typical;  // about a thousand, the same for any order and repeats of rows
};

template <TableKind Rows, class Targets>
DistinctRows find_distinct(const Rows& rows, const Targets& target, Weights weight,
                           const Watch& watch);

// A random choice that neither the order of rows nor their repeats can change: the rows with the
// `most` smallest keys, in the order of these, each with the weight of all that have its key.
struct KeySample {
    std::vector<std::int64_t> row;
    std::vector<float> weight;
};

template <TableKind Rows, class Targets>
KeySample sample_by_key(const Rows& rows, const Targets& target, Weights weight, std::uint64_t seed,
                        std::size_t most, const Watch& watch);

}  // namespace co2
