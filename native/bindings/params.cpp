// SPDX-License-Identifier: BSD-3-Clause
// The parameters of training, by the names that Python sets.
#include "bindings/common.hpp"
#include "train/forest.hpp"

namespace co2 {
namespace {

// The parameters of every split in the list.
template <class... Params>
void bind_splits(nb::module_& m, std::variant<Params...>*) {
    const auto bind = [&]<class P>(nb::class_<P> split) {
        split.def(nb::init<>());
        P::for_each([&](const char* name, auto member) { split.def_rw(name, member); });
    };
    (bind(nb::class_<Params>(m, Params::kName)), ...);
}

}  // namespace

void bind_params(nb::module_& m) {
    nb::enum_<Solver>(m, "Solver")
        .value("ridge", Solver::kRidge)
        .value("warm", Solver::kWarm)
        .value("cccp", Solver::kCccp);
    nb::enum_<Scaling>(m, "Scaling")
        .value("standard", Scaling::kStandard)
        .value("soft", Scaling::kSoft)
        .value("minmax", Scaling::kMinMax)
        .value("uniform", Scaling::kGlobal)  // "global" is a keyword of Python
        .value("none", Scaling::kNone);
    bind_splits(m, static_cast<SplitParams*>(nullptr));
    nb::class_<GrowParams>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("max_depth", &GrowParams::max_depth)
        .def_rw("min_samples_split", &GrowParams::min_samples_split)
        .def_rw("min_samples_leaf", &GrowParams::min_samples_leaf)
        .def_rw("min_weight_fraction_leaf", &GrowParams::min_weight_fraction_leaf)
        .def_rw("min_impurity_decrease", &GrowParams::min_impurity_decrease)
        .def_rw("max_leaf_nodes", &GrowParams::max_leaf_nodes)
        .def_rw("split", &GrowParams::split)
        .def_rw("features", &GrowParams::features);
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
        .def_rw("others", &TrainParams::others)
        .def_rw("kind_of_tree", &TrainParams::kind_of_tree)
        .def_rw("refine", &TrainParams::refine)
        .def_rw("sampling", &TrainParams::sampling)
        .def_rw("scaling", &TrainParams::scaling)
        .def_rw("loss", &TrainParams::loss)
        .def_rw("centre", &TrainParams::centre)
        .def_rw("seed", &TrainParams::seed)
        .def_rw("first_tree", &TrainParams::first_tree)
        .def_rw("n_trees", &TrainParams::n_trees)
        .def_rw("n_threads", &TrainParams::n_threads);
}

}  // namespace co2
