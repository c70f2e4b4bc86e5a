// SPDX-License-Identifier: BSD-3-Clause
// Features as bytes, for the kinds of trees that search thresholds between bins.
#pragma once

#include <cmath>
#include <optional>

#include "grow/grow.hpp"
#include "rows/binned.hpp"

namespace co2 {

// The features of all kinds that read bins; none if no kind does. `first` as in DistinctRows. Bins
// are the same for any order and repeats of rows.
template <TableKind Rows>
std::optional<BinnedColumns> bins_for(std::span<const GrowParams> kinds, const Rows& rows,
                                      Weights weight, std::span<const RowId> first,
                                      std::size_t n_threads, const Watch& watch) {
    std::vector<bool> used(rows.features(), false);
    bool any = false;
    for (const GrowParams& kind : kinds) {
        if (!reads_bins(kind.split)) continue;
        any = true;
        if (kind.features.empty()) used.assign(rows.features(), true);
        for (const Feature j : kind.features) used[static_cast<std::size_t>(j)] = true;
    }
    if (!any) return std::nullopt;
    std::vector<Feature> features;
    for (std::size_t j = 0; j < used.size(); ++j)
        if (used[j]) features.push_back(static_cast<Feature>(j));

    std::vector<RowId> seen;
    std::vector<bool> seen_before(first.size(), false);
    for (std::size_t i = 0; i < rows.count(); ++i) {
        if (!(weight[i] > 0.0f)) continue;
        if (!first.empty()) {
            const auto kind_of_row = static_cast<std::size_t>(first[i]);
            if (seen_before[kind_of_row]) continue;
            seen_before[kind_of_row] = true;
        }
        seen.push_back(static_cast<RowId>(i));
    }
    // More rows would hardly move the bins, but sorting them would take longer than all else.
    constexpr double most = 50'000.0;
    const double part = most / static_cast<double>(seen.size());
    if (part < 1.0)
        std::erase_if(seen, [&](RowId i) {
            return static_cast<double>(rows.hash(static_cast<std::size_t>(i))) * 0x1p-64 > part;
        });
    Watch watched;  // features are no items of the caller's
    if (watch) watched = [&](std::size_t) { watch(0); };
    return std::optional<BinnedColumns>(std::in_place, rows, std::span<const Feature>(features),
                                        std::span<const RowId>(seen), n_threads, watched);
}

}  // namespace co2
