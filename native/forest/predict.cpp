// SPDX-License-Identifier: BSD-3-Clause
#include "forest/predict.hpp"

#include <numeric>

#include "rows/kinds.hpp"

namespace co2 {

template <RowKind Rows>
std::span<const std::size_t> Descent<Rows>::leaves_of_rows(std::size_t first, std::size_t n,
                                                           std::size_t tree,
                                                           const std::atomic<bool>& stop) {
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    leaf_.resize(n);
    return descend(first, tree, stop);
}

template <RowKind Rows>
std::span<const std::size_t> Descent<Rows>::leaves_of_some(std::size_t first, std::size_t n,
                                                           std::span<const RowId> some,
                                                           std::size_t tree,
                                                           const std::atomic<bool>& stop) {
    order_.assign(some.begin(), some.end());
    leaf_.resize(n);
    return descend(first, tree, stop);
}

template <RowKind Rows>
std::span<const std::size_t> Descent<Rows>::leaves_of_trees(std::size_t row) {
    const std::size_t n_trees = forest_.n_trees();
    leaf_.resize(n_trees);
    z_.resize(n_trees);
    walking_.clear();
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        leaf_[tree] = root(tree);
        if (forest_.branch(leaf_[tree]).left >= 0) walking_.push_back(tree);
    }
    while (!walking_.empty()) {
        rows_.dots(
            row, walking_.size(),
            [&](std::size_t t) { return forest_.branch(leaf_[walking_[t]]).weights; },
            [&](std::size_t t) { return forest_.hyperplane(leaf_[walking_[t]]); }, z_.data());
        // Each loop asks for what the next one reads: in production the forest has left the
        // cache since the last call.
        for (std::size_t t = 0; t < walking_.size(); ++t) {
            const std::size_t tree = walking_[t];
            const Forest::Branch& branch = forest_.branch(leaf_[tree]);
            leaf_[tree] = root(tree) + static_cast<std::size_t>(branch.left) +
                          static_cast<std::size_t>(z_[t] >= branch.threshold);
            __builtin_prefetch(&forest_.branch(leaf_[tree]));
        }
        std::size_t kept = 0;
        for (std::size_t t = 0; t < walking_.size(); ++t) {
            const std::size_t tree = walking_[t];
            walking_[kept] = tree;
            kept += forest_.branch(leaf_[tree]).left >= 0;
            forest_.prefetch(leaf_[tree]);
        }
        walking_.resize(kept);
    }
    return leaf_;
}

template <RowKind Rows>
std::span<const std::size_t> Descent<Rows>::descend(std::size_t first, std::size_t tree,
                                                    const std::atomic<bool>& stop) {
    router_.route(TreeInForest{forest_, root(tree)}, root(tree), first, order_, stop,
                  [&](const NodeRange& leaf) {
                      for (std::size_t t = leaf.begin; t < leaf.end; ++t)
                          leaf_[static_cast<std::size_t>(order_[t])] = leaf.node;
                  });
    return leaf_;
}

#define INSTANTIATE_TABLE(Rows) template class Descent<Rows>;
// Windows come in thousands, never one by one.
#define INSTANTIATE_WINDOW(Rows)                                          \
    template std::span<const std::size_t> Descent<Rows>::leaves_of_rows(  \
        std::size_t, std::size_t, std::size_t, const std::atomic<bool>&); \
    template std::span<const std::size_t> Descent<Rows>::leaves_of_some(  \
        std::size_t, std::size_t, std::span<const RowId>, std::size_t, const std::atomic<bool>&);
CO2_ROW_KINDS(INSTANTIATE_TABLE, INSTANTIATE_WINDOW)

}  // namespace co2
