// SPDX-License-Identifier: BSD-3-Clause
// Prediction needs a forest and rows, and nothing of training.
#pragma once

#include "base/threads.hpp"
#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "rows/rows.hpp"

namespace co2 {

// Finds the leaves that rows reach. Compiled for all kinds of rows in predict.cpp.
template <RowKind Rows>
class Descent {
   public:
    Descent(const Forest& forest, const Rows& rows) : forest_(forest), rows_(rows), router_(rows) {}

    // The leaves (absolute node numbers) that n rows from `first` on reach in a tree.
    std::span<const std::size_t> leaves_of_rows(std::size_t first, std::size_t n, std::size_t tree,
                                                const std::atomic<bool>& stop);

    // The same for some of the n rows, by their numbers from `first` on; the other leaves mean
    // nothing.
    std::span<const std::size_t> leaves_of_some(std::size_t first, std::size_t n,
                                                std::span<const RowId> some, std::size_t tree,
                                                const std::atomic<bool>& stop);

    // The leaves that one row reaches in all trees. The trees go in lockstep: the tests of a step
    // do not depend on each other, so the processor works on several at once, where a single path
    // is a chain of waiting.
    std::span<const std::size_t> leaves_of_trees(std::size_t row);

   private:
    // A tree by the forest's numbers of its nodes.
    struct TreeInForest {
        const Forest& forest;
        std::size_t root;

        std::int64_t left(std::size_t node) const {
            const std::int32_t left = forest.branch(node).left;
            return left < 0 ? -1 : static_cast<std::int64_t>(root) + left;
        }
        HyperplaneView plane(std::size_t node) const { return forest.hyperplane(node); }
    };

    // The leaves of the rows in order_.
    std::span<const std::size_t> descend(std::size_t first, std::size_t tree,
                                         const std::atomic<bool>& stop);

    std::size_t root(std::size_t tree) const {
        return static_cast<std::size_t>(forest_.arrays().tree_begin[tree]);
    }

    const Forest& forest_;
    const Rows& rows_;
    Router<Rows> router_;
    std::vector<std::size_t> leaf_;
    std::vector<RowId> order_;          // relative to the first row
    std::vector<float> z_;              // projections of one row, in the trees that it walks in
    std::vector<std::size_t> walking_;  // trees where the row is not yet in a leaf
};

// Rows that become dense for a while, so that many trees read them in that form.
template <class R>
concept ExpandableRows =
    TableKind<R> && requires(const R& rows, std::size_t i, std::vector<float>& space) {
        { rows.expanded(i, i, space) } -> TableKind;
    };

// Calls use(row, tree, leaf) for n rows from `begin` on and the trees in [first_tree, last_tree).
// Few rows go one by one: sixteen of Letter through 100 trees take 17 us each, 43 together; of
// MNIST through ten 7.0 and 7.5. With 32 rows both take the same time on SatImage and USPS.
template <TableKind Rows, class Use>
void visit_leaves_of_block(const Forest& forest, const Rows& rows, std::size_t begin, std::size_t n,
                           std::size_t first_tree, std::size_t last_tree,
                           const std::atomic<bool>& stop, Use&& use) {
    constexpr std::size_t few = 32;
    Descent<Rows> descent(forest, rows);
    if (n < few && last_tree - first_tree == forest.n_trees()) {
        for (std::size_t i = begin; i < begin + n; ++i) {
            throw_if(stop);
            const auto leaf = descent.leaves_of_trees(i);
            for (std::size_t tree = first_tree; tree < last_tree; ++tree) use(i, tree, leaf[tree]);
        }
        return;
    }
    for (std::size_t tree = first_tree; tree < last_tree; ++tree) {
        const auto leaf = descent.leaves_of_rows(begin, n, tree, stop);
        for (std::size_t i = begin; i < begin + n; ++i) use(i, tree, leaf[i - begin]);
    }
}

// The same for all rows; for one row in the order of trees, and in one thread.
template <TableKind Rows, class Use>
void visit_leaves(const Forest& forest, const Rows& rows, std::size_t first_tree,
                  std::size_t last_tree, std::size_t n_threads, const Watch& watch, Use&& use) {
    // Enough rows for several at each node of a tree, but work for every thread; rows that are
    // expanded take at most 16 MB.
    std::size_t most = 16384;
    if constexpr (ExpandableRows<Rows>)
        most = std::clamp<std::size_t>((std::size_t{1} << 22) / rows.features(), 64, most);
    const std::size_t n = rows.count();
    const std::size_t share = n / std::max<std::size_t>(1, n_threads) + 1;
    const std::size_t block = std::min(share, most);
    parallel_for(
        (n + block - 1) / block, n_threads, watch,
        [&](std::size_t b, std::size_t, const std::atomic<bool>& stop) {
            const std::size_t begin = b * block, size = std::min(block, n - begin);
            if constexpr (ExpandableRows<Rows>) {
                std::vector<float> space;
                visit_leaves_of_block(forest, rows.expanded(begin, size, space), 0, size,
                                      first_tree, last_tree, stop,
                                      [&](std::size_t i, std::size_t tree, std::size_t leaf) {
                                          use(begin + i, tree, leaf);
                                      });
            } else {
                visit_leaves_of_block(forest, rows, begin, size, first_tree, last_tree, stop, use);
            }
        });
}

// out (rows x outputs) = mean of the leaves' distributions, always added in the order of trees.
template <TableKind Rows>
void predict(const Forest& forest, const Rows& rows, std::size_t n_threads, const Watch& watch,
             double* out) {
    const std::size_t k = forest.n_outputs();
    std::fill(out, out + rows.count() * k, 0.0);
    visit_leaves(
        forest, rows, 0, forest.n_trees(), n_threads, watch,
        [&](std::size_t i, std::size_t, std::size_t leaf) { forest.add_leaf(leaf, out + i * k); });
    const auto trees = static_cast<double>(forest.n_trees());
    for (std::size_t t = 0; t < rows.count() * k; ++t) out[t] /= trees;
}

// out (rows x trees) = number, within its tree, of the leaf that a row reaches.
template <TableKind Rows>
void apply(const Forest& forest, const Rows& rows, std::size_t n_threads, const Watch& watch,
           std::int64_t* out) {
    visit_leaves(forest, rows, 0, forest.n_trees(), n_threads, watch,
                 [&](std::size_t i, std::size_t tree, std::size_t leaf) {
                     out[i * forest.n_trees() + tree] =
                         static_cast<std::int64_t>(leaf) - forest.arrays().tree_begin[tree];
                 });
}

}  // namespace co2
