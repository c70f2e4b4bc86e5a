// SPDX-License-Identifier: BSD-3-Clause
#include "train.hpp"

#include <stdexcept>

#include "alike.hpp"
#include "bindings/common.hpp"
#include "predict.hpp"

namespace co2 {
namespace {

using Statistics = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Progress = std::optional<std::function<void(std::size_t)>>;

template <class L>
void check_training(const RowsHandle& rows, std::span<const L> label, std::span<const float> weight,
                    std::int64_t n_classes, std::span<const float> mean) {
    if (rows.count() == 0 || rows.features() == 0)
        throw std::invalid_argument("training needs at least one row and one feature");
    if (label.size() != rows.count() || !(weight.empty() || weight.size() == rows.count()))
        throw std::invalid_argument("label and weight must have one entry per row");
    if (!mean.empty() && mean.size() != rows.features())
        throw std::invalid_argument("mean must have one entry per feature");
    bool any = weight.empty();
    for (const float w : weight) {
        if (!(w >= 0.0f) || !std::isfinite(w))
            throw std::invalid_argument("weights must be finite and not negative");
        any = any || w > 0.0f;
    }
    if (!any) throw std::invalid_argument("at least one weight must be positive");
    for (const L y : label)
        if (y < 0 || y >= n_classes) throw std::invalid_argument("a label is out of range");
}

// L: of a label, as in Labels. No weights stand for ones.
template <class L>
std::pair<Forest, Statistics> train_forest(const RowsHandle& rows, const Array1<L>& label,
                                           const Array1<float>& weight, std::int64_t n_classes,
                                           const Array1<float>& mean, const TrainParams& params,
                                           const Progress& progress) {
    check_training(rows, view(label), view(weight), n_classes, view(mean));
    const auto means = view(mean);
    Training training;
    {
        const Watch watch = make_watch(progress.value_or(nullptr));
        const nb::gil_scoped_release release;
        rows.visit({}, [&](const auto& r) {
            const auto classes = static_cast<std::size_t>(n_classes);
            training = train(r, Labels(view(label), classes), Weights(view(weight)), classes,
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

template <class L>
std::pair<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, float>> sample_rows(
    const RowsHandle& rows, const Array1<L>& label, const Array1<float>& weight, std::uint64_t seed,
    std::size_t most) {
    if (label.shape(0) != rows.count() ||
        !(weight.shape(0) == 0 || weight.shape(0) == rows.count()))
        throw std::invalid_argument("label and weight must have one entry per row");
    constexpr auto any = static_cast<std::size_t>(std::numeric_limits<Label>::max());
    KeySample sample;
    {
        const Watch watch = make_watch({});
        const nb::gil_scoped_release release;
        rows.visit({}, [&](const auto& r) {
            sample = sample_by_key(r, Labels(view(label), any), Weights(view(weight)), seed, most,
                                   watch);
        });
    }
    const std::size_t n = sample.row.size();
    return {to_numpy(std::move(sample.row), {n}), to_numpy(std::move(sample.weight), {n})};
}

// What takes labels, for one type of them.
template <class L>
void bind_labelled(nb::module_& m) {
    m.def("train", &train_forest<L>, nb::arg("rows"), nb::arg("label").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("n_classes"), nb::arg("mean").noconvert(),
          nb::arg("params"), nb::arg("progress").none() = nb::none());
    m.def("sample_by_key", &sample_rows<L>, nb::arg("rows"), nb::arg("label").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("seed"), nb::arg("most"));
}

}  // namespace

void bind_train(nb::module_& m) {
    nb::enum_<Solver>(m, "Solver").value("cccp", Solver::kCccp).value("auto", Solver::kAuto);
    nb::enum_<Scaling>(m, "Scaling")
        .value("standard", Scaling::kStandard)
        .value("soft", Scaling::kSoft)
        .value("minmax", Scaling::kMinMax)
        .value("uniform", Scaling::kGlobal)  // "global" is a keyword of Python
        .value("none", Scaling::kNone);
    nb::class_<SolverParams>(m, "SolverParams")
        .def(nb::init<>())
        .def_rw("solver", &SolverParams::solver)
        .def_rw("nu", &SolverParams::nu)
        .def_rw("rate_weights", &SolverParams::rate_weights)
        .def_rw("rate_leaves", &SolverParams::rate_leaves)
        .def_rw("momentum", &SolverParams::momentum)
        .def_rw("batch_size", &SolverParams::batch_size)
        .def_rw("cccp_period", &SolverParams::cccp_period)
        .def_rw("max_iter", &SolverParams::max_iter)
        .def_rw("min_iter", &SolverParams::min_iter)
        .def_rw("tol", &SolverParams::tol)
        .def_rw("max_features", &SolverParams::max_features)
        .def_rw("max_rows", &SolverParams::max_rows)
        .def_rw("ridge_rows", &SolverParams::ridge_rows)
        .def_rw("ridge", &SolverParams::ridge)
        .def_rw("offset", &SolverParams::offset)
        .def_rw("smoothing", &SolverParams::smoothing)
        .def_rw("nu_in_user_units", &SolverParams::nu_in_user_units)
        .def_rw("rate_in_user_units", &SolverParams::rate_in_user_units);
    nb::class_<GrowParams>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("max_depth", &GrowParams::max_depth)
        .def_rw("min_samples_split", &GrowParams::min_samples_split)
        .def_rw("min_samples_leaf", &GrowParams::min_samples_leaf)
        .def_rw("min_weight_fraction_leaf", &GrowParams::min_weight_fraction_leaf)
        .def_rw("min_impurity_decrease", &GrowParams::min_impurity_decrease)
        .def_rw("max_leaf_nodes", &GrowParams::max_leaf_nodes)
        .def_rw("solver", &GrowParams::solver);
    nb::class_<SamplingParams>(m, "SamplingParams")
        .def(nb::init<>())
        .def_rw("bootstrap", &SamplingParams::bootstrap)
        .def_rw("n_draws", &SamplingParams::n_draws)
        .def_rw("balance", &SamplingParams::balance);
    nb::class_<TrainParams>(m, "TrainParams")
        .def(nb::init<>())
        .def_rw("grow", &TrainParams::grow)
        .def_rw("sampling", &TrainParams::sampling)
        .def_rw("scaling", &TrainParams::scaling)
        .def_rw("seed", &TrainParams::seed)
        .def_rw("first_tree", &TrainParams::first_tree)
        .def_rw("n_trees", &TrainParams::n_trees)
        .def_rw("n_threads", &TrainParams::n_threads);
    bind_labelled<std::uint8_t>(m);
    bind_labelled<Label>(m);
    m.def("feature_ranges", &ranges_of_features, nb::arg("rows"), nb::arg("weight").noconvert());
    m.def("draw_counts", &draws, nb::arg("n_rows"), nb::arg("sampling"), nb::arg("seed"),
          nb::arg("tree"));
    m.def("out_of_bag", &out_of_bag, nb::arg("forest"), nb::arg("rows"), nb::arg("sampling"),
          nb::arg("seed"), nb::arg("n_threads"));
}

}  // namespace co2
