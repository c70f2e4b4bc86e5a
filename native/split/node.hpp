// SPDX-License-Identifier: BSD-3-Clause
// What a split finder is told about a node, and what it returns.
#pragma once

#include <atomic>
#include <optional>

#include "loss/loss.hpp"
#include "loss/targets.hpp"
#include "rows/hyperplane.hpp"
#include "rows/weights.hpp"

namespace co2 {

// A node's rows and targets, as the grower holds them.
template <class Targets>
struct NodeRows {
    std::span<const RowId> ids;           // distinct rows of the node
    Targets target;                       // of all training rows
    Weights weight;                       // of all training rows, in this tree
    std::span<const std::int32_t> count;  // of all training rows: how many of the caller's it is;
                                          // empty: one
    std::int64_t min_samples_leaf;        // the caller's rows on each side, at least
    double min_weight_leaf;               // weight on each side, at least
    std::uint64_t key;                    // of the node's random stream
    const std::atomic<bool>& stop;        // for throw_if() in loops that may take long
};

struct FoundSplit {
    std::optional<Hyperplane> plane;  // if there is one worth trying
    double fallback_decrease = 0.0;   // of impurity, per unit of weight, as far as it is known:
                                      // prefer the fallback if it gains more
    std::int64_t steps = 1;           // of an iterative finder
    // Projections of the node's rows on the plane, if they are known. Valid until the next find().
    std::span<const float> projections = {};
};

template <LossKind Loss>
class SplitFinder {
   public:
    using Node = NodeRows<typename Loss::Targets>;

    virtual ~SplitFinder() = default;

    // Nothing if the rows of the node cannot be split by a feature.
    virtual std::optional<FoundSplit> find(const Node& node) = 0;

    // A simpler split of the node that find() saw last, for when the plane leaves a side too small
    // or gains less.
    virtual std::optional<Hyperplane> fallback() { return std::nullopt; }
};

}  // namespace co2
