// SPDX-License-Identifier: BSD-3-Clause
#include "train.hpp"

#include <bit>

namespace co2 {
namespace {

// Keys of the random streams of a tree.
enum Purpose : std::uint64_t { kDraw = 0, kGrow = 1 };

std::uint64_t tree_key(std::uint64_t seed, std::int64_t tree, Purpose purpose) {
    return derive_key(derive_key(mix(seed), static_cast<std::uint64_t>(tree)), purpose);
}

// For each row the first row that is alike in features and label. Training sees such rows as one
// with their weight, so that an integer weight and as many repeats give the same forest.
template <class Rows>
std::vector<RowId> first_alike(const Rows& rows, std::span<const Label> label,
                               std::span<const std::uint64_t> keys, const Watch& watch) {
    // Open addressing, at most half full: 8 to 16 bytes per row, where std::unordered_map takes 40.
    constexpr RowId none = -1;
    std::vector<RowId> table(std::bit_ceil(2 * rows.count() + 1), none);
    const std::size_t mask = table.size() - 1;
    std::vector<RowId> first(rows.count());
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        std::size_t place = keys[i] & mask;
        for (; table[place] != none; place = (place + 1) & mask) {
            const auto other = static_cast<std::size_t>(table[place]);
            if (keys[other] == keys[i] && label[other] == label[i] && rows.same(other, i)) break;
        }
        if (table[place] == none) table[place] = static_cast<RowId>(i);
        first[i] = table[place];
    }
    return first;
}

// The distinct rows that trees draw.
struct Draw {
    std::vector<RowId> ids;     // distinct rows with a positive weight, increasing
    std::vector<float> weight;  // of all training rows
    std::vector<std::int32_t>
        count;  // of all training rows: how many of the caller's it stands for
};

// Whether all trees draw the same rows.
bool draws_all(std::size_t n_rows, const SamplingParams& sampling) {
    return !sampling.bootstrap && static_cast<std::size_t>(sampling.n_draws) >= n_rows;
}

Draw draw_rows(std::span<const Label> label, std::span<const float> weight,
               std::span<const RowId> first, std::size_t n_classes, const TrainParams& params,
               std::int64_t tree) {
    const std::size_t n = label.size();
    std::vector<std::int32_t> draws = draw_counts(n, params.sampling, params.seed, tree);
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || (draws[i] > 0 && weight[i] > 0.0f);
    if (!any) std::fill(draws.begin(), draws.end(), 1);  // no row with a weight was drawn: take all
    std::vector<double> class_factor(n_classes, 1.0);
    if (params.sampling.balance) {
        // n / (k n_c), as scikit-learn's compute_class_weight("balanced") on the drawn rows.
        std::vector<double> drawn(n_classes, 0.0);
        double total = 0.0, present = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            drawn[static_cast<std::size_t>(label[i])] += draws[i];
            total += draws[i];
        }
        for (const double c : drawn) present += c > 0.0;
        for (std::size_t y = 0; y < n_classes; ++y)
            if (drawn[y] > 0.0) class_factor[y] = total / (present * drawn[y]);
    }
    Draw out{{}, std::vector<float>(n, 0.0f), std::vector<std::int32_t>(n, 0)};
    for (std::size_t i = 0; i < n; ++i) {
        if (draws[i] == 0 || weight[i] == 0.0f) continue;
        const auto row = static_cast<std::size_t>(first[i]);
        ++out.count[row];
        out.weight[row] += static_cast<float>(draws[i] * static_cast<double>(weight[i]) *
                                              class_factor[static_cast<std::size_t>(label[i])]);
    }
    for (std::size_t i = 0; i < n; ++i)
        if (out.count[i] > 0) out.ids.push_back(static_cast<RowId>(i));
    return out;
}

// The user's numbers hold for rows whose total variance is unit^2; ours is one, so that w grows by
// unit and its step by unit^2.
void to_unit_variance(SolverParams& solver, double unit) {
    if (solver.nu_in_user_units) solver.nu *= unit * unit;
    if (solver.rate_in_user_units) solver.rate_weights *= unit * unit;
}

// About a thousand rows that neither the order of rows nor their repeats can change: those with the
// smallest keys.
std::vector<RowId> typical_rows(std::span<const std::uint64_t> keys, std::span<const RowId> first,
                                std::span<const float> weight) {
    constexpr double wanted = 1000.0;
    double distinct = 0.0;
    const auto counts = [&](std::size_t i) {
        return first[i] == static_cast<RowId>(i) && weight[i] > 0.0f;
    };
    for (std::size_t i = 0; i < keys.size(); ++i) distinct += counts(i);
    const double part = std::min(1.0, wanted / std::max(1.0, distinct));
    std::vector<RowId> out;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (counts(i) && static_cast<double>(keys[i]) * 0x1p-64 <= part)
            out.push_back(static_cast<RowId>(i));
    return out;
}

}  // namespace

std::vector<std::int32_t> draw_counts(std::size_t n_rows, const SamplingParams& params,
                                      std::uint64_t seed, std::int64_t tree) {
    const auto n_draws = static_cast<std::size_t>(params.n_draws);
    if (draws_all(n_rows, params)) return std::vector<std::int32_t>(n_rows, 1);
    std::vector<std::int32_t> counts(n_rows, 0);
    Random random(tree_key(seed, tree, kDraw));
    if (params.bootstrap) {
        for (std::size_t i = 0; i < n_draws; ++i)
            ++counts[random.below(static_cast<std::uint32_t>(n_rows))];
        return counts;
    }
    // Selection sampling (Knuth, Algorithm S): each set of n_draws rows is equally likely.
    std::size_t wanted = n_draws;
    for (std::size_t i = 0; i < n_rows && wanted > 0; ++i)
        if (random.below(static_cast<std::uint32_t>(n_rows - i)) < wanted) {
            counts[i] = 1;
            --wanted;
        }
    return counts;
}

template <class Rows>
Training train(const Rows& raw_rows, std::span<const Label> label, std::span<const float> weight,
               std::size_t n_classes, std::vector<float> mean, const TrainParams& params,
               const Watch& watch) {
    GrowParams grow = params.grow;
    double unit = 1.0;
    std::vector<RowId> first;
    Standardisation standardisation;
    {
        const std::vector<std::uint64_t> keys = row_keys(raw_rows, label, 0, watch);
        first = first_alike(raw_rows, label, keys, watch);
        standardisation = standardisation_of(raw_rows, weight, typical_rows(keys, first, weight),
                                             std::move(mean), params.scaling, watch, unit);
    }
    to_unit_variance(grow.solver, unit);
    const Rows rows = raw_rows.with_mean(standardisation.mean.data());

    const auto n_trees = static_cast<std::size_t>(params.n_trees);
    const auto n_threads = static_cast<std::size_t>(std::max<std::int64_t>(1, params.n_threads));
    std::vector<ForestArrays> trees(n_trees);
    Training out;
    out.statistics.resize(n_trees);
    const auto draw_for = [&](std::int64_t tree) {
        return draw_rows(label, weight, first, n_classes, params, tree);
    };
    std::optional<Draw> common;
    if (draws_all(label.size(), params.sampling)) {
        common = draw_for(0);
        first = {};
    }
    std::vector<std::unique_ptr<TreeGrower<Rows>>> growers(std::min(n_threads, n_trees));
    parallel_for(n_trees, growers.size(), watch,
                 [&](std::size_t t, std::size_t thread, const std::atomic<bool>& stop) {
                     auto& grower = growers[thread];
                     if (!grower)
                         grower = std::make_unique<TreeGrower<Rows>>(rows, standardisation,
                                                                     n_classes, grow);
                     const std::int64_t tree = params.first_tree + static_cast<std::int64_t>(t);
                     std::optional<Draw> own;
                     if (!common) own = draw_for(tree);
                     const Draw& draw = common ? *common : *own;
                     TreeRows sample{draw.ids, label, draw.weight, draw.count};
                     trees[t] = grower->grow(sample, tree_key(params.seed, tree, kGrow), stop);
                     out.statistics[t] = grower->statistics();
                 });
    growers.clear();
    out.forest = concatenate(std::move(trees));
    return out;
}

template Training train(const DenseRows<float>&, std::span<const Label>, std::span<const float>,
                        std::size_t, std::vector<float>, const TrainParams&, const Watch&);
template Training train(const DenseRows<std::uint8_t>&, std::span<const Label>,
                        std::span<const float>, std::size_t, std::vector<float>, const TrainParams&,
                        const Watch&);
template Training train(const SparseRows&, std::span<const Label>, std::span<const float>,
                        std::size_t, std::vector<float>, const TrainParams&, const Watch&);

}  // namespace co2
