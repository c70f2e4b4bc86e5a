// SPDX-License-Identifier: BSD-3-Clause
#include "train/forest.hpp"

#include <stdexcept>
#include <string>

#include "base/heap.hpp"
#include "loss/instantiations.hpp"
#include "split/make_finder.hpp"
#include "train/bins.hpp"
#include "train/duplicates.hpp"
#include "train/tree.hpp"

namespace co2 {
namespace {

// In increasing order.
std::vector<RowId> rows_with_weight(std::size_t n_rows, Weights weight) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n_rows; ++i) count += weight[i] > 0.0f;
    std::vector<RowId> ids;
    ids.reserve(count);
    for (std::size_t i = 0; i < n_rows; ++i)
        if (weight[i] > 0.0f) ids.push_back(static_cast<RowId>(i));
    return ids;
}

// The loss that belongs to a kind of targets.
LogLoss loss_of(const Labels& label, std::size_t n_classes, const ValueLossParams&) {
    return {label, n_classes};
}
ValuesLoss loss_of(const Values& values, std::size_t n_outputs, const ValueLossParams& params) {
    return {values, n_outputs, make_value_loss(params, n_outputs)};
}

std::vector<GrowParams> kinds_of(const TrainParams& params, std::size_t n_features) {
    std::vector<GrowParams> kinds{params.grow};
    kinds.insert(kinds.end(), params.others.begin(), params.others.end());
    if (!params.kind_of_tree.empty() &&
        params.kind_of_tree.size() != static_cast<std::size_t>(params.n_trees))
        throw std::invalid_argument("kind_of_tree must have one entry per tree");
    for (const std::int32_t k : params.kind_of_tree)
        if (k < 0 || static_cast<std::size_t>(k) >= kinds.size())
            throw std::invalid_argument("kind_of_tree names a kind that does not exist");
    for (const GrowParams& kind : kinds) check_features(kind.features, n_features);
    return kinds;
}

// About how much memory a grower frees.
template <class Rows>
std::size_t work_space(const Rows& rows, const SplitParams& split) {
    const auto* co2 = std::get_if<Co2Params>(&split);
    const std::size_t kept = co2 != nullptr ? static_cast<std::size_t>(co2->max_rows) : 0;
    return kept * rows.features();
}

}  // namespace

template <TableKind Rows, class Targets>
Training train(const Rows& raw_rows, const Targets& target, Weights weight, std::size_t n_outputs,
               std::vector<float> mean, const TrainParams& params, const Watch& watch) {
    const auto loss = loss_of(target, n_outputs, params.loss);
    using Loss = std::remove_const_t<decltype(loss)>;
    std::vector<GrowParams> kinds = kinds_of(params, raw_rows.features());
    double unit = 1.0;
    DistinctRows distinct = find_distinct(raw_rows, target, weight, watch);
    const Standardisation standardisation =
        standardisation_of(raw_rows, ExplicitWeights(target.size(), weight).all, distinct.typical,
                           std::move(mean), params.scaling, watch, unit);
    std::vector<Standardisation> of_kind;
    for (GrowParams& kind : kinds) {
        to_unit_variance(kind.split, unit);
        of_kind.push_back(standardisation.of(kind.features));
    }
    const Rows rows = raw_rows.with_mean(standardisation.mean.data());

    const auto n_trees = static_cast<std::size_t>(params.n_trees);
    const auto n_threads = static_cast<std::size_t>(std::max<std::int64_t>(1, params.n_threads));
    const auto binned = bins_for(std::span<const GrowParams>(kinds), rows, weight, distinct.first,
                                 n_threads, watch);
    std::vector<ForestArrays> trees(n_trees);
    Training out;
    out.statistics.resize(n_trees);
    const auto draw_for = [&](std::int64_t tree) {
        return draw_rows(target, weight, distinct.first, n_outputs, params.sampling, params.seed,
                         tree);
    };
    std::optional<Draw> common;
    if (draws_all(target.size(), params.sampling)) {
        common = draw_for(0);
        distinct.first = {};
    }
    FreedMemory freed;
    freed.add(target.size() * sizeof(std::uint64_t));  // at least, by the caller and here
    using Growers = std::vector<std::unique_ptr<TreeGrower<Rows, Loss>>>;  // one for each kind
    std::vector<Growers> growers(std::min(n_threads, n_trees));
    parallel_for(n_trees, growers.size(), watch,
                 [&](std::size_t t, std::size_t thread, const std::atomic<bool>& stop) {
                     const std::size_t k = params.kind_of_tree.empty()
                                               ? 0
                                               : static_cast<std::size_t>(params.kind_of_tree[t]);
                     const GrowParams& grow = kinds[k];
                     growers[thread].resize(kinds.size());
                     auto& grower = growers[thread][k];
                     if (!grower)
                         grower = std::make_unique<TreeGrower<Rows, Loss>>(
                             rows, loss, grow,
                             make_finder<Rows, Loss>(rows, of_kind[k], loss, grow.split,
                                                     binned ? &*binned : nullptr));
                     const std::int64_t tree = params.first_tree + static_cast<std::int64_t>(t);
                     std::optional<Draw> own;
                     if (!common) own = draw_for(tree);
                     const Draw& draw = common ? *common : *own;
                     const Weights drawn = draw.weight.empty() ? weight : Weights(draw.weight);
                     TreeRows<Targets> sample{rows_with_weight(target.size(), drawn), target, drawn,
                                              draw.count};
                     trees[t] = train_tree(*grower, sample, rows, of_kind[k], loss, grow, params,
                                           tree, stop, out.statistics[t]);
                     std::size_t bytes = bytes_of(trees[t]);  // the same nodes while they grew
                     if (t + growers.size() >= n_trees) {
                         // No tree may be left for this thread; if one is, it makes a new grower.
                         growers[thread].clear();
                         for (const GrowParams& kind : kinds) bytes += work_space(rows, kind.split);
                     }
                     freed.add(bytes);
                 });
    growers.clear();
    out.forest = concatenate(std::move(trees));
    return out;
}

#define INSTANTIATE(Rows, Targets)                                                                 \
    template Training train(const Rows&, const Targets&, Weights, std::size_t, std::vector<float>, \
                            const TrainParams&, const Watch&);
CO2_TABLES_AND_TARGETS

}  // namespace co2
