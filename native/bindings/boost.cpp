// SPDX-License-Identifier: BSD-3-Clause
#include "train/boost.hpp"

#include <stdexcept>

#include "bindings/training_data.hpp"

namespace co2 {
namespace {

using Losses = std::vector<std::pair<double, double>>;

struct BoostResult {
    std::optional<Forest> forest;  // of the new trees, if any are kept
    std::vector<double> start;
    Losses training, validation;
    std::vector<std::pair<std::int64_t, std::int64_t>> statistics;
};

Losses to_pairs(const std::vector<BoostLoss>& losses) {
    Losses out;
    for (const BoostLoss& l : losses) out.emplace_back(l.loss, l.second);
    return out;
}

void check_boosting(const RowsHandle& rows, std::int64_t n_outputs,
                    std::span<const std::uint8_t> validation, const BoostParams& params,
                    const Forest* before, std::span<const double> start) {
    if (!validation.empty() && validation.size() != rows.count())
        throw std::invalid_argument("validation must have one entry per row");
    if (params.n_rounds < 1 || params.patience < 0)
        throw std::invalid_argument("there must be rounds, and patience must not be negative");
    if (!(params.subsample > 0.0) || !(params.l2 >= 0.0) || !std::isfinite(params.shrinkage) ||
        !(params.floor > 0.0 && params.floor <= 1.0))
        throw std::invalid_argument("a parameter of boosting is out of range");
    if (before == nullptr) return;
    if (before->n_features() != rows.features() || before->arrays().distributions ||
        static_cast<std::int64_t>(before->n_outputs()) != n_outputs ||
        before->n_outputs() != start.size())
        throw std::invalid_argument("the earlier trees do not suit the data");
}

template <class Target>
BoostResult boost_forest(const RowsHandle& rows, const Target& target, const Array1<float>& weight,
                         const Array1<std::uint8_t>& validation, std::int64_t n_outputs,
                         const BoostParams& params, const Forest* before,
                         const Array1<double>& start, const Progress& progress) {
    check_per_row(rows, target, view(weight));
    check_training(rows, view(weight), {});
    check_targets(target, n_outputs, params.loss.kind);
    check_boosting(rows, n_outputs, view(validation), params, before, view(start));
    Boosting result;
    std::optional<Forest> forest;
    {
        const Watch watch = make_watch(progress.value_or(nullptr));
        const nb::gil_scoped_release release;
        std::optional<BoostedBefore> earlier;
        if (before != nullptr) earlier.emplace(BoostedBefore{*before, view(start)});
        rows.visit({}, [&](const auto& r) {
            const auto outputs = static_cast<std::size_t>(n_outputs);
            result =
                boost(r, targets_of(target, outputs), Weights(view(weight)), view(validation),
                      outputs, before != nullptr ? before->arrays().mean : std::vector<float>(),
                      params, earlier, watch);
        });
        if (!result.trees.empty()) forest.emplace(concatenate(std::move(result.trees)));
    }
    BoostResult out{std::move(forest),
                    std::move(result.start),
                    to_pairs(result.training),
                    to_pairs(result.validation),
                    {}};
    for (const GrowStatistics& s : result.statistics) out.statistics.emplace_back(s.steps, s.nodes);
    return out;
}

template <class Target>
void bind_targets(nb::module_& m) {
    m.def("boost", &boost_forest<Target>, nb::arg("rows"), nb::arg("target").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("validation").noconvert(), nb::arg("n_outputs"),
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
        .def_rw("floor", &BoostParams::floor)
        .def_rw("patience", &BoostParams::patience)
        .def_rw("tolerance", &BoostParams::tolerance);
    nb::class_<BoostResult>(m, "BoostResult")
        .def("take_forest", [](BoostResult& r) { return std::exchange(r.forest, std::nullopt); })
        .def_ro("start", &BoostResult::start)
        .def_ro("training", &BoostResult::training)
        .def_ro("validation", &BoostResult::validation)
        .def_ro("statistics", &BoostResult::statistics);
    bind_targets<Array1<std::uint8_t>>(m);
    bind_targets<Array1<Label>>(m);
    bind_targets<Array2<float>>(m);
}

}  // namespace co2
