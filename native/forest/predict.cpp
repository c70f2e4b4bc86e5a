// SPDX-License-Identifier: BSD-3-Clause
#include "predict.hpp"

#include <numeric>

#include "windows/rows.hpp"

namespace co2 {

template <class Rows>
std::span<const std::size_t> Descent<Rows>::leaves_of_rows(std::size_t first, std::size_t n,
                                                           std::size_t tree,
                                                           const std::atomic<bool>& stop) {
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    leaf_.resize(n);
    return descend(first, tree, stop);
}

template <class Rows>
std::span<const std::size_t> Descent<Rows>::leaves_of_some(std::size_t first, std::size_t n,
                                                           std::span<const RowId> some,
                                                           std::size_t tree,
                                                           const std::atomic<bool>& stop) {
    order_.assign(some.begin(), some.end());
    leaf_.resize(n);
    return descend(first, tree, stop);
}

template <class Rows>
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

template <class Rows>
std::span<const std::size_t> Descent<Rows>::descend(std::size_t first, std::size_t tree,
                                                    const std::atomic<bool>& stop) {
    z_.resize(order_.size());
    right_.resize(order_.size());
    crowds_.assign(1, {root(tree), 0, order_.size()});
    while (!crowds_.empty()) {
        throw_if(stop);
        const Crowd crowd = crowds_.back();
        crowds_.pop_back();
        const std::span<RowId> here{order_.data() + crowd.begin, crowd.end - crowd.begin};
        const Forest::Branch& branch = forest_.branch(crowd.node);
        if (branch.left < 0) {
            for (const RowId i : here) leaf_[static_cast<std::size_t>(i)] = crowd.node;
            continue;
        }
        rows_.project(first, here, forest_.hyperplane(crowd.node), space_, z_.data());
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t t = 0; t < here.size(); ++t) {
            const RowId i = here[t];
            const bool right = z_[t] >= branch.threshold;
            here[n_left] = right_[n_right] = i;
            n_left += !right;
            n_right += right;
        }
        std::copy_n(right_.data(), n_right, here.data() + n_left);
        const std::size_t left = root(tree) + static_cast<std::size_t>(branch.left);
        const std::size_t middle = crowd.begin + n_left;
        if (n_right > 0) crowds_.push_back({left + 1, middle, crowd.end});
        if (n_left > 0) crowds_.push_back({left, crowd.begin, middle});
    }
    return leaf_;
}

template class Descent<DenseRows<float>>;
template class Descent<DenseRows<std::uint8_t>>;
template class Descent<SparseRows>;

// Windows come in thousands, never one by one.
#define CO2_INSTANTIATE(Rows)                                             \
    template std::span<const std::size_t> Descent<Rows>::leaves_of_rows(  \
        std::size_t, std::size_t, std::size_t, const std::atomic<bool>&); \
    template std::span<const std::size_t> Descent<Rows>::leaves_of_some(  \
        std::size_t, std::size_t, std::span<const RowId>, std::size_t, const std::atomic<bool>&)

CO2_INSTANTIATE(WindowRows<float>);
CO2_INSTANTIATE(WindowRows<std::uint8_t>);

}  // namespace co2
