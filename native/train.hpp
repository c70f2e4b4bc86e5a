// SPDX-License-Identifier: BSD-3-Clause
// Trains the trees of a forest in parallel: which rows each tree gets, and with what weight.
#pragma once

#include "grow.hpp"
#include "rows/standardisation.hpp"
#include "threads.hpp"

namespace co2 {

struct SamplingParams {
    bool bootstrap = false;    // draw rows with replacement
    std::int64_t n_draws = 0;  // rows drawn for a tree; without bootstrap, n_rows means all
    bool balance = false;      // class_weight="balanced_subsample"
};

struct TrainParams {
    GrowParams grow;
    SamplingParams sampling;
    Scaling scaling = Scaling::kGlobal;
    std::uint64_t seed = 0;
    std::int64_t first_tree = 0;  // a warm start goes on with the next number
    std::int64_t n_trees = 1;
    std::int64_t n_threads = 1;
};

struct Training {
    ForestArrays forest;
    std::vector<GrowStatistics> statistics;  // per tree
};

// How often each row is drawn for a tree. A function of (seed, tree) alone, so it is never stored.
std::vector<std::int32_t> draw_counts(std::size_t n_rows, const SamplingParams& params,
                                      std::uint64_t seed, std::int64_t tree);

// `mean` is what missing values stand for, where it is known from earlier trees; else empty.
template <class Rows>
Training train(const Rows& rows, std::span<const Label> label, std::span<const float> weight,
               std::size_t n_classes, std::vector<float> mean, const TrainParams& params,
               const Watch& watch);

}  // namespace co2
