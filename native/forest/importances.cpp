// SPDX-License-Identifier: BSD-3-Clause
#include "forest/importances.hpp"

#include <cmath>

namespace co2 {

std::vector<double> feature_importances(const Forest& forest) {
    const ForestArrays& a = forest.arrays();
    std::vector<double> out(forest.n_features(), 0.0), tree_share(forest.n_features());
    const auto impurity = [&](std::size_t i) {
        return static_cast<double>(a.impurity[i]) * a.weighted_count[i];
    };
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        const auto begin = static_cast<std::size_t>(a.tree_begin[tree]);
        if (a.left[begin] < 0) continue;  // nothing but a leaf
        std::fill(tree_share.begin(), tree_share.end(), 0.0);
        double tree_total = 0.0;
        for (std::size_t i = begin; i < static_cast<std::size_t>(a.tree_begin[tree + 1]); ++i) {
            if (a.left[i] < 0) continue;
            const std::size_t left = begin + static_cast<std::size_t>(a.left[i]);
            const double decrease =
                std::max(0.0, impurity(i) - impurity(left) - impurity(left + 1));
            const HyperplaneView h = forest.hyperplane(i);
            const auto feature = [&](std::size_t t) {
                return h.is_dense() ? t : static_cast<std::size_t>(h.feature[t]);
            };
            const auto strength = [&](std::size_t t) {
                return std::abs(static_cast<double>(widen(h.weight[t]))) * a.spread[feature(t)];
            };
            double total = 0.0;
            for (std::size_t t = 0; t < h.weight.size(); ++t) total += strength(t);
            if (!(total > 0.0)) continue;
            tree_total += decrease;
            for (std::size_t t = 0; t < h.weight.size(); ++t)
                tree_share[feature(t)] += decrease * strength(t) / total;
        }
        if (!(tree_total > 0.0)) continue;
        for (std::size_t j = 0; j < out.size(); ++j) out[j] += tree_share[j] / tree_total;
    }
    double total = 0.0;
    for (const double share : out) total += share;
    for (double& share : out) share = total > 0.0 ? share / total : 0.0;
    return out;
}

}  // namespace co2
