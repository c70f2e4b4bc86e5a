// SPDX-License-Identifier: BSD-3-Clause
// Grows one tree: stopping rules, the order of nodes, and the partition of row numbers. It knows
// neither how a hyperplane is found, nor what a good leaf is, nor how rows are stored.
#pragma once

#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"
#include "base/stop.hpp"
#include "forest/route.hpp"
#include "grow/partition.hpp"
#include "grow/tree.hpp"
#include "loss/loss.hpp"
#include "rows/rows.hpp"
#include "split/node.hpp"
#include "split/splits.hpp"

namespace co2 {

struct GrowParams {
    std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
    std::int64_t min_samples_split = 2;
    std::int64_t min_samples_leaf = 1;
    double min_weight_fraction_leaf = 0.0;
    double min_impurity_decrease = 0.0;  // weighted by the node's fraction of all weight
    std::int64_t max_leaf_nodes = 0;     // 0: no limit; else the best splits first
    SplitParams split;
    std::vector<Feature> features;  // that splits may use, increasing; empty: all
};

inline void check_features(std::span<const Feature> features, std::size_t n_features) {
    Feature least = 0;
    for (const Feature j : features) {
        if (j < least || static_cast<std::size_t>(j) >= n_features)
            throw std::invalid_argument("features of a kind must increase and exist");
        least = j + 1;
    }
}

// What the finder did in a tree.
struct GrowStatistics {
    std::int64_t steps = 0;  // see FoundSplit
    std::int64_t nodes = 0;  // that it saw
};

// The training rows of one tree. Duplicates, in features and target, are one row with a weight, and
// so are the repeats of a bootstrap.
template <class Targets>
struct TreeRows {
    std::vector<RowId> ids;               // distinct rows with a positive weight
    Targets target;                       // of all training rows
    Weights weight;                       // of all training rows
    std::span<const std::int32_t> count;  // of all training rows: how many of the caller's it is;
                                          // empty: one

    std::int32_t count_of(std::size_t row) const { return count.empty() ? 1 : count[row]; }
};

// Compiled for all kinds of rows and losses in grow.cpp: boosting shares them with forests.
template <RowKind Rows, LossKind Loss>
class TreeGrower {
   public:
    using Targets = typename Loss::Targets;

    TreeGrower(const Rows& rows, Loss loss, const GrowParams& params,
               std::unique_ptr<SplitFinder<Loss>> finder)
        : params_(params), loss_(std::move(loss)), finder_(std::move(finder)), router_(rows) {}

    Tree<Loss> grow(TreeRows<Targets>& tree, std::uint64_t key, const std::atomic<bool>& stop);

    const GrowStatistics& statistics() const { return statistics_; }

    // The leaves of the tree grown last, in the order of their nodes when it is stored; its rows'
    // ids lie as it has partitioned them.
    std::span<const NodeRange> leaves() const { return leaves_; }

   private:
    // A leaf until it is expanded.
    struct Node : TreeNode<Loss> {
        std::size_t begin, middle, end;  // ids[begin, middle) go left, [middle, end) right
        std::int64_t depth;
        std::uint64_t key;
        double decrease = 0.0;  // of impurity, by the hyperplane
    };

    void list_leaves(const Tree<Loss>& tree);

    // Describes a new node and, unless it must be a leaf, finds its split and partitions its rows.
    void add_node(std::size_t begin, std::size_t end, std::int64_t depth, std::uint64_t key,
                  const std::atomic<bool>& stop);

    void describe(Node& node, const std::atomic<bool>& stop);

    bool may_split(const Node& node) const;

    bool find_split(Node& node, const std::atomic<bool>& stop);

    static constexpr double kRounding = 1e-9;  // two gains that differ by less are equal

    struct Partition {
        bool valid = false;  // both sides have enough rows
        double decrease = 0.0;
    };

    // Sides of the node's rows, and what they gain. Projections, if they are known.
    Partition evaluate(const Node& node, const Hyperplane& plane,
                       std::span<const float> projections, const std::atomic<bool>& stop);

    double min_weight_leaf() const { return params_.min_weight_fraction_leaf * total_weight_; }

    // Ordered by gain if leaves are limited (best first). Otherwise the order does not change the
    // tree, and a stack keeps the rows of a small subtree in the cache until it is done.
    void add_to_frontier(std::size_t node);

    std::size_t take_next();

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
    std::vector<NodeRange> leaves_;

    // Work space.
    Router<Rows> router_;
    std::vector<bool> sides_;  // true: right, per row of a node
    StablePartition partition_;
};

}  // namespace co2
