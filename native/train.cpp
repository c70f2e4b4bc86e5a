// SPDX-License-Identifier: BSD-3-Clause
#include "train.hpp"

#include <stdexcept>
#include <string>

#include "alike.hpp"
#include "heap.hpp"
#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "split/make_finder.hpp"
#include "train_tree.hpp"

namespace co2 {
namespace {

// What a tree, or all of them, has drawn. Where it is as the caller gave it, nothing is stored.
struct Draw {
    std::vector<float> weight;        // of all training rows, zero where not drawn; empty: as given
    std::vector<std::int32_t> count;  // of all training rows: how many of the caller's it stands
                                      // for; empty: one
};

// Whether all trees draw the same rows.
bool draws_all(std::size_t n_rows, const SamplingParams& sampling) {
    return !sampling.bootstrap && static_cast<std::size_t>(sampling.n_draws) >= n_rows;
}

// n / (k n_c), as scikit-learn's compute_class_weight("balanced") on the drawn rows.
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

// `first` as in DistinctRows.
template <class Targets>
Draw draw_rows(const Targets& target, Weights weight, std::span<const RowId> first,
               std::size_t n_outputs, const TrainParams& params, std::int64_t tree) {
    const std::size_t n = target.size();
    const bool balance = params.sampling.balance;
    if (draws_all(n, params.sampling) && first.empty() && !balance) return {};
    std::vector<std::int32_t> draws = draw_counts(n, params.sampling, params.seed, tree);
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any = any || (draws[i] > 0 && weight[i] > 0.0f);
    if (!any) std::fill(draws.begin(), draws.end(), 1);  // no row with a weight was drawn: take all
    std::vector<double> class_factor;
    if constexpr (std::is_same_v<Targets, Labels>)
        if (balance) class_factor = balanced_factors(target, draws, n_outputs);
    const auto factor = [&](std::size_t i) {
        if constexpr (std::is_same_v<Targets, Labels>)
            return balance ? class_factor[static_cast<std::size_t>(target[i])] : 1.0;
        else
            return 1.0;
    };
    Draw out{std::vector<float>(n, 0.0f), std::vector<std::int32_t>(first.size(), 0)};
    for (std::size_t i = 0; i < n; ++i) {
        if (draws[i] == 0 || weight[i] == 0.0f) continue;
        const auto row = first.empty() ? i : static_cast<std::size_t>(first[i]);
        if (!first.empty()) ++out.count[row];
        out.weight[row] +=
            static_cast<float>(draws[i] * static_cast<double>(weight[i]) * factor(i));
    }
    return out;
}

// Increasing.
std::vector<RowId> rows_with_weight(std::size_t n_rows, Weights weight) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n_rows; ++i) count += weight[i] > 0.0f;
    std::vector<RowId> ids;
    ids.reserve(count);
    for (std::size_t i = 0; i < n_rows; ++i)
        if (weight[i] > 0.0f) ids.push_back(static_cast<RowId>(i));
    return ids;
}

// Which loss targets stand for.
LogLoss loss_of(const Labels& label, std::size_t n_classes, const ValueLossParams&) {
    return {label, n_classes};
}
ValuesLoss loss_of(const Values& values, std::size_t n_outputs, const ValueLossParams& params) {
    return {values, n_outputs, make_value_loss(params, n_outputs)};
}

// What a grower leaves behind, about.
template <class Rows>
std::size_t work_space(const Rows& rows, const SplitParams& split) {
    const auto* co2 = std::get_if<Co2Params>(&split);
    const std::size_t kept = co2 != nullptr ? static_cast<std::size_t>(co2->max_rows) : 0;
    return kept * rows.features();
}

}  // namespace

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

template <class Rows, class Targets>
Training train(const Rows& raw_rows, const Targets& target, Weights weight, std::size_t n_outputs,
               std::vector<float> mean, const TrainParams& params, const Watch& watch) {
    const auto loss = loss_of(target, n_outputs, params.loss);
    using Loss = std::remove_const_t<decltype(loss)>;
    GrowParams grow = params.grow;
    double unit = 1.0;
    DistinctRows distinct = find_distinct(raw_rows, target, weight, watch);
    const Standardisation standardisation =
        standardisation_of(raw_rows, ExplicitWeights(target.size(), weight).all, distinct.typical,
                           std::move(mean), params.scaling, watch, unit);
    to_unit_variance(grow.split, unit);
    const Rows rows = raw_rows.with_mean(standardisation.mean.data());

    const auto n_trees = static_cast<std::size_t>(params.n_trees);
    const auto n_threads = static_cast<std::size_t>(std::max<std::int64_t>(1, params.n_threads));
    std::vector<ForestArrays> trees(n_trees);
    Training out;
    out.statistics.resize(n_trees);
    const auto draw_for = [&](std::int64_t tree) {
        return draw_rows(target, weight, distinct.first, n_outputs, params, tree);
    };
    std::optional<Draw> common;
    if (draws_all(target.size(), params.sampling)) {
        common = draw_for(0);
        distinct.first = {};
    }
    FreedMemory().add(target.size() * sizeof(std::uint64_t));  // at least, by the caller and here
    std::vector<std::unique_ptr<TreeGrower<Rows, Loss>>> growers(std::min(n_threads, n_trees));
    parallel_for(n_trees, growers.size(), watch,
                 [&](std::size_t t, std::size_t thread, const std::atomic<bool>& stop) {
                     auto& grower = growers[thread];
                     if (!grower)
                         grower = std::make_unique<TreeGrower<Rows, Loss>>(
                             rows, loss, grow,
                             make_finder<Rows, Loss>(rows, standardisation, loss, grow.split));
                     const std::int64_t tree = params.first_tree + static_cast<std::int64_t>(t);
                     std::optional<Draw> own;
                     if (!common) own = draw_for(tree);
                     const Draw& draw = common ? *common : *own;
                     const Weights drawn = draw.weight.empty() ? weight : Weights(draw.weight);
                     TreeRows<Targets> sample{rows_with_weight(target.size(), drawn), target, drawn,
                                              draw.count};
                     trees[t] = train_tree(*grower, sample, rows, standardisation, loss, grow,
                                           params, tree, stop, out.statistics[t]);
                     std::size_t freed = bytes_of(trees[t]);  // the same nodes while they grew
                     if (t + growers.size() >= n_trees) {
                         // No tree may be left for this thread; if one is, it makes a new grower.
                         grower.reset();
                         freed += work_space(rows, grow.split);
                     }
                     FreedMemory().add(freed);
                 });
    growers.clear();
    out.forest = concatenate(std::move(trees));
    return out;
}

#define CO2_INSTANTIATE(Rows, Targets)                                                             \
    template Training train(const Rows&, const Targets&, Weights, std::size_t, std::vector<float>, \
                            const TrainParams&, const Watch&)

CO2_INSTANTIATE(DenseRows<float>, Labels);
CO2_INSTANTIATE(DenseRows<std::uint8_t>, Labels);
CO2_INSTANTIATE(SparseRows, Labels);
CO2_INSTANTIATE(DenseRows<float>, Values);
CO2_INSTANTIATE(DenseRows<std::uint8_t>, Values);
CO2_INSTANTIATE(SparseRows, Values);

}  // namespace co2
