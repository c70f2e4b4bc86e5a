// SPDX-License-Identifier: BSD-3-Clause
#include "rows/binned.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "base/threads.hpp"
#include "rows/kinds.hpp"

namespace co2 {
namespace {

constexpr std::size_t kMostBins = BinnedColumns::kMostBins;

// Thresholds between bins that have about as many of the values each; values are in increasing
// order, and equal ones stay together.
std::vector<float> cuts_of(std::span<const float> values) {
    std::vector<std::size_t> begin;  // of each different value
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i == 0 || values[i] != values[i - 1]) begin.push_back(i);
    begin.push_back(values.size());
    const std::size_t n_values = begin.size() - 1;
    std::vector<float> cuts;
    std::size_t first = 0;  // row of the open bin
    for (std::size_t v = 0; v + 1 < n_values; ++v) {
        const std::size_t bins_left = kMostBins - cuts.size();
        const bool full = (begin[v + 1] - first) * bins_left >= values.size() - first;
        if (n_values > kMostBins && (!full || bins_left == 1)) continue;
        const float here = values[begin[v]], next = values[begin[v + 1]];
        const float middle = here * 0.5f + next * 0.5f;
        cuts.push_back(middle > here ? middle : next);
        first = begin[v + 1];
    }
    return cuts;
}

// How many of the cuts are at most a value, for many values: eight comparisons without a branch.
class BinSearch {
   public:
    explicit BinSearch(std::span<const float> cuts) {
        cut_.fill(std::numeric_limits<float>::infinity());
        std::ranges::copy(cuts, cut_.begin());
    }

    BinnedColumns::Bin operator()(float value) const {
        std::size_t bin = 0;
        for (std::size_t step = kMostBins / 2; step > 0; step /= 2)
            bin += cut_[bin + step - 1] <= value ? step : 0;
        return static_cast<BinnedColumns::Bin>(bin);
    }

   private:
    std::array<float, kMostBins> cut_;  // the last one is never looked at
};

}  // namespace

template <TableKind Rows>
BinnedColumns::BinnedColumns(const Rows& rows, std::span<const Feature> features,
                             std::span<const RowId> seen, std::size_t n_threads, const Watch& watch)
    : n_rows_(rows.count()), place_(rows.features(), -1) {
    const std::size_t count = features.empty() ? rows.features() : features.size();
    for (std::size_t t = 0; t < count; ++t)
        place_[static_cast<std::size_t>(feature_at(features, t))] = static_cast<std::int32_t>(t);
    cuts_.resize(count);
    bin_.resize(count * n_rows_);
    std::vector<std::vector<float>> values(std::min(n_threads, count));
    parallel_for(count, values.size(), watch,
                 [&](std::size_t t, std::size_t thread, const std::atomic<bool>& stop) {
                     const Feature feature = feature_at(features, t);
                     std::vector<float>& sorted = values[thread];
                     sorted.resize(seen.size());
                     for (std::size_t i = 0; i < seen.size(); ++i)
                         sorted[i] = rows.value(static_cast<std::size_t>(seen[i]), feature);
                     std::ranges::sort(sorted);
                     throw_if(stop);
                     cuts_[t] = cuts_of(sorted);
                     const BinSearch search(cuts_[t]);
                     Bin* const bin = bin_.data() + t * n_rows_;
                     for (std::size_t i = 0; i < n_rows_; ++i) {
                         if (i % (1 << 16) == 0) throw_if(stop);
                         bin[i] = search(rows.value(i, feature));
                     }
                 });
}

#define INSTANTIATE(Rows)                                                        \
    template BinnedColumns::BinnedColumns(const Rows&, std::span<const Feature>, \
                                          std::span<const RowId>, std::size_t, const Watch&);
CO2_ROW_KINDS(INSTANTIATE, CO2_NO_ROWS)

}  // namespace co2
