// SPDX-License-Identifier: BSD-3-Clause
// What a row costs at a leaf. For classes this is the squared distance between the leaf's
// probabilities and the vector that is one at the row's class. (The log loss of a class that a leaf
// has not seen is infinite.) The mean of its rows' vectors, which a leaf stores, is the best leaf.
// For numbers it is the loss that the tree was grown with.
//
// A Leaf is what the loss must know about a leaf, LeavesBelow what it knows about all leaves below
// a node.
#pragma once

#include <optional>

#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"

namespace co2 {

template <class Loss>
class LeafLoss;

template <>
class LeafLoss<LogLoss> {
   public:
    using Summary = LogLoss::Summary;

    struct Leaf {
        Label only = -1;        // its class, if it is pure
        double constant = 0.0;  // the loss of a class that does not occur
    };

    struct LeavesBelow {
        std::uint64_t classes = 0;  // bit c % 64 for every class c that occurs
        bool pure = true;           // all leaves are
    };

    LeafLoss(const LogLoss&, Labels label) : label_(label) {}

    static Leaf leaf_of(const Summary& rows) {
        if (rows.is_pure()) return {rows.classes.front().first, 2.0};
        double square = 0.0;
        for (const auto& [y, c] : rows.classes) square += (c / rows.weight) * (c / rows.weight);
        return {-1, 1.0 + square};
    }

    double at(const Leaf& leaf, const Summary& rows, std::size_t row) const {
        const Label y = label_[row];
        if (leaf.only >= 0) return leaf.only == y ? 0.0 : 2.0;
        for (const auto& [label, c] : rows.classes)
            if (label == y) return std::max(0.0, leaf.constant - 2.0 * c / rows.weight);
        return leaf.constant;
    }

    // The loss of all rows of a leaf together.
    static double total(const Summary& rows) {
        return rows.is_pure() ? 0.0 : rows.weight * (2.0 - leaf_of(rows).constant);
    }

    static LeavesBelow leaves_below(const Leaf& leaf) {
        if (leaf.only < 0) return {~std::uint64_t{0}, false};
        return {bit(leaf.only), true};
    }
    static LeavesBelow join(const LeavesBelow& a, const LeavesBelow& b) {
        return {a.classes | b.classes, a.pure && b.pure};
    }

    // The loss of a row at every leaf below a node, if it is the same.
    std::optional<double> certain(const LeavesBelow& below, std::size_t row) const {
        if (!below.pure || (below.classes & bit(label_[row])) != 0) return std::nullopt;
        return 2.0;
    }

   private:
    static std::uint64_t bit(Label y) { return std::uint64_t{1} << (y % 64); }

    Labels label_;
};

template <>
class LeafLoss<ValuesLoss> {
   public:
    using Summary = ValuesLoss::Summary;

    struct Leaf {
        std::vector<double> theta;
    };
    struct LeavesBelow {};

    LeafLoss(const ValuesLoss& loss, Values target) : loss_(loss), target_(target) {}

    Leaf leaf_of(const Summary& rows) const {
        if (!rows.leaf.empty()) return {rows.leaf};
        std::vector<double> mean = rows.sums.sum;
        for (double& m : mean) m /= rows.weight;
        Leaf out{std::vector<double>(mean.size())};
        loss_.of_row().leaf_of_mean(mean, out.theta);
        return out;
    }

    double at(const Leaf& leaf, const Summary&, std::size_t row) const {
        return loss_.of_row().value(leaf.theta, target_[row]);
    }

    static double total(const Summary& rows) { return rows.impurity; }

    static LeavesBelow leaves_below(const Leaf&) { return {}; }
    static LeavesBelow join(const LeavesBelow&, const LeavesBelow&) { return {}; }
    std::optional<double> certain(const LeavesBelow&, std::size_t) const { return std::nullopt; }

   private:
    ValuesLoss loss_;
    Values target_;
};

}  // namespace co2
