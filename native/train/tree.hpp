// SPDX-License-Identifier: BSD-3-Clause
// What training a tree takes, however its rows were chosen.
#pragma once

#include "grow/refine/refine.hpp"
#include "train/draws.hpp"
#include "train/forest.hpp"

namespace co2 {

// The user's numbers hold for rows whose total variance is unit^2; ours is one, so that w grows by
// unit and its step by unit^2.
inline void to_unit_variance(SplitParams& split, double unit) {
    auto* co2 = std::get_if<Co2Params>(&split);
    if (co2 == nullptr) return;
    if (co2->nu_in_user_units) co2->nu *= unit * unit;
    if (co2->rate_in_user_units) co2->rate_weights *= unit * unit;
}

// Grown, refined if that is asked for, and as it is stored. `grow` is in units of the rows'
// standardisation.
template <RowKind Rows, LossKind Loss>
ForestArrays train_tree(TreeGrower<Rows, Loss>& grower, TreeRows<typename Loss::Targets>& sample,
                        const Rows& rows, const Standardisation& standardisation, const Loss& loss,
                        const GrowParams& grow, const TrainParams& params, std::int64_t tree,
                        const std::atomic<bool>& stop, GrowStatistics& statistics) {
    Tree<Loss> grown = grower.grow(sample, tree_key(params.seed, tree, kGrow), stop);
    statistics = grower.statistics();
    if (params.refine.passes > 0)
        refine_tree<Rows, Loss>(grown, sample, rows, standardisation, loss, grow, params.refine,
                                tree_key(params.seed, tree, kRefine), stop);
    return flatten<Loss>(grown, standardisation, loss);
}

}  // namespace co2
