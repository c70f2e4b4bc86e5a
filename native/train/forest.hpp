// SPDX-License-Identifier: BSD-3-Clause
// Trains the trees of a forest in parallel: which rows each tree gets, and with what weight.
#pragma once

#include <limits>

#include "base/threads.hpp"
#include "grow/grow.hpp"
#include "grow/refine/params.hpp"
#include "loss/targets.hpp"
#include "loss/value_loss.hpp"
#include "rows/moments.hpp"
#include "rows/weights.hpp"
#include "train/draws.hpp"

namespace co2 {

struct TrainParams {
    GrowParams grow;
    // A forest may have several kinds of trees: kind 0 is `grow`, kind k is others[k - 1].
    std::vector<GrowParams> others;
    std::vector<std::int32_t> kind_of_tree;  // one for each tree; empty: all are of kind 0
    RefineParams refine;
    SamplingParams sampling;
    Scaling scaling = Scaling::kGlobal;
    ValueLossParams loss;  // of numbers
    bool centre = false;   // windows: hyperplanes do not see the mean of a channel
    std::uint64_t seed = 0;
    std::int64_t first_tree = 0;  // a warm start goes on with the next number
    std::int64_t n_trees = 1;
    std::int64_t n_threads = 1;
};

struct Training {
    ForestArrays forest;
    std::vector<GrowStatistics> statistics;  // per tree
};

// Labels stand for the log loss, values for the one that the parameters name. `mean` is what
// missing values stand for, where it is known from earlier trees; else empty.
template <TableKind Rows, class Targets>
Training train(const Rows& rows, const Targets& target, Weights weight, std::size_t n_outputs,
               std::vector<float> mean, const TrainParams& params, const Watch& watch);

}  // namespace co2
