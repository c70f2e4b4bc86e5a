// SPDX-License-Identifier: BSD-3-Clause
#include "grow/grow.hpp"
#include "loss/instantiations.hpp"

namespace co2 {

template <RowKind Rows, LossKind Loss>
Tree<Loss> TreeGrower<Rows, Loss>::grow(TreeRows<Targets>& tree, std::uint64_t key,
                                        const std::atomic<bool>& stop) {
    tree_ = &tree;
    statistics_ = {};
    total_weight_ = 0.0;
    for (const RowId id : tree.ids)
        total_weight_ += static_cast<double>(tree.weight[static_cast<std::size_t>(id)]);
    splits_left_ = params_.max_leaf_nodes - 1;
    add_node(0, tree.ids.size(), 0, key, stop);
    while (!frontier_.empty() || !best_first_.empty()) {
        const std::size_t parent = take_next();
        const std::size_t begin = nodes_[parent].begin, middle = nodes_[parent].middle,
                          end = nodes_[parent].end;
        const std::int64_t depth = nodes_[parent].depth + 1;
        const std::uint64_t parent_key = nodes_[parent].key;
        nodes_[parent].left = static_cast<std::int64_t>(nodes_.size());
        add_node(begin, middle, depth, derive_key(parent_key, 0), stop);
        add_node(middle, end, depth, derive_key(parent_key, 1), stop);
    }
    Tree<Loss> out;
    out.reserve(nodes_.size());
    for (Node& node : nodes_) out.push_back(std::move(static_cast<TreeNode<Loss>&>(node)));
    list_leaves(out);
    nodes_.clear();
    return out;
}

template <RowKind Rows, LossKind Loss>
void TreeGrower<Rows, Loss>::list_leaves(const Tree<Loss>& tree) {
    leaves_.clear();
    const std::vector<std::size_t> order = breadth_first<Loss>(tree);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Node& node = nodes_[order[i]];
        if (tree[order[i]].is_leaf()) leaves_.push_back({i, node.begin, node.end});
    }
}

template <RowKind Rows, LossKind Loss>
void TreeGrower<Rows, Loss>::add_node(std::size_t begin, std::size_t end, std::int64_t depth,
                                      std::uint64_t key, const std::atomic<bool>& stop) {
    throw_if(stop);
    Node node{{}, begin, end, end, depth, key, 0.0};
    describe(node, stop);
    const bool splits = may_split(node) && find_split(node, stop);
    nodes_.push_back(std::move(node));
    if (splits) add_to_frontier(nodes_.size() - 1);
}

template <RowKind Rows, LossKind Loss>
void TreeGrower<Rows, Loss>::describe(Node& node, const std::atomic<bool>& stop) {
    for (std::size_t i = node.begin; i < node.end; ++i) {
        throw_if(stop);
        const auto row = static_cast<std::size_t>(tree_->ids[i]);
        loss_.add(row, tree_->weight[row]);
        node.samples += tree_->count_of(row);
    }
    node.summary = loss_.take();
}

template <RowKind Rows, LossKind Loss>
bool TreeGrower<Rows, Loss>::may_split(const Node& node) const {
    if (params_.max_leaf_nodes > 0 && splits_left_ == 0) return false;
    return !node.summary.is_pure() && node.depth < params_.max_depth &&
           node.samples >= params_.min_samples_split &&
           node.samples >= 2 * params_.min_samples_leaf && node.end - node.begin > 1;
}

template <RowKind Rows, LossKind Loss>
bool TreeGrower<Rows, Loss>::find_split(Node& node, const std::atomic<bool>& stop) {
    const std::span<const RowId> ids{tree_->ids.data() + node.begin, node.end - node.begin};
    auto found = finder_->find({ids, tree_->target, tree_->weight, tree_->count,
                                params_.min_samples_leaf, min_weight_leaf(), node.key, stop});
    if (!found) return false;
    statistics_.steps += found->steps;
    ++statistics_.nodes;
    Partition best;
    if (found->plane) best = evaluate(node, *found->plane, found->projections, stop);
    // The fallback's gain is that of the sample: to look at all rows, for a comparison that few
    // fallbacks win, cost up to 4 % of the time.
    const bool fallback_gains_more =
        found->fallback_decrease * node.summary.weight > best.decrease * (1.0 + kRounding);
    if (!best.valid || fallback_gains_more) {
        auto plane = finder_->fallback();
        const Partition fallback = plane ? evaluate(node, *plane, {}, stop) : Partition{};
        if (fallback.valid || !best.valid) {
            best = fallback;
            found->plane = std::move(plane);
        } else {
            evaluate(node, *found->plane, found->projections, stop);  // for its sides
        }
    }
    // min_impurity_decrease is scikit-learn's: weighted by the node's share of all weight.
    if (!best.valid || best.decrease / total_weight_ < params_.min_impurity_decrease) return false;
    node.decrease = best.decrease;
    node.hyperplane = std::move(*found->plane);
    node.middle = node.begin + partition_({tree_->ids.data() + node.begin, ids.size()}, sides_);
    return true;
}

template <RowKind Rows, LossKind Loss>
typename TreeGrower<Rows, Loss>::Partition TreeGrower<Rows, Loss>::evaluate(
    const Node& node, const Hyperplane& plane, std::span<const float> projections,
    const std::atomic<bool>& stop) {
    const std::span<const RowId> ids{tree_->ids.data() + node.begin, node.end - node.begin};
    sides_.resize(ids.size());
    std::int64_t right_samples = 0;
    const bool needs_left = loss_.needs_left();
    const auto take = [&](std::size_t i, bool right) {
        const auto row = static_cast<std::size_t>(ids[i]);
        sides_[i] = right;
        if (!right) {
            if (needs_left) loss_.add_left(row, tree_->weight[row]);
            return;
        }
        right_samples += tree_->count_of(row);
        loss_.add(row, tree_->weight[row]);
    };
    if (projections.empty())
        router_.sides(ids, plane, stop, take);
    else
        for (std::size_t i = 0; i < ids.size(); ++i) {
            throw_if(stop);
            take(i, projections[i] >= plane.threshold);
        }
    const Sides sides = loss_.take_right_of(node.summary);
    const std::int64_t left_samples = node.samples - right_samples;
    return {std::min(left_samples, right_samples) >= params_.min_samples_leaf &&
                std::min(sides.left_weight, sides.right_weight) >= min_weight_leaf(),
            std::max(0.0, node.summary.impurity - sides.impurity)};  // rounding: -1e-16
}

template <RowKind Rows, LossKind Loss>
void TreeGrower<Rows, Loss>::add_to_frontier(std::size_t node) {
    if (params_.max_leaf_nodes == 0) return frontier_.push_back(node);
    best_first_.emplace(-nodes_[node].decrease, node);
    if (best_first_.size() <= static_cast<std::size_t>(splits_left_)) return;
    const auto worst = std::prev(best_first_.end());  // its turn will never come
    nodes_[worst->second].hyperplane = {};
    best_first_.erase(worst);
}

template <RowKind Rows, LossKind Loss>
std::size_t TreeGrower<Rows, Loss>::take_next() {
    if (params_.max_leaf_nodes == 0) {
        const std::size_t next = frontier_.back();
        frontier_.pop_back();
        return next;
    }
    --splits_left_;
    return best_first_.extract(best_first_.begin()).value().second;
}

#define INSTANTIATE(Rows, Loss) template class TreeGrower<Rows, Loss>;
CO2_ROWS_AND_LOSSES

}  // namespace co2
