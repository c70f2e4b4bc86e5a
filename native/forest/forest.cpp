// SPDX-License-Identifier: BSD-3-Clause
#include "forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/hash.hpp"
#include "base/heap.hpp"

namespace co2 {
namespace {

void require(bool holds, const char* array, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("forest array '") + array + "' " + what);
}

void check_offsets(const std::vector<std::int64_t>& begin, std::size_t count, std::size_t total,
                   const char* name) {
    require(begin.size() == count + 1, name, "has the wrong length");
    require(begin.front() == 0, name, "must start with 0");
    for (std::size_t i = 0; i < count; ++i)
        require(begin[i] <= begin[i + 1], name, "must not decrease");
    require(begin.back() == static_cast<std::int64_t>(total), name,
            "must end with the length of what it points into");
}

template <class T>
void check_finite(const std::vector<T>& values, const char* name) {
    for (const T x : values) require(std::isfinite(x), name, "must be finite");
}

void check_tree(const ForestArrays& a, std::size_t begin, std::size_t end) {
    require(begin < end, "tree_begin", "has an empty tree");
    require(end - begin <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "tree_begin", "has a tree of more than 2^31 - 1 nodes");
    std::int64_t next_child = 1;
    for (std::size_t i = begin; i < end; ++i) {
        if (a.left[i] == -1) continue;
        // Each child has one parent and lies behind it: a path always ends in a leaf.
        require(a.left[i] == next_child, "left", "must list the children in order");
        next_child += 2;
        require(a.left[i] > static_cast<std::int64_t>(i - begin), "left",
                "must point behind its node");
    }
    require(next_child == static_cast<std::int64_t>(end - begin), "left",
            "must give every node but the root one parent");
}

void check_node(const ForestArrays& a, std::size_t i) {
    const auto p = static_cast<std::int64_t>(a.mean.size());
    const std::int64_t weights = a.weight_begin[i + 1] - a.weight_begin[i];
    const std::int64_t features = a.feature_begin[i + 1] - a.feature_begin[i];
    const std::int64_t values = a.value_begin[i + 1] - a.value_begin[i];
    if (a.left[i] == -1) {
        require(weights == 0 && features == 0, "weight_begin", "gives weights to a leaf");
        require(values > 0, "value_begin", "leaves a leaf without values");
    } else {
        require(values == 0, "value_begin", "gives values to an inner node");
        require(weights > 0, "weight_begin", "leaves an inner node without weights");
        require(features == weights || (features == 0 && weights == p), "feature_begin",
                "does not match the number of weights");
    }
    for (std::int64_t t = a.feature_begin[i]; t < a.feature_begin[i + 1]; ++t) {
        const std::int32_t j = a.feature[static_cast<std::size_t>(t)];
        require(j >= 0 && j < p, "feature", "names a feature that does not exist");
        require(t == a.feature_begin[i] || a.feature[static_cast<std::size_t>(t - 1)] < j,
                "feature", "must increase within a node");
    }
    double total = 0.0;
    for (std::int64_t t = a.value_begin[i]; t < a.value_begin[i + 1]; ++t) {
        const auto e = static_cast<std::size_t>(t);
        require(a.value_output[e] >= 0 && a.value_output[e] < a.n_outputs, "value_output",
                "names an output that does not exist");
        require(t == a.value_begin[i] || a.value_output[e - 1] < a.value_output[e], "value_output",
                "must increase within a leaf");
        if (!a.distributions) continue;
        require(a.value[e] >= 0.0f && a.value[e] <= 1.0f, "value", "must be in [0, 1]");
        total += static_cast<double>(a.value[e]);
    }
    if (a.left[i] != -1) return;
    if (a.distributions)
        require(std::abs(total - 1.0) < 1e-4, "value", "must sum to 1 in a leaf");
    else
        require(values == a.n_outputs, "value_begin", "leaves an output of a leaf without a value");
}

}  // namespace

std::uint64_t digest(const ForestArrays& arrays) {
    auto all = static_cast<std::uint64_t>(arrays.n_outputs);
    if (!arrays.distributions) all = mix(all + 1);
    for_each_view(arrays, [&](const char*, auto view) {
        all = mix(all) ^ hash_bytes(view.data(), view.size_bytes());
    });
    return all;
}

void reserve(ForestArrays& a, const ForestSize& size) {
    a.tree_begin.reserve(size.trees + 1);
    for (auto* offsets : {&a.weight_begin, &a.feature_begin, &a.value_begin})
        offsets->reserve(size.nodes + 1);
    for (auto* numbers : {&a.left, &a.sample_count}) numbers->reserve(size.nodes);
    for (auto* numbers : {&a.threshold, &a.impurity}) numbers->reserve(size.nodes);
    a.weighted_count.reserve(size.nodes);
    a.weight.reserve(size.weights);
    a.feature.reserve(size.features);
    a.value.reserve(size.values);
    a.value_output.reserve(size.values);
}

Forest::Forest(ForestArrays arrays) : a_(std::move(arrays)) {
    const std::size_t n = a_.left.size();
    require(a_.n_outputs > 0 && a_.n_outputs <= std::numeric_limits<std::int32_t>::max(),
            "n_outputs", "must be positive");
    require(!a_.mean.empty(), "mean", "must not be empty");
    require(a_.spread.size() == a_.mean.size(), "spread", "has the wrong length");
    require(a_.tree_begin.size() >= 2, "tree_begin", "must hold at least one tree");
    check_offsets(a_.tree_begin, a_.tree_begin.size() - 1, n, "tree_begin");
    require(a_.threshold.size() == n, "threshold", "has the wrong length");
    require(a_.impurity.size() == n, "impurity", "has the wrong length");
    require(a_.weighted_count.size() == n, "weighted_count", "has the wrong length");
    require(a_.sample_count.size() == n, "sample_count", "has the wrong length");
    require(a_.value_output.size() == a_.value.size(), "value_output", "has the wrong length");
    check_offsets(a_.weight_begin, n, a_.weights().size(), "weight_begin");
    check_offsets(a_.feature_begin, n, a_.feature.size(), "feature_begin");
    check_offsets(a_.value_begin, n, a_.value.size(), "value_begin");
    check_finite(a_.threshold, "threshold");
    for (const Bfloat16 w : a_.weights())
        require(std::isfinite(widen(w)), "weight", "must be finite");
    check_finite(a_.value, "value");
    check_finite(a_.impurity, "impurity");
    check_finite(a_.weighted_count, "weighted_count");
    check_finite(a_.mean, "mean");
    check_finite(a_.spread, "spread");
    // Far beyond what training gives, and sums of products cannot overflow.
    for (const float impurity : a_.impurity)
        require(std::abs(impurity) <= 1e30f, "impurity", "must be at most 1e30");
    for (const double c : a_.weighted_count)
        require(c >= 0.0 && c <= 1e250, "weighted_count", "must be in [0, 1e250]");
    for (const std::int32_t c : a_.sample_count)
        require(c >= 0, "sample_count", "must not be negative");
    for (const float s : a_.spread) require(s >= 0.0f, "spread", "must not be negative");
    for (std::size_t t = 0; t + 1 < a_.tree_begin.size(); ++t)
        check_tree(a_, static_cast<std::size_t>(a_.tree_begin[t]),
                   static_cast<std::size_t>(a_.tree_begin[t + 1]));
    for (std::size_t i = 0; i < n; ++i) check_node(a_, i);
    branches_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto weights = slice(a_.weights(), a_.weight_begin, i);
        const bool dense =
            !weights.empty() && slice<Feature>(a_.feature, a_.feature_begin, i).empty();
        branches_.push_back({dense ? weights.data() : nullptr, a_.threshold[i], a_.left[i]});
    }
}

namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, std::int64_t begin, std::int64_t end) {
    to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

// Appends offsets [begin, end) of `from`, shifted so that they go on where `to` ends.
void append_offsets(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from,
                    std::int64_t begin, std::int64_t end) {
    const std::int64_t shift = to.back() - from[static_cast<std::size_t>(begin)];
    for (std::int64_t i = begin + 1; i <= end; ++i)
        to.push_back(from[static_cast<std::size_t>(i)] + shift);
}

ForestArrays empty_like(const ForestArrays& a) {
    ForestArrays out;
    out.tree_begin = out.weight_begin = out.feature_begin = out.value_begin = {0};
    out.mean = a.mean;
    out.spread = a.spread;
    out.n_outputs = a.n_outputs;
    out.distributions = a.distributions;
    return out;
}

void append_trees(ForestArrays& to, const ForestArrays& from, std::size_t first, std::size_t last) {
    const std::int64_t begin = from.tree_begin[first], end = from.tree_begin[last];
    append_offsets(to.tree_begin, from.tree_begin, static_cast<std::int64_t>(first),
                   static_cast<std::int64_t>(last));
    append_offsets(to.weight_begin, from.weight_begin, begin, end);
    append_offsets(to.feature_begin, from.feature_begin, begin, end);
    append_offsets(to.value_begin, from.value_begin, begin, end);
    append(to.left, from.left, begin, end);
    append(to.threshold, from.threshold, begin, end);
    append(to.impurity, from.impurity, begin, end);
    append(to.weighted_count, from.weighted_count, begin, end);
    append(to.sample_count, from.sample_count, begin, end);
    const auto at = [](const std::vector<std::int64_t>& v, std::int64_t i) {
        return v[static_cast<std::size_t>(i)];
    };
    const auto weights = from.weights();
    to.weight.insert(to.weight.end(), weights.begin() + at(from.weight_begin, begin),
                     weights.begin() + at(from.weight_begin, end));
    append(to.feature, from.feature, at(from.feature_begin, begin), at(from.feature_begin, end));
    append(to.value, from.value, at(from.value_begin, begin), at(from.value_begin, end));
    append(to.value_output, from.value_output, at(from.value_begin, begin),
           at(from.value_begin, end));
}

// Calls copied(i) when forest i is not needed any more.
template <class Part, class Copied>
ForestArrays join(std::size_t n, Part&& part, Copied&& copied) {
    if (n == 0) throw std::invalid_argument("no forests to concatenate");
    ForestArrays out = empty_like(part(0));
    ForestSize size;
    for (std::size_t i = 0; i < n; ++i) {
        const ForestArrays& a = part(i);
        if (a.mean != out.mean || a.n_outputs != out.n_outputs ||
            a.distributions != out.distributions)
            throw std::invalid_argument(
                "forests to concatenate must have the same features, means and outputs");
        size.trees += a.tree_begin.size() - 1;
        size.nodes += a.left.size();
        size.weights += a.weights().size();
        size.features += a.feature.size();
        size.values += a.value.size();
    }
    reserve(out, size);
    for (std::size_t i = 0; i < n; ++i) {
        append_trees(out, part(i), 0, part(i).tree_begin.size() - 1);
        copied(i);
    }
    return out;
}

}  // namespace

ForestArrays concatenate(std::span<const ForestArrays* const> parts) {
    return join(
        parts.size(), [&](std::size_t i) -> const ForestArrays& { return *parts[i]; },
        [](std::size_t) {});
}

ForestArrays concatenate(std::vector<ForestArrays> parts) {
    FreedMemory freed;
    return join(
        parts.size(), [&](std::size_t i) -> const ForestArrays& { return parts[i]; },
        [&](std::size_t i) {
            const std::size_t bytes = bytes_of(parts[i]);
            parts[i] = {};
            freed.add(bytes);
        });
}

std::size_t bytes_of(const ForestArrays& a) {
    constexpr std::size_t node = 3 * sizeof(std::int64_t) + sizeof(double) + 4 * sizeof(float);
    return a.left.size() * node + a.weight.size() * sizeof(Bfloat16) +
           (a.feature.size() + 2 * a.value.size()) * sizeof(float);
}

ForestArrays extract_tree(const ForestArrays& forest, std::size_t tree) {
    ForestArrays out = empty_like(forest);
    append_trees(out, forest, tree, tree + 1);
    return out;
}

}  // namespace co2
