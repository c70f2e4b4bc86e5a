// SPDX-License-Identifier: BSD-3-Clause
#include "train.hpp"

#include <stdexcept>

#include "alike.hpp"
#include "bindings/common.hpp"
#include "bindings/training_data.hpp"
#include "predict.hpp"

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
    check_targets(target, n_outputs, ValueLossKind::kSquared);
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
    nb::enum_<Solver>(m, "Solver")
        .value("cccp", Solver::kCccp)
        .value("auto", Solver::kAuto)
        .value("warm", Solver::kWarm);
    nb::enum_<Scaling>(m, "Scaling")
        .value("standard", Scaling::kStandard)
        .value("soft", Scaling::kSoft)
        .value("minmax", Scaling::kMinMax)
        .value("uniform", Scaling::kGlobal)  // "global" is a keyword of Python
        .value("none", Scaling::kNone);
    nb::enum_<ValueLossKind>(m, "ValueLossKind")
        .value("squared", ValueLossKind::kSquared)
        .value("poisson", ValueLossKind::kPoisson)
        .value("multilabel", ValueLossKind::kMultilabel)
        .value("cost", ValueLossKind::kCost)
        .value("huber", ValueLossKind::kHuber)
        .value("quantile", ValueLossKind::kQuantile);
    nb::class_<ValueLossParams>(m, "ValueLossParams")
        .def(nb::init<>())
        .def_rw("kind", &ValueLossParams::kind)
        .def_rw("level", &ValueLossParams::level)
        .def_rw("cost", &ValueLossParams::cost);
    nb::class_<Co2Params>(m, "Co2Params")
        .def(nb::init<>())
        .def_rw("solver", &Co2Params::solver)
        .def_rw("nu", &Co2Params::nu)
        .def_rw("rate_weights", &Co2Params::rate_weights)
        .def_rw("rate_leaves", &Co2Params::rate_leaves)
        .def_rw("momentum", &Co2Params::momentum)
        .def_rw("batch_size", &Co2Params::batch_size)
        .def_rw("cccp_period", &Co2Params::cccp_period)
        .def_rw("max_iter", &Co2Params::max_iter)
        .def_rw("min_iter", &Co2Params::min_iter)
        .def_rw("tol", &Co2Params::tol)
        .def_rw("max_features", &Co2Params::max_features)
        .def_rw("max_rows", &Co2Params::max_rows)
        .def_rw("ridge_rows", &Co2Params::ridge_rows)
        .def_rw("ridge", &Co2Params::ridge)
        .def_rw("offset", &Co2Params::offset)
        .def_rw("smoothing", &Co2Params::smoothing)
        .def_rw("feature_parts", &Co2Params::feature_parts)
        .def_rw("threshold_bins", &Co2Params::threshold_bins)
        .def_rw("axis_rows", &Co2Params::axis_rows)
        .def_rw("nu_in_user_units", &Co2Params::nu_in_user_units)
        .def_rw("rate_in_user_units", &Co2Params::rate_in_user_units);
    nb::class_<AxisParams>(m, "AxisParams")
        .def(nb::init<>())
        .def_rw("max_features", &AxisParams::max_features);
    nb::class_<TwoProbeParams>(m, "TwoProbeParams")
        .def(nb::init<>())
        .def_rw("n_pairs", &TwoProbeParams::n_pairs);
    nb::class_<CoordinateParams>(m, "CoordinateParams")
        .def(nb::init<>())
        .def_rw("max_features", &CoordinateParams::max_features)
        .def_rw("n_restarts", &CoordinateParams::n_restarts)
        .def_rw("n_jumps", &CoordinateParams::n_jumps)
        .def_rw("shifted_directions", &CoordinateParams::shifted_directions);
    nb::class_<DiscriminantParams>(m, "DiscriminantParams")
        .def(nb::init<>())
        .def_rw("max_features", &DiscriminantParams::max_features)
        .def_rw("shrinkage", &DiscriminantParams::shrinkage);
    nb::class_<GrowParams>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("max_depth", &GrowParams::max_depth)
        .def_rw("min_samples_split", &GrowParams::min_samples_split)
        .def_rw("min_samples_leaf", &GrowParams::min_samples_leaf)
        .def_rw("min_weight_fraction_leaf", &GrowParams::min_weight_fraction_leaf)
        .def_rw("min_impurity_decrease", &GrowParams::min_impurity_decrease)
        .def_rw("max_leaf_nodes", &GrowParams::max_leaf_nodes)
        .def_rw("split", &GrowParams::split);
    nb::class_<RefineParams>(m, "RefineParams")
        .def(nb::init<>())
        .def_rw("passes", &RefineParams::passes)
        .def_rw("max_rows", &RefineParams::max_rows)
        .def_rw("penalty", &RefineParams::penalty)
        .def_rw("newton_steps", &RefineParams::newton_steps)
        .def_rw("gradient_steps", &RefineParams::gradient_steps)
        .def_rw("start_size", &RefineParams::start_size);
    nb::class_<SamplingParams>(m, "SamplingParams")
        .def(nb::init<>())
        .def_rw("bootstrap", &SamplingParams::bootstrap)
        .def_rw("n_draws", &SamplingParams::n_draws)
        .def_rw("balance", &SamplingParams::balance);
    nb::class_<TrainParams>(m, "TrainParams")
        .def(nb::init<>())
        .def_rw("grow", &TrainParams::grow)
        .def_rw("refine", &TrainParams::refine)
        .def_rw("sampling", &TrainParams::sampling)
        .def_rw("scaling", &TrainParams::scaling)
        .def_rw("loss", &TrainParams::loss)
        .def_rw("centre", &TrainParams::centre)
        .def_rw("seed", &TrainParams::seed)
        .def_rw("first_tree", &TrainParams::first_tree)
        .def_rw("n_trees", &TrainParams::n_trees)
        .def_rw("n_threads", &TrainParams::n_threads);
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
