// SPDX-License-Identifier: BSD-3-Clause
// Gradient boosting: trees that are grown one after the other, each on what the trees before it
// have left to explain. A row's raw scores, one per output, are those it starts with plus the
// values of the leaves that it reaches.
//
// There may be several folds, each a boosting of its own that holds other rows out. They say how
// many rounds are best, and what scores rows get from trees that have not seen them. Then all rows
// may be boosted once more, for so many rounds.
#pragma once

#include <optional>

#include "base/stop.hpp"
#include "grow/grow.hpp"
#include "loss/targets.hpp"
#include "loss/value_loss.hpp"
#include "rows/moments.hpp"
#include "rows/weights.hpp"

namespace co2 {

struct BoostParams {
    GrowParams grow;
    Scaling scaling = Scaling::kGlobal;
    ValueLossParams loss;  // of numbers; labels have the log loss of the softmax of their scores
    std::uint64_t seed = 0;
    std::int64_t n_rounds = 1;  // at most
    double shrinkage = 0.1;     // what a leaf's best value is multiplied with
    double l2 = 1.0;            // weight of rows without a gradient that are added to every leaf
    double subsample = 1.0;     // fraction of the training rows that a tree is grown on
    bool on_gradients = true;   // labels: trees are grown on Newton's steps, not on labels
    double floor = 0.3;         // trees on labels: the least weight of a row, of the mean one
    std::int64_t patience = 0;  // rounds without a lower loss of the folds before they end; 0: all
    double tolerance = 0.0;     // what counts as lower
    std::int64_t n_folds = 1;
    bool refit = false;          // whether the model has all rows, and the folds only say how many
                                 // rounds
    std::int64_t n_threads = 1;  // each works on a fold or on all rows
};

// The loss of some rows per unit of weight. `loss` is compared; if it is equal, `second` decides.
struct BoostLoss {
    double loss = 0.0;  // numbers: their loss; labels: the fraction of wrong ones, or the log loss
    double second = 0.0;  // labels: the log loss
};

// The rounds of one fold.
struct BoostedFold {
    std::vector<ForestArrays> trees;         // up to the best round; may be none if there were some
    std::vector<GrowStatistics> statistics;  // of each
    std::vector<BoostLoss> training;         // after each round
    std::vector<RowId> held_out;
    std::vector<double> held_out_scores;  // of these rows, by the trees that are kept
};

struct Boosting {
    std::vector<double> start;          // raw scores before the first tree
    std::vector<BoostLoss> validation;  // of the rows held out, after each round
    std::vector<BoostedFold> folds;     // and, with a refit, all rows at the end
};

// What an earlier boosting has left.
struct BoostedBefore {
    const Forest& forest;
    std::span<const double> start;
};

// `held_out` is for each row one more than the fold that does not train on it, or zero; it is empty
// if all rows are trained on by all. An earlier boosting has one fold. Trees of numbers store
// scores as those of labels do; none are probabilities. `mean` as for train().
template <TableKind Rows, class Targets>
Boosting boost(const Rows& rows, const Targets& target, Weights weight,
               std::span<const std::uint8_t> held_out, std::size_t n_outputs,
               std::vector<float> mean, const BoostParams& params,
               const std::optional<BoostedBefore>& before, const Watch& watch);

}  // namespace co2
