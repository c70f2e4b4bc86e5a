// SPDX-License-Identifier: BSD-3-Clause
// Prediction: needs a forest and rows, and nothing of training but the bootstrap for out-of-bag.
#pragma once

#include "forest.hpp"
#include "rows/rows.hpp"
#include "threads.hpp"

namespace co2 {

// Rows of a block go through a tree together, so that its weights stay in the cache.
inline constexpr std::size_t kRowBlock = 128;

template <class Work>
void for_row_blocks(std::size_t n_rows, std::size_t n_threads, const Watch& watch, Work&& work) {
    parallel_for((n_rows + kRowBlock - 1) / kRowBlock, n_threads, watch,
                 [&](std::size_t block, std::size_t, const std::atomic<bool>& stop) {
                     throw_if(stop);
                     work(block * kRowBlock, std::min(n_rows, (block + 1) * kRowBlock), stop);
                 });
}

// out (rows x outputs) = mean of the leaves' distributions, always added in the order of trees.
template <class Rows>
void predict(const Forest& forest, const Rows& rows, std::size_t n_threads, const Watch& watch,
             double* out) {
    const std::size_t k = forest.n_outputs();
    for_row_blocks(rows.count(), n_threads, watch,
                   [&](std::size_t begin, std::size_t end, const std::atomic<bool>& stop) {
                       std::fill(out + begin * k, out + end * k, 0.0);
                       for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                           throw_if(stop);
                           for (std::size_t i = begin; i < end; ++i)
                               forest.add_leaf(forest.leaf(rows, i, tree), out + i * k);
                       }
                       const double trees = static_cast<double>(forest.n_trees());
                       for (std::size_t t = begin * k; t < end * k; ++t) out[t] /= trees;
                   });
}

// out (rows x trees) = number, within its tree, of the leaf that a row reaches.
template <class Rows>
void apply(const Forest& forest, const Rows& rows, std::size_t n_threads, const Watch& watch,
           std::int64_t* out) {
    const std::size_t n_trees = forest.n_trees();
    for_row_blocks(rows.count(), n_threads, watch,
                   [&](std::size_t begin, std::size_t end, const std::atomic<bool>& stop) {
                       for (std::size_t tree = 0; tree < n_trees; ++tree) {
                           throw_if(stop);
                           for (std::size_t i = begin; i < end; ++i)
                               out[i * n_trees + tree] =
                                   static_cast<std::int64_t>(forest.leaf(rows, i, tree)) -
                                   forest.arrays().tree_begin[tree];
                       }
                   });
}

// The same mean as predict(), for each training row over the trees that did not draw it; `used`
// counts them. in_bag(tree) tells how often each row was drawn.
template <class Rows, class InBag>
void predict_out_of_bag(const Forest& forest, const Rows& rows, std::size_t n_threads,
                        const Watch& watch, InBag&& in_bag, double* out, std::int64_t* used) {
    const std::size_t k = forest.n_outputs(), n = rows.count();
    std::fill(out, out + n * k, 0.0);
    std::fill(used, used + n, 0);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const auto drawn = in_bag(tree);
        for_row_blocks(n, n_threads, watch,
                       [&](std::size_t begin, std::size_t end, const std::atomic<bool>&) {
                           for (std::size_t i = begin; i < end; ++i) {
                               if (drawn[i] > 0) continue;
                               forest.add_leaf(forest.leaf(rows, i, tree), out + i * k);
                               ++used[i];
                           }
                       });
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t y = 0; y < k && used[i] > 0; ++y)
            out[i * k + y] /= static_cast<double>(used[i]);
}

}  // namespace co2
