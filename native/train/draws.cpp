// SPDX-License-Identifier: BSD-3-Clause
#include "train/draws.hpp"

#include <stdexcept>
#include <string>

namespace co2 {

std::vector<std::int32_t> draw_counts(std::size_t n_rows, const SamplingParams& params,
                                      std::uint64_t seed, std::int64_t tree, const Watch& watch) {
    if (n_rows == 0 || n_rows > 0x7fffffff || params.n_draws < 1 ||
        static_cast<std::size_t>(params.n_draws) > n_rows)
        throw std::invalid_argument("cannot draw " + std::to_string(params.n_draws) + " of " +
                                    std::to_string(n_rows) + " rows");
    const auto n_draws = static_cast<std::size_t>(params.n_draws);
    if (draws_all(n_rows, params)) return std::vector<std::int32_t>(n_rows, 1);
    std::vector<std::int32_t> counts(n_rows, 0);
    Random random(tree_key(seed, tree, kDraw));
    if (params.bootstrap) {
        for (std::size_t i = 0; i < n_draws; ++i) {
            watch_row(watch, i);
            ++counts[random.below(static_cast<std::uint32_t>(n_rows))];
        }
        return counts;
    }
    // Selection sampling (Knuth, Algorithm S): each set of n_draws rows is equally likely.
    std::size_t wanted = n_draws;
    for (std::size_t i = 0; i < n_rows && wanted > 0; ++i) {
        watch_row(watch, i);
        if (random.below(static_cast<std::uint32_t>(n_rows - i)) < wanted) {
            counts[i] = 1;
            --wanted;
        }
    }
    return counts;
}

std::vector<double> balanced_factors(const Labels& label, std::span<const std::int32_t> draws,
                                     std::size_t n_classes) {
    std::vector<double> factor(n_classes, 1.0), drawn(n_classes, 0.0);
    double total = 0.0, present = 0.0;
    for (std::size_t i = 0; i < label.size(); ++i) {
        drawn[static_cast<std::size_t>(label[i])] += draws[i];
        total += draws[i];
    }
    for (const double c : drawn) present += c > 0.0;
    for (std::size_t y = 0; y < n_classes; ++y)
        if (drawn[y] > 0.0) factor[y] = total / (present * drawn[y]);
    return factor;
}

}  // namespace co2
