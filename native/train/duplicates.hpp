// SPDX-License-Identifier: BSD-3-Clause
// Rows that are alike in features and target. Training sees such rows as one with their weight, so
// that an integer weight and as many repeats give the same forest.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/rows.hpp"
#include "stop.hpp"
#include "targets.hpp"

namespace co2 {

struct DistinctRows {
    std::vector<RowId> first;    // for each row the first that is alike; empty if all rows differ
    std::vector<RowId> typical;  // about a thousand, the same for any order and repeats of rows
};

template <class Rows, class Targets>
DistinctRows find_distinct(const Rows& rows, const Targets& target, Weights weight,
                           const Watch& watch);

// A random choice that neither the order of rows nor their repeats can change: the rows with the
// `most` smallest keys, in the order of these, each with the weight of all that have its key.
struct KeySample {
    std::vector<std::int64_t> row;
    std::vector<float> weight;
};

template <class Rows, class Targets>
KeySample sample_by_key(const Rows& rows, const Targets& target, Weights weight, std::uint64_t seed,
                        std::size_t most, const Watch& watch);

}  // namespace co2
