// SPDX-License-Identifier: BSD-3-Clause
// Sends rows through trees: which side of a hyperplane each row takes, and which leaf it reaches.
// Growing, refining, boosting and prediction all ask here.
#pragma once

#include <algorithm>

#include "base/stop.hpp"
#include "rows/rows.hpp"

namespace co2 {

// Which of some row numbers have reached a node.
struct NodeRange {
    std::size_t node, begin, end;
};

template <RowKind Rows>
class Router {
   public:
    explicit Router(const Rows& rows) : rows_(rows) {}

    // Calls use(t, right) for row ids_t, for all t in order.
    template <class Use>
    void sides(std::span<const RowId> ids, const HyperplaneView& plane,
               const std::atomic<bool>& stop, Use&& use) {
        constexpr std::size_t block = 1024;  // projections stay in the cache
        for (std::size_t begin = 0; begin < ids.size(); begin += block) {
            throw_if(stop);
            const std::size_t n = std::min(block, ids.size() - begin);
            project(0, ids.subspan(begin, n), plane);
            for (std::size_t t = 0; t < n; ++t) use(begin + t, z_[t] >= plane.threshold);
        }
    }

    // Sends the rows first + ids_t from a node down and calls at_leaf(range) for every leaf that
    // some of them reach, from left to right. The ids of a leaf then lie together, in the order
    // they had. Rows at a node are projected together, so that its weights are read once.
    //
    // Tree has left(node), negative at a leaf (the right child is the next node), and plane(node).
    template <class Tree, class AtLeaf>
    void route(const Tree& tree, std::size_t root, std::size_t first, std::span<RowId> ids,
               const std::atomic<bool>& stop, AtLeaf&& at_leaf) {
        if (ids.empty()) return;
        waiting_.assign(1, {root, 0, ids.size()});
        while (!waiting_.empty()) {
            throw_if(stop);
            const NodeRange here = waiting_.back();
            waiting_.pop_back();
            const std::int64_t child = tree.left(here.node);
            if (child < 0) {
                at_leaf(here);
                continue;
            }
            const auto left = static_cast<std::size_t>(child);
            const std::size_t middle =
                here.begin + partition(first, ids.subspan(here.begin, here.end - here.begin),
                                       tree.plane(here.node));
            if (middle < here.end) waiting_.push_back({left + 1, middle, here.end});
            if (here.begin < middle) waiting_.push_back({left, here.begin, middle});
        }
    }

   private:
    void project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& plane) {
        if (z_.size() < ids.size()) z_.resize(ids.size());
        rows_.project(first, ids, plane, space_, z_.data());
    }

    // Puts the ids that go right behind the others. How many go left.
    std::size_t partition(std::size_t first, std::span<RowId> ids, const HyperplaneView& plane) {
        project(first, ids, plane);
        if (right_.size() < ids.size()) right_.resize(ids.size());
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t t = 0; t < ids.size(); ++t) {  // without branches
            const RowId id = ids[t];
            const bool right = z_[t] >= plane.threshold;
            ids[n_left] = right_[n_right] = id;
            n_left += !right;
            n_right += right;
        }
        std::copy_n(right_.data(), n_right, ids.data() + n_left);
        return n_left;
    }

    const Rows& rows_;
    typename Rows::Space space_;
    std::vector<float> z_;  // projections of the rows at a node
    std::vector<RowId> right_;
    std::vector<NodeRange> waiting_;
};

}  // namespace co2
