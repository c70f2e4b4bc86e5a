// SPDX-License-Identifier: BSD-3-Clause
#include "train/boost.hpp"

#include <limits>
#include <stdexcept>

#include "bindings/training_data.hpp"

namespace co2 {
namespace {

using Losses = std::vector<std::pair<double, double>>;

struct BoostResult {
    std::optional<Forest> forest;  // of the new trees, if any are kept
    std::vector<std::pair<std::int64_t, std::int64_t>> statistics;  // of these trees
    std::vector<double> start;
    Losses training, validation;          // after each round; there may be no rows held out
    std::vector<double> held_out_scores;  // of all rows; NaN where no fold holds a row out
};

Losses to_pairs(const std::vector<BoostLoss>& losses) {
    Losses out;
    for (const BoostLoss& l : losses) out.emplace_back(l.loss, l.second);
    return out;
}

BoostResult result_of(Boosting&& boosted, std::size_t n_rows) {
    BoostResult out;
    const std::size_t k = boosted.start.size();
    out.held_out_scores.assign(n_rows * k, std::numeric_limits<double>::quiet_NaN());
    for (const BoostedFold& fold : boosted.folds) {
        for (std::size_t i = 0; i < fold.held_out.size(); ++i)
            std::copy_n(
                fold.held_out_scores.data() + i * k, k,
                out.held_out_scores.data() + static_cast<std::size_t>(fold.held_out[i]) * k);
    }
    out.start = std::move(boosted.start);
    BoostedFold& model = boosted.folds.back();
    out.training = to_pairs(model.training);
    out.validation = to_pairs(boosted.validation);
    for (const GrowStatistics& s : model.statistics) out.statistics.emplace_back(s.steps, s.nodes);
    if (!model.trees.empty()) out.forest.emplace(concatenate(std::move(model.trees)));
    return out;
}

void check_boosting(const RowsHandle& rows, std::int64_t n_outputs,
                    std::span<const std::uint8_t> held_out, const BoostParams& params,
                    const std::optional<BoostedBefore>& before) {
    if (!held_out.empty() && held_out.size() != rows.count())
        throw std::invalid_argument("held_out must have one entry per row");
    if (params.n_folds < 1 || params.n_folds > 255 || (params.n_folds > 1 && !params.refit) ||
        (before && params.refit))
        throw std::invalid_argument("there must be 1 to 255 folds, and one without a refit");
    for (const std::uint8_t fold : held_out)
        if (fold > params.n_folds)
            throw std::invalid_argument("held_out names a fold that does not exist");
    if (params.n_rounds < 1 || params.patience < 0)
        throw std::invalid_argument("there must be rounds, and patience must not be negative");
    if (!(params.subsample > 0.0) || !(params.l2 >= 0.0) || !std::isfinite(params.shrinkage) ||
        !(params.floor > 0.0 && params.floor <= 1.0))
        throw std::invalid_argument("a parameter of boosting is out of range");
    check_features(params.grow.features, rows.features());
    if (!before) return;
    const Forest& forest = before->forest;
    if (forest.n_features() != rows.features() || forest.arrays().distributions ||
        static_cast<std::int64_t>(forest.n_outputs()) != n_outputs ||
        forest.n_outputs() != before->start.size())
        throw std::invalid_argument("the earlier trees do not suit the data");
}

template <class Target>
BoostResult boost_forest(const RowsHandle& rows, const Target& target, const Array1<float>& weight,
                         const Array1<std::uint8_t>& held_out, std::int64_t n_outputs,
                         const BoostParams& params, const Forest* before,
                         const Array1<double>& start, const Progress& progress) {
    check_per_row(rows, target, view(weight));
    check_training(rows, view(weight), {});
    check_targets(target, n_outputs, params.loss.kind);
    std::optional<BoostedBefore> earlier;
    if (before != nullptr) earlier.emplace(BoostedBefore{*before, view(start)});
    check_boosting(rows, n_outputs, view(held_out), params, earlier);
    const Watch watch = make_watch(progress.value_or(nullptr));
    const nb::gil_scoped_release release;
    Boosting boosted;
    rows.visit({}, [&](const auto& r) {
        const auto outputs = static_cast<std::size_t>(n_outputs);
        boosted = boost(r, targets_of(target, outputs), Weights(view(weight)), view(held_out),
                        outputs, before != nullptr ? before->arrays().mean : std::vector<float>(),
                        params, earlier, watch);
    });
    return result_of(std::move(boosted), rows.count());
}

template <class Target>
void bind_targets(nb::module_& m) {
    m.def("boost", &boost_forest<Target>, nb::arg("rows"), nb::arg("target").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("held_out").noconvert(), nb::arg("n_outputs"),
          nb::arg("params"), nb::arg("before").none(), nb::arg("start").noconvert(),
          nb::arg("progress").none() = nb::none());
}

}  // namespace

void bind_boost(nb::module_& m) {
    nb::class_<BoostParams>(m, "BoostParams")
        .def(nb::init<>())
        .def_rw("grow", &BoostParams::grow)
        .def_rw("scaling", &BoostParams::scaling)
        .def_rw("loss", &BoostParams::loss)
        .def_rw("seed", &BoostParams::seed)
        .def_rw("n_rounds", &BoostParams::n_rounds)
        .def_rw("shrinkage", &BoostParams::shrinkage)
        .def_rw("l2", &BoostParams::l2)
        .def_rw("subsample", &BoostParams::subsample)
        .def_rw("on_gradients", &BoostParams::on_gradients)
        .def_rw("floor", &BoostParams::floor)
        .def_rw("patience", &BoostParams::patience)
        .def_rw("tolerance", &BoostParams::tolerance)
        .def_rw("n_folds", &BoostParams::n_folds)
        .def_rw("refit", &BoostParams::refit)
        .def_rw("n_threads", &BoostParams::n_threads);
    nb::class_<BoostResult>(m, "BoostResult")
        .def("take_forest", [](BoostResult& r) { return std::exchange(r.forest, std::nullopt); })
        .def_ro("start", &BoostResult::start)
        .def_ro("training", &BoostResult::training)
        .def_ro("validation", &BoostResult::validation)
        .def("take_held_out_scores",
             [](BoostResult& r) {
                 const std::size_t k = r.start.size(), n = r.held_out_scores.size() / k;
                 return to_numpy(std::move(r.held_out_scores), {n, k});
             })
        .def_ro("statistics", &BoostResult::statistics);
    bind_targets<Array1<std::uint8_t>>(m);
    bind_targets<Array1<Label>>(m);
    bind_targets<Array2<float>>(m);
}

}  // namespace co2
