// SPDX-License-Identifier: BSD-3-Clause
#include "train/forest.hpp"

#include <stdexcept>

#include "bindings/training_data.hpp"
#include "forest/out_of_bag.hpp"
#include "rows/ranges.hpp"
#include "train/duplicates.hpp"

namespace co2 {
namespace {

using Statistics = std::vector<std::pair<std::int64_t, std::int64_t>>;

// No weights stand for ones.
template <class Target>
std::pair<Forest, Statistics> train_forest(const RowsHandle& rows, const Target& target,
                                           const Array1<float>& weight, std::int64_t n_outputs,
                                           const Array1<float>& mean, const TrainParams& params,
                                           const Progress& progress) {
    check_per_row(rows, target, view(weight));
    check_training(rows, view(weight), view(mean));
    check_targets(target, n_outputs, params.loss.kind);
    const auto means = view(mean);
    Training training;
    {
        const Watch watch = make_watch(progress.value_or(nullptr));
        const nb::gil_scoped_release release;
        rows.visit({}, [&](const auto& r) {
            const auto outputs = static_cast<std::size_t>(n_outputs);
            training = train(r, targets_of(target, outputs), Weights(view(weight)), outputs,
                             std::vector<float>(means.begin(), means.end()), params, watch);
        });
    }
    Statistics statistics;
    for (const GrowStatistics& s : training.statistics) statistics.emplace_back(s.steps, s.nodes);
    return {Forest(std::move(training.forest)), statistics};
}

nb::ndarray<nb::numpy, std::int32_t> draws(std::size_t n_rows, const SamplingParams& params,
                                           std::uint64_t seed, std::int64_t tree) {
    std::vector<std::int32_t> counts;
    {
        const Watch watch = make_watch({});
        const nb::gil_scoped_release release;
        counts = draw_counts(n_rows, params, seed, tree, watch);
    }
    return to_numpy(std::move(counts), {n_rows});
}

std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int64_t>> out_of_bag(
    const Forest& forest, const RowsHandle& rows, const SamplingParams& sampling,
    std::uint64_t seed, std::size_t n_threads) {
    if (rows.features() != forest.n_features())
        throw std::invalid_argument("X does not have the forest's number of features");
    std::vector<double> mean(rows.count() * forest.n_outputs());
    std::vector<std::int64_t> used(rows.count());
    {
        const Watch watch = make_watch({});
        const nb::gil_scoped_release release;
        const auto in_bag = [&](std::size_t tree) {
            return draw_counts(rows.count(), sampling, seed, static_cast<std::int64_t>(tree));
        };
        rows.visit(forest.arrays().mean, [&](const auto& r) {
            predict_out_of_bag(forest, r, n_threads, watch, in_bag, mean.data(), used.data());
        });
    }
    return {to_numpy(std::move(mean), {rows.count(), forest.n_outputs()}),
            to_numpy(std::move(used), {rows.count()})};
}

nb::ndarray<nb::numpy, double> ranges_of_features(const RowsHandle& rows,
                                                  const Array1<float>& weight) {
    if (weight.shape(0) != 0 && weight.shape(0) != rows.count())
        throw std::invalid_argument("weight must have one entry per row");
    std::vector<double> ranges;
    {
        const Watch watch = make_watch({});
        const nb::gil_scoped_release release;
        rows.visit(
            {}, [&](const auto& r) { ranges = feature_ranges(r, Weights(view(weight)), watch); });
    }
    return to_numpy(std::move(ranges), {rows.features()});
}

template <class Target>
std::pair<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, float>> sample_rows(
    const RowsHandle& rows, const Target& target, std::int64_t n_outputs,
    const Array1<float>& weight, std::uint64_t seed, std::size_t most) {
    check_per_row(rows, target, view(weight));
    check_targets(target, n_outputs, ValueLossKind{});
    KeySample sample;
    {
        const Watch watch = make_watch({});
        const nb::gil_scoped_release release;
        rows.visit({}, [&](const auto& r) {
            sample = sample_by_key(r, targets_of(target, static_cast<std::size_t>(n_outputs)),
                                   Weights(view(weight)), seed, most, watch);
        });
    }
    const std::size_t n = sample.row.size();
    return {to_numpy(std::move(sample.row), {n}), to_numpy(std::move(sample.weight), {n})};
}

// What takes targets, for one type of them.
template <class Target>
void bind_targets(nb::module_& m) {
    m.def("train", &train_forest<Target>, nb::arg("rows"), nb::arg("target").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("n_outputs"), nb::arg("mean").noconvert(),
          nb::arg("params"), nb::arg("progress").none() = nb::none());
    m.def("sample_by_key", &sample_rows<Target>, nb::arg("rows"), nb::arg("target").noconvert(),
          nb::arg("n_outputs"), nb::arg("weight").noconvert(), nb::arg("seed"), nb::arg("most"));
}

}  // namespace

void bind_train(nb::module_& m) {
    bind_targets<Array1<std::uint8_t>>(m);
    bind_targets<Array1<Label>>(m);
    bind_targets<Array2<float>>(m);
    m.def("feature_ranges", &ranges_of_features, nb::arg("rows"), nb::arg("weight").noconvert());
    m.def("draw_counts", &draws, nb::arg("n_rows"), nb::arg("sampling"), nb::arg("seed"),
          nb::arg("tree"));
    m.def("out_of_bag", &out_of_bag, nb::arg("forest"), nb::arg("rows"), nb::arg("sampling"),
          nb::arg("seed"), nb::arg("n_threads"));
}

}  // namespace co2
