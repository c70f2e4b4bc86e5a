// SPDX-License-Identifier: BSD-3-Clause
// One tree between growing and storing.
#pragma once

#include "forest/forest.hpp"
#include "loss/loss.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

// Children come after their parents, and the two children of a node are neighbours.
template <LossKind Loss>
struct TreeNode {
    std::int64_t left = -1;  // the right child is left + 1; -1: a leaf
    std::int64_t samples = 0;
    Hyperplane hyperplane;
    typename Loss::Summary summary;  // of its training rows

    bool is_leaf() const { return left < 0; }
};

template <LossKind Loss>
using Tree = std::vector<TreeNode<Loss>>;

// The numbers of the nodes that can be reached from the root, in breadth-first order.
template <LossKind Loss>
std::vector<std::size_t> breadth_first(const Tree<Loss>& tree) {
    std::vector<std::size_t> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const TreeNode<Loss>& node = tree[order[i]];
        if (node.is_leaf()) continue;
        order.push_back(static_cast<std::size_t>(node.left));
        order.push_back(static_cast<std::size_t>(node.left) + 1);
    }
    return order;
}

template <LossKind Loss>
ForestSize size_of(const Tree<Loss>& tree, std::span<const std::size_t> order) {
    ForestSize size{1, order.size()};
    for (const std::size_t i : order) {
        const TreeNode<Loss>& node = tree[i];
        if (node.is_leaf()) {
            size.values += node.summary.values();
            continue;
        }
        size.weights += node.hyperplane.weight.size();
        size.features += node.hyperplane.feature.size();
    }
    return size;
}

// The tree as it is stored: in breadth-first order, whatever the order of growth was.
template <LossKind Loss>
ForestArrays flatten(const Tree<Loss>& tree, const Standardisation& standardisation,
                     const Loss& loss) {
    const std::vector<std::size_t> order = breadth_first<Loss>(tree);
    ForestArrays out;
    reserve(out, size_of<Loss>(tree, order));
    out.tree_begin = {0};
    out.weight_begin = out.feature_begin = out.value_begin = {0};
    out.mean = standardisation.mean;
    out.spread = standardisation.spread;
    out.n_outputs = static_cast<std::int64_t>(loss.outputs());
    out.distributions = loss.distributions();
    std::int32_t next = 1;  // the place of the next pair of children
    for (const std::size_t i : order) {
        const TreeNode<Loss>& node = tree[i];
        if (node.is_leaf()) {
            out.left.push_back(-1);
            out.threshold.push_back(0.0f);
            node.summary.for_each_value([&](std::int32_t output, double value) {
                out.value_output.push_back(output);
                out.value.push_back(static_cast<float>(value));
            });
        } else {
            const Hyperplane& h = node.hyperplane;
            out.left.push_back(next);
            next += 2;
            out.threshold.push_back(h.threshold);
            out.weight.insert(out.weight.end(), h.weight.begin(), h.weight.end());
            out.feature.insert(out.feature.end(), h.feature.begin(), h.feature.end());
        }
        out.weight_begin.push_back(static_cast<std::int64_t>(out.weight.size()));
        out.feature_begin.push_back(static_cast<std::int64_t>(out.feature.size()));
        out.value_begin.push_back(static_cast<std::int64_t>(out.value.size()));
        out.impurity.push_back(static_cast<float>(node.summary.impurity / node.summary.weight));
        out.weighted_count.push_back(node.summary.weight);
        out.sample_count.push_back(static_cast<std::int32_t>(node.samples));
    }
    out.tree_begin.push_back(static_cast<std::int64_t>(out.left.size()));
    return out;
}

}  // namespace co2
