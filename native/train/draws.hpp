// SPDX-License-Identifier: BSD-3-Clause
// Which rows a tree is grown on, and with what weight.
#pragma once

#include "base/random.hpp"
#include "base/stop.hpp"
#include "loss/targets.hpp"
#include "rows/weights.hpp"

namespace co2 {

struct SamplingParams {
    bool bootstrap = false;    // draw rows with replacement
    std::int64_t n_draws = 0;  // rows drawn for a tree; without bootstrap, n_rows means all
    bool balance = false;      // class_weight="balanced_subsample"
};

// Keys of the random streams of a tree.
enum Purpose : std::uint64_t { kDraw = 0, kGrow = 1, kRefine = 2 };

inline std::uint64_t tree_key(std::uint64_t seed, std::int64_t tree, Purpose purpose) {
    return derive_key(derive_key(mix(seed), static_cast<std::uint64_t>(tree)), purpose);
}

// Whether all trees draw the same rows.
inline bool draws_all(std::size_t n_rows, const SamplingParams& sampling) {
    return !sampling.bootstrap && static_cast<std::size_t>(sampling.n_draws) >= n_rows;
}

// How often each row is drawn for a tree. A function of (seed, tree) alone, so it is never stored.
// Throws std::invalid_argument unless 1 <= n_draws <= n_rows < 2^31.
std::vector<std::int32_t> draw_counts(std::size_t n_rows, const SamplingParams& params,
                                      std::uint64_t seed, std::int64_t tree,
                                      const Watch& watch = {});

// n / (k n_c), as scikit-learn's compute_class_weight("balanced") on the drawn rows.
std::vector<double> balanced_factors(const Labels& label, std::span<const std::int32_t> draws,
                                     std::size_t n_classes);

// What a tree has drawn, or all trees together. What is as the caller gave it is not stored.
struct Draw {
    std::vector<float> weight;        // of all training rows, zero where not drawn; empty: as given
    std::vector<std::int32_t> count;  // of all training rows: how many of the caller's it stands
                                      // for; empty: one
};

// `first` as in DistinctRows.
template <class Targets>
Draw draw_rows(const Targets& target, Weights weight, std::span<const RowId> first,
               std::size_t n_outputs, const SamplingParams& sampling, std::uint64_t seed,
               std::int64_t tree) {
    const std::size_t n = target.size();
    const bool balance = sampling.balance;
    if (draws_all(n, sampling) && first.empty() && !balance) return {};
    std::vector<std::int32_t> draws = draw_counts(n, sampling, seed, tree);
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || (draws[i] > 0 && weight[i] > 0.0f);
    if (!any) std::fill(draws.begin(), draws.end(), 1);  // no row with a weight was drawn: take all
    std::vector<double> class_factor;
    if constexpr (std::is_same_v<Targets, Labels>)
        if (balance) class_factor = balanced_factors(target, draws, n_outputs);
    const auto factor = [&](std::size_t i) {
        if constexpr (std::is_same_v<Targets, Labels>)
            return balance ? class_factor[static_cast<std::size_t>(target[i])] : 1.0;
        else
            return 1.0;
    };
    Draw out{std::vector<float>(n, 0.0f), std::vector<std::int32_t>(first.size(), 0)};
    for (std::size_t i = 0; i < n; ++i) {
        if (draws[i] == 0 || weight[i] == 0.0f) continue;
        const auto row = first.empty() ? i : static_cast<std::size_t>(first[i]);
        if (!first.empty()) ++out.count[row];
        out.weight[row] +=
            static_cast<float>(draws[i] * static_cast<double>(weight[i]) * factor(i));
    }
    return out;
}

}  // namespace co2
