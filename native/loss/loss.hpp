// SPDX-License-Identifier: BSD-3-Clause
// What a loss is. Growing a tree is templated on it and asks for no more than this concept. There
// are two: LogLoss of labels, and ValuesLoss of numbers, which asks a ValueLoss for the loss of a
// row.
//
// A loss that lacks a member is one message of the compiler, here where LogLoss has lost
// take_right_of():
//   instantiations.hpp: error: static assertion failed
//   loss.hpp: note: the required expression 'loss.take_right_of(node)' is invalid
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.hpp"
#include "rows/weights.hpp"

namespace co2 {

// The two sides of a node.
struct Sides {
    double left_weight = 0.0, right_weight = 0.0;
    double impurity = 0.0;  // of both, in the unit of the loss
};

// Finds the best of many ways to split the same rows: rows go from the right side to the left one
// by one, or level by level, all rows of equal value together.
template <class S, class Targets>
concept ScanOf = requires(S& scan, const S& fixed, std::span<const RowId> ids, Targets targets,
                          Weights weights, std::size_t i, std::span<const float> values,
                          const std::uint8_t* bins, std::span<const std::int32_t> rows,
                          std::span<std::int64_t> counts, const std::atomic<bool>& stop) {
    scan.gather(ids, targets, weights, stop);
    scan.rewind();
    scan.move_left(i);
    { fixed.score() } -> std::same_as<double>;  // minus the impurity of both sides, and a constant
    { fixed.left_weight() } -> std::same_as<double>;
    { fixed.total_weight() } -> std::same_as<double>;
    scan.put_on_levels(values, 0.0f, i);
    // Each row on the level that bins[id] says. If there are counts, which are zero, each level's
    // is how many rows it has; an id stands for rows[id] of them, or one if `rows` is empty.
    scan.put_on_levels(ids, bins, i, rows, counts);
    scan.move_level_left(i);
    { fixed.has_level(i) } -> std::same_as<bool>;
    { fixed.numbers_per_level() } -> std::same_as<std::size_t>;
};

template <class L>
concept LossKind = requires(L& loss, const L& fixed, std::size_t row, float weight,
                            const typename L::Summary& node) {
    typename L::Targets;  // Labels or Values
    requires ScanOf<typename L::Scan, typename L::Targets>;

    // Summaries of the rows added since the last one was taken: of a whole node, or of its sides,
    // where the rows added are the right ones. A loss that needs_left() is told the others too.
    loss.add(row, weight);
    loss.add_left(row, weight);
    { fixed.needs_left() } -> std::same_as<bool>;
    { loss.take() } -> std::same_as<typename L::Summary>;
    { loss.take_right_of(node) } -> std::same_as<Sides>;
    { fixed.scan() } -> std::same_as<typename L::Scan>;

    // The impurity is the loss at the best leaf.
    { node.weight } -> std::convertible_to<double>;
    { node.impurity } -> std::convertible_to<double>;
    { node.is_pure() } -> std::same_as<bool>;

    // What a leaf stores.
    { node.values() } -> std::same_as<std::size_t>;
    node.for_each_value([](std::int32_t, double) {});
    { fixed.outputs() } -> std::same_as<std::size_t>;
    { fixed.distributions() } -> std::same_as<bool>;
};

}  // namespace co2
