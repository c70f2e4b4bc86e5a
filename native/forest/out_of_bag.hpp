// SPDX-License-Identifier: BSD-3-Clause
// Out-of-bag predictions: for each training row the mean over the trees that did not draw it. A row
// that every tree drew has none; `used` counts the trees of each row.
#pragma once

#include "forest/predict.hpp"

namespace co2 {

// out (rows x outputs) = mean of the leaves; in_bag(tree) tells how often a tree drew each row.
template <TableKind Rows, class InBag>
void predict_out_of_bag(const Forest& forest, const Rows& rows, std::size_t n_threads,
                        const Watch& watch, InBag&& in_bag, double* out, std::int64_t* used) {
    const std::size_t k = forest.n_outputs(), n = rows.count();
    std::fill(out, out + n * k, 0.0);
    std::fill(used, used + n, 0);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const auto drawn = in_bag(tree);
        visit_leaves(forest, rows, tree, tree + 1, n_threads, watch,
                     [&](std::size_t i, std::size_t, std::size_t leaf) {
                         if (drawn[i] > 0) return;
                         forest.add_leaf(leaf, out + i * k);
                         ++used[i];
                     });
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t y = 0; y < k && used[i] > 0; ++y)
            out[i * k + y] /= static_cast<double>(used[i]);
}

}  // namespace co2
