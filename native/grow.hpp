// SPDX-License-Identifier: BSD-3-Clause
// Grows one tree: stopping rules, the order of nodes, and the partition of row numbers. It knows
// neither how a hyperplane is found, nor what a good leaf is, nor how rows are stored.
#pragma once

#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "loss/loss.hpp"
#include "partition.hpp"
#include "random.hpp"
#include "rows/rows.hpp"
#include "split/node.hpp"
#include "split/params.hpp"
#include "stop.hpp"
#include "tree.hpp"

namespace co2 {

struct GrowParams {
    std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
    std::int64_t min_samples_split = 2;
    std::int64_t min_samples_leaf = 1;
    double min_weight_fraction_leaf = 0.0;
    double min_impurity_decrease = 0.0;  // weighted by the node's part of all weight
    std::int64_t max_leaf_nodes = 0;     // 0: no limit; else the best splits first
    SplitParams split;
};

// What the finder did in a tree.
struct GrowStatistics {
    std::int64_t steps = 0;  // see FoundSplit
    std::int64_t nodes = 0;  // that it saw
};

// The training rows of one tree. Rows that are alike in features and target are one row with a
// weight, and so are the repeats of a bootstrap.
template <class Targets>
struct TreeRows {
    std::vector<RowId> ids;               // distinct rows with a positive weight
    Targets target;                       // of all training rows
    Weights weight;                       // of all training rows
    std::span<const std::int32_t> count;  // of all training rows: how many of the caller's it is;
                                          // empty: one

    std::int32_t count_of(std::size_t row) const { return count.empty() ? 1 : count[row]; }
};

// Which of a tree's row numbers have reached a leaf.
struct LeafRows {
    std::size_t node, begin, end;
};

template <class Rows, class Loss>
class TreeGrower {
   public:
    using Targets = typename Loss::Targets;

    TreeGrower(const Rows& rows, Loss loss, const GrowParams& params,
               std::unique_ptr<SplitFinder<Loss>> finder)
        : rows_(rows), params_(params), loss_(std::move(loss)), finder_(std::move(finder)) {}

    Tree<Loss> grow(TreeRows<Targets>& tree, std::uint64_t key, const std::atomic<bool>& stop) {
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

    const GrowStatistics& statistics() const { return statistics_; }

    // The leaves of the tree grown last, in the order of their nodes when it is stored; its rows'
    // ids lie as it has parted them.
    std::span<const LeafRows> leaves() const { return leaves_; }

   private:
    // A leaf until it is expanded.
    struct Node : TreeNode<Loss> {
        std::size_t begin, middle, end;  // ids[begin, middle) go left, [middle, end) right
        std::int64_t depth;
        std::uint64_t key;
        double decrease = 0.0;  // of impurity, by the hyperplane
    };

    void list_leaves(const Tree<Loss>& tree) {
        leaves_.clear();
        const std::vector<std::size_t> order = breadth_first<Loss>(tree);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Node& node = nodes_[order[i]];
            if (tree[order[i]].is_leaf()) leaves_.push_back({i, node.begin, node.end});
        }
    }

    // Describes a new node and, unless it must be a leaf, finds its split and partitions its rows.
    void add_node(std::size_t begin, std::size_t end, std::int64_t depth, std::uint64_t key,
                  const std::atomic<bool>& stop) {
        throw_if(stop);
        Node node{{}, begin, end, end, depth, key, 0.0};
        describe(node);
        const bool splits = may_split(node) && find_split(node, stop);
        nodes_.push_back(std::move(node));
        if (splits) add_to_frontier(nodes_.size() - 1);
    }

    void describe(Node& node) {
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const auto row = static_cast<std::size_t>(tree_->ids[i]);
            loss_.add(row, tree_->weight[row]);
            node.samples += tree_->count_of(row);
        }
        node.summary = loss_.take();
    }

    bool may_split(const Node& node) const {
        if (params_.max_leaf_nodes > 0 && splits_left_ == 0) return false;
        return !node.summary.is_pure() && node.depth < params_.max_depth &&
               node.samples >= params_.min_samples_split &&
               node.samples >= 2 * params_.min_samples_leaf && node.end - node.begin > 1;
    }

    bool find_split(Node& node, const std::atomic<bool>& stop) {
        const std::span<const RowId> ids{tree_->ids.data() + node.begin, node.end - node.begin};
        auto found = finder_->find({ids, tree_->target, tree_->weight, tree_->count,
                                    params_.min_samples_leaf, min_weight_leaf(), node.key},
                                   stop);
        if (!found) return false;
        statistics_.steps += found->steps;
        ++statistics_.nodes;
        Partition best;
        if (found->plane) best = evaluate(node, *found->plane, found->projections);
        // On the sample: to look at all rows, for a comparison that few fallbacks win, cost up to
        // 4 %.
        const bool fallback_gains_more =
            found->fallback_decrease * node.summary.weight > best.decrease * (1.0 + kRounding);
        if (!best.valid || fallback_gains_more) {
            auto plane = finder_->fallback();
            const Partition fallback = plane ? evaluate(node, *plane) : Partition{};
            if (fallback.valid || !best.valid) {
                best = fallback;
                found->plane = std::move(plane);
            } else {
                evaluate(node, *found->plane, found->projections);  // for its sides
            }
        }
        // min_impurity_decrease is scikit-learn's: weighted by the node's share of all weight.
        if (!best.valid || best.decrease / total_weight_ < params_.min_impurity_decrease)
            return false;
        node.decrease = best.decrease;
        node.hyperplane = std::move(*found->plane);
        node.middle = node.begin + partition_({tree_->ids.data() + node.begin, ids.size()}, sides_);
        return true;
    }

    static constexpr double kRounding = 1e-9;  // two gains that differ by less are equal

    struct Partition {
        bool valid = false;  // both sides have enough rows
        double decrease = 0.0;
    };

    // Sides of the node's rows, and what they gain. Projections, if they are known.
    Partition evaluate(const Node& node, const Hyperplane& plane,
                       std::span<const float> projections = {}) {
        const std::span<const RowId> ids{tree_->ids.data() + node.begin, node.end - node.begin};
        sides_.resize(ids.size());
        std::int64_t right_samples = 0;
        constexpr std::size_t block = 1024;
        const bool needs_left = loss_.needs_left();
        projections_.resize(block);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (i % block == 0 && projections.empty())
                rows_.project(0, ids.subspan(i, std::min(block, ids.size() - i)), plane,
                              projection_space_, projections_.data());
            const auto row = static_cast<std::size_t>(ids[i]);
            const float z = projections.empty() ? projections_[i % block] : projections[i];
            const bool right = z >= plane.threshold;
            sides_[i] = right;
            if (!right) {
                if (needs_left) loss_.add_left(row, tree_->weight[row]);
                continue;
            }
            right_samples += tree_->count_of(row);
            loss_.add(row, tree_->weight[row]);
        }
        const Sides sides = loss_.take_right_of(node.summary);
        const std::int64_t left_samples = node.samples - right_samples;
        return {std::min(left_samples, right_samples) >= params_.min_samples_leaf &&
                    std::min(sides.left_weight, sides.right_weight) >= min_weight_leaf(),
                std::max(0.0, node.summary.impurity - sides.impurity)};  // rounding: -1e-16
    }

    double min_weight_leaf() const { return params_.min_weight_fraction_leaf * total_weight_; }

    // By gain when leaves are limited (best first). Else the order means nothing to the tree, and a
    // stack keeps the rows of a small subtree in the cache until it is done.
    void add_to_frontier(std::size_t node) {
        if (params_.max_leaf_nodes == 0) return frontier_.push_back(node);
        best_first_.emplace(-nodes_[node].decrease, node);
        if (best_first_.size() <= static_cast<std::size_t>(splits_left_)) return;
        const auto worst = std::prev(best_first_.end());  // its turn will never come
        nodes_[worst->second].hyperplane = {};
        best_first_.erase(worst);
    }

    std::size_t take_next() {
        if (params_.max_leaf_nodes == 0) {
            const std::size_t next = frontier_.back();
            frontier_.pop_back();
            return next;
        }
        --splits_left_;
        return best_first_.extract(best_first_.begin()).value().second;
    }

    const Rows& rows_;
    GrowParams params_;
    Loss loss_;
    std::unique_ptr<SplitFinder<Loss>> finder_;

    TreeRows<Targets>* tree_ = nullptr;
    std::vector<Node> nodes_;
    // Nodes whose split is known but not yet made; see add_to_frontier.
    std::vector<std::size_t> frontier_;
    std::set<std::pair<double, std::size_t>> best_first_;  // minus the gain, the node
    std::int64_t splits_left_ = 0;                         // if leaves are limited
    double total_weight_ = 0.0;
    GrowStatistics statistics_;
    std::vector<LeafRows> leaves_;

    // Work space.
    std::vector<bool> sides_;         // true: right, per row of a node
    std::vector<float> projections_;  // of a block of its rows
    typename Rows::Space projection_space_;
    StablePartition partition_;
};

}  // namespace co2
