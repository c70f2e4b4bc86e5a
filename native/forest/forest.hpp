// SPDX-License-Identifier: BSD-3-Clause
// A forest as flat arrays of fixed-width numbers: what is stored, sent and predicted with.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "rows/hyperplane.hpp"

namespace co2 {

// Nodes of all trees, tree after tree. Within a tree node 0 is the root, children come after their
// parents, and the two children of a node are neighbours. Offsets are absolute, `left` is relative
// to the tree. N nodes, T trees, L leaves.
struct ForestArrays {
    std::vector<std::int64_t> tree_begin;     // T + 1: first node of each tree
    std::vector<std::int32_t> left;           // N: the left child (right = left + 1); -1: a leaf
    std::vector<float> threshold;             // N: right iff <weight, x> >= threshold; 0 at leaves
    std::vector<std::int64_t> weight_begin;   // N + 1: into weight
    std::vector<Bfloat16> weight;             //
    std::vector<std::int64_t> feature_begin;  // N + 1: into feature; as many as weights, or none:
    std::vector<std::int32_t> feature;        //   then the weights are those of all features
    std::vector<std::int64_t> value_begin;    // N + 1: into value; empty for inner nodes
    std::vector<std::int32_t> value_output;   // the output of each value, increasing in a leaf
    std::vector<float> value;                 // its value; outputs not listed have none
    std::vector<float> impurity;         // N: of the training rows: entropy in bits, or variance
    std::vector<double> weighted_count;  // N: weight of the training rows
    std::vector<std::int32_t> sample_count;  // N: number of the training rows
    std::vector<float> mean;                 // p: what a missing value stands for
    std::vector<float> spread;               // p: standard deviation in training
    std::int64_t n_outputs = 0;              // classes, or numbers to predict
    bool distributions = true;               // values are probabilities, with sum one in a leaf

    // Used in place of `weight`, which is nearly all of a large forest: weights that somebody else
    // keeps, such as those of a mapped file. No other array may be borrowed: a weight that changes
    // later gives another prediction, but an index would lead out of the arrays.
    struct {
        std::span<const Bfloat16> weight;
        std::shared_ptr<const void> keeper;
    } borrowed;

    std::span<const Bfloat16> weights() const {
        return borrowed.keeper ? borrowed.weight : std::span<const Bfloat16>(weight);
    }
};

// Calls f(name, member) for every array of a forest: the only list of their names.
template <class Arrays, class F>
void for_each_array(Arrays& a, F&& f) {
    f("tree_begin", a.tree_begin);
    f("left", a.left);
    f("threshold", a.threshold);
    f("weight_begin", a.weight_begin);
    f("weight", a.weight);
    f("feature_begin", a.feature_begin);
    f("feature", a.feature);
    f("value_begin", a.value_begin);
    f("value_output", a.value_output);
    f("value", a.value);
    f("impurity", a.impurity);
    f("weighted_count", a.weighted_count);
    f("sample_count", a.sample_count);
    f("mean", a.mean);
    f("spread", a.spread);
}

// The same as views, the weights wherever they are; no other array has numbers of their type.
template <class F>
void for_each_view(const ForestArrays& a, F&& f) {
    for_each_array(a, [&]<class T>(const char* name, const std::vector<T>& member) {
        if constexpr (std::is_same_v<T, Bfloat16>)
            f(name, a.weights());
        else
            f(name, std::span<const T>(member));
    });
}

// A checksum of all numbers. It detects damage in a pickle, which has no checksum of its own.
std::uint64_t digest(const ForestArrays& arrays);

// How much memory arrays need.
struct ForestSize {
    std::size_t trees = 0, nodes = 0, weights = 0, features = 0, values = 0;
};

// Exact sizes: a vector that grows by itself may take three times the memory while it grows.
void reserve(ForestArrays& arrays, const ForestSize& size);

class Forest {
   public:
    // Checks every invariant above; throws std::invalid_argument that names the array.
    explicit Forest(ForestArrays arrays);
    Forest(Forest&&) = default;  // no copies: branches point into the arrays

    const ForestArrays& arrays() const { return a_; }
    std::size_t n_trees() const { return a_.tree_begin.size() - 1; }
    std::size_t n_features() const { return a_.mean.size(); }
    std::size_t n_outputs() const { return static_cast<std::size_t>(a_.n_outputs); }

    HyperplaneView hyperplane(std::size_t node) const {
        // The common case, from what a walk has read already.
        const Branch& here = branches_[node];
        if (here.weights != nullptr) return {{}, {here.weights, n_features()}, here.threshold};
        return {slice<Feature>(a_.feature, a_.feature_begin, node),
                slice(a_.weights(), a_.weight_begin, node), a_.threshold[node]};
    }

    // What a walk through a tree needs of a node, in one cache line instead of four.
    struct Branch {
        const Bfloat16* weights;  // of all features; null if the node lists its features
        float threshold;
        std::int32_t left;  // as in ForestArrays
    };

    const Branch& branch(std::size_t node) const { return branches_[node]; }

    // Asks for what comes after the branch of a node: its hyperplane, or the values of a leaf.
    void prefetch(std::size_t node) const {
        const Branch& branch = branches_[node];
        if (branch.weights != nullptr) {
            __builtin_prefetch(branch.weights);  // the processor goes on by itself
        } else if (branch.left < 0) {
            __builtin_prefetch(&a_.value_begin[node]);
        } else {
            __builtin_prefetch(&a_.weight_begin[node]);
            __builtin_prefetch(&a_.feature_begin[node]);
        }
    }

    // Adds the values of a leaf to n_outputs() numbers. Distributions are normalised again, because
    // float32 probabilities sum to one only within 1e-7.
    void add_leaf(std::size_t node, double* out) const {
        const auto begin = static_cast<std::size_t>(a_.value_begin[node]),
                   end = static_cast<std::size_t>(a_.value_begin[node + 1]);
        double total = a_.distributions ? 0.0 : 1.0;
        if (a_.distributions)
            for (auto t = begin; t < end; ++t) total += static_cast<double>(a_.value[t]);
        for (auto t = begin; t < end; ++t)
            out[a_.value_output[t]] += static_cast<double>(a_.value[t]) / total;
    }

   private:
    template <class T>
    static std::span<const T> slice(std::span<const T> items,
                                    const std::vector<std::int64_t>& begin, std::size_t node) {
        const auto first = static_cast<std::size_t>(begin[node]);
        return items.subspan(first, static_cast<std::size_t>(begin[node + 1]) - first);
    }

    ForestArrays a_;
    std::vector<Branch> branches_;  // N
};

// Memory that the nodes take.
std::size_t bytes_of(const ForestArrays& arrays);

// The trees of several forests, in order. They must agree on features, outputs and means;
// the spread is the first one's.
ForestArrays concatenate(std::span<const ForestArrays* const> parts);

// The same; frees each forest when it is copied, so that no tree is in memory twice.
ForestArrays concatenate(std::vector<ForestArrays> parts);

// One tree of a forest.
ForestArrays extract_tree(const ForestArrays& forest, std::size_t tree);

}  // namespace co2
