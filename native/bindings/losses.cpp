// SPDX-License-Identifier: BSD-3-Clause
// The losses of numbers: what Python must know about each, and how wrong predictions are.
#include "bindings/common.hpp"
#include "loss/value_loss.hpp"

namespace co2 {
namespace {

struct LossOfKind {
    ValueLossKind kind;
    const LossTraits* traits;
};

std::vector<LossOfKind> losses() {
    std::vector<LossOfKind> out;
    for (const LossTraits* traits : all_losses())
        out.push_back({static_cast<ValueLossKind>(out.size()), traits});
    return out;
}

// The error of each row's prediction, in the units of the core.
nb::ndarray<nb::numpy, double> row_losses(const ValueLossParams& params,
                                          const Array2<float>& targets,
                                          const Array2<double>& outputs) {
    const std::size_t n = targets.shape(0), k = targets.shape(1);
    if (outputs.shape(0) != n || outputs.shape(1) != k)
        throw std::invalid_argument("targets and outputs must have the same shape");
    check_aligned(targets);
    check_aligned(outputs);
    const auto loss = make_value_loss(params, k);
    std::vector<double> errors(n);
    for (std::size_t i = 0; i < n; ++i)
        errors[i] = loss->error({outputs.data() + i * k, k}, {targets.data() + i * k, k});
    return to_numpy(std::move(errors), {n});
}

// A trait that Python may read.
template <class T>
auto trait(T LossTraits::* member) {
    return [member](const LossOfKind& loss) { return loss.traits->*member; };
}

}  // namespace

void bind_losses(nb::module_& m) {
    nb::enum_<ValueLossKind> kinds(m, "ValueLossKind");
    for (const LossOfKind& loss : losses()) kinds.value(loss.traits->name, loss.kind);
    nb::class_<ValueLossParams>(m, "ValueLossParams")
        .def(nb::init<>())
        .def_rw("kind", &ValueLossParams::kind)
        .def_rw("level", &ValueLossParams::level)
        .def_rw("cost", &ValueLossParams::cost);
    nb::class_<LossOfKind>(m, "LossTraits")
        .def_ro("kind", &LossOfKind::kind)
        .def_prop_ro("name", trait(&LossTraits::name))
        .def_prop_ro("chosen_by_user", trait(&LossTraits::chosen_by_user))
        .def_prop_ro("level",
                     [](const LossOfKind& loss) -> std::optional<std::string> {
                         if (loss.traits->level == nullptr) return std::nullopt;
                         return loss.traits->level;
                     })
        .def_prop_ro("lowest", trait(&LossTraits::lowest))
        .def_prop_ro("highest", trait(&LossTraits::highest))
        .def_prop_ro("needs_positive", trait(&LossTraits::needs_positive))
        .def_prop_ro("centre", trait(&LossTraits::centre))
        .def_prop_ro("spread", trait(&LossTraits::spread))
        .def_prop_ro("squared_unit", trait(&LossTraits::squared_unit))
        .def_prop_ro("impurity_name", trait(&LossTraits::impurity_name))
        .def_prop_ro("link", trait(&LossTraits::link));
    m.def("losses", &losses);
    m.def("row_losses", &row_losses, nb::arg("loss"), nb::arg("targets").noconvert(),
          nb::arg("outputs").noconvert());
}

}  // namespace co2
