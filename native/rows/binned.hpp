// SPDX-License-Identifier: BSD-3-Clause
// Features as bytes: the number of the bin that each row's value lies in. The search for the
// threshold of a node then reads one byte per row, from a column that fits the cache, and needs
// neither a sort nor a range. A tree of LightGBM reads its rows in this form only.
#pragma once

#include <limits>

#include "base/stop.hpp"
#include "rows/rows.hpp"

namespace co2 {

class BinnedColumns {
   public:
    using Bin = std::uint8_t;

    static constexpr std::size_t kMostBins = std::size_t{std::numeric_limits<Bin>::max()} + 1;

    // Bins of these features (increasing; empty: all), so that each has about as many of the `seen`
    // rows. A feature with few values has a bin for each. All rows are put into bins.
    template <TableKind Rows>
    BinnedColumns(const Rows& rows, std::span<const Feature> features, std::span<const RowId> seen,
                  std::size_t n_threads, const Watch& watch);

    // The bins of a feature, one for each row of the data.
    const Bin* of(Feature feature) const { return bin_.data() + place(feature) * n_rows_; }

    std::size_t count(Feature feature) const { return cuts_[place(feature)].size() + 1; }

    // A value is in this bin or a higher one if it is at least this threshold; bin > 0.
    float threshold(Feature feature, std::size_t bin) const {
        return cuts_[place(feature)][bin - 1];
    }

   private:
    std::size_t place(Feature feature) const {
        return static_cast<std::size_t>(place_[static_cast<std::size_t>(feature)]);
    }

    std::size_t n_rows_;
    std::vector<std::int32_t> place_;       // of each feature among those with bins
    std::vector<std::vector<float>> cuts_;  // of each of these, increasing
    std::vector<Bin> bin_;                  // feature after feature
};

}  // namespace co2
