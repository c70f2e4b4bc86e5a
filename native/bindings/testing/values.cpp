// SPDX-License-Identifier: BSD-3-Clause
// The pieces that find splits for numbers, for the tests. Rows are standardised already.
#include <numeric>

#include "bindings/testing/testing.hpp"
#include "split/co2/optimiser.hpp"
#include "split/co2/response_axis.hpp"
#include "split/co2/value_leaves.hpp"
#include "split/linear/ridge_direction.hpp"

namespace co2 {
namespace {

using Floats = nb::ndarray<nb::numpy, float>;

// All rows are one node.
struct ValueNode {
    ValueNode(const Array2<float>& x, const Array2<float>& y, const Array1<float>& w,
              const ValueLossParams& params)
        : ids(x.shape(0)), target({y.data(), y.shape(0) * y.shape(1)}, y.shape(1)), weight(view(w)),
          loss(target, y.shape(1), make_value_loss(params, y.shape(1))) {
        require(x.shape(0) > 0 && x.shape(1) > 0 && y.shape(1) > 0, "rows, features and outputs");
        require(y.shape(0) == x.shape(0) && w.shape(0) == x.shape(0), "one target per row");
        for (const float c : view(w)) require(c > 0.0f, "weights must be positive");
        std::iota(ids.begin(), ids.end(), 0);
        const std::size_t p = x.shape(1);
        const std::vector<float> zeros(p, 0.0f), ones(p, 1.0f);
        const Standardisation identity{zeros, zeros, {}, {}, ones, ones};
        sample.gather(DenseRows<float>(x.data(), x.shape(0), p, zeros.data()), ids, identity);
    }

    std::vector<RowId> ids;
    Values target;
    Weights weight;
    ValuesLoss loss;
    DenseSample sample;
};

// The responses of each row and output, and the one number per row that a direction is fitted to.
std::pair<Floats, Floats> responses(const Array2<float>& x, const Array2<float>& y,
                                    const Array1<float>& weight, const ValueLossParams& loss) {
    const ValueNode node(x, y, weight, loss);
    Responses found(node.loss);
    found.gather(node.ids, node.target, node.weight, kNever);
    const std::size_t n = node.ids.size(), k = found.outputs();
    std::vector<float> all(found.of_row(0), found.of_row(0) + n * k);
    const auto component = found.main_component(kNever);
    return {to_numpy(std::move(all), {n, k}),
            to_numpy(std::vector<float>(component.begin(), component.end()), {n})};
}

// The column of the best axis-aligned split.
std::optional<std::size_t> response_axis(const Array2<float>& x, const Array2<float>& y,
                                         const Array1<float>& weight, std::int64_t candidates,
                                         std::uint64_t key, const ValueLossParams& loss) {
    const ValueNode node(x, y, weight, loss);
    Responses found(node.loss);
    found.gather(node.ids, node.target, node.weight, kNever);
    ResponseAxisSearch search;
    return search.find(node.sample, found, candidates, x.shape(0), Random(key), kNever);
}

std::optional<Floats> ridge_direction(const Array2<float>& x, const Array1<float>& target,
                                      const Array1<float>& weight, const Array1<float>& used,
                                      double penalty) {
    require(target.shape(0) == x.shape(0), "one target per row");
    require(used.shape(0) == 0 || used.shape(0) == x.shape(1), "one entry per column");
    const std::vector<float> nothing(x.shape(0), 0.0f);
    const Array2<float> y(nothing.data(), {x.shape(0), 1});
    const ValueNode node(x, y, weight, {});
    RidgeDirection ridge;
    AlignedFloats w;
    if (!ridge.fit(node.sample, view(target), view(weight), view(used), penalty, w))
        return std::nullopt;
    const std::size_t p = x.shape(1);
    return to_numpy(std::vector<float>(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(p)), {p});
}

// w, bias and the number of steps, from a plane.
std::tuple<Floats, float, std::int64_t> optimise_values(
    const Array2<float>& x, const Array2<float>& y, const Array1<float>& weight,
    const Array1<float>& w, float bias, const Co2Params& params, const ValueLossParams& loss) {
    const ValueNode node(x, y, weight, loss);
    require(w.shape(0) == x.shape(1), "one weight per column");
    LocalPlane plane;
    plane.w.assign(node.sample.stride(), 0.0f);
    std::copy_n(w.data(), w.shape(0), plane.w.begin());
    plane.bias = bias;
    std::vector<float> z(node.ids.size());
    node.sample.scores(0, z.size(), plane.w.data(), bias, z.data());
    std::vector<std::uint8_t> is_right;
    for (const float score : z) is_right.push_back(score >= 0.0f);
    ValueLeaves leaves(node.loss);
    require(leaves.start(node.ids, node.target, node.weight, is_right, params, kNever),
            "one target");
    SurrogateOptimiser optimiser;
    optimiser.minimise(node.sample, leaves, is_right, params, kNever, plane);
    const std::size_t p = x.shape(1);
    plane.w.resize(p);
    return {to_numpy(std::vector<float>(plane.w.begin(), plane.w.end()), {p}), plane.bias,
            optimiser.iterations()};
}

}  // namespace

void bind_value_testing(nb::module_& t) {
    const auto loss = nb::arg("loss") = ValueLossParams();
    t.def("responses", &responses, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
          nb::arg("weight").noconvert(), loss);
    t.def("response_axis", &response_axis, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("candidates"), nb::arg("key"), loss);
    t.def("ridge_direction", &ridge_direction, nb::arg("x").noconvert(),
          nb::arg("target").noconvert(), nb::arg("weight").noconvert(), nb::arg("used").noconvert(),
          nb::arg("penalty"));
    t.def("optimise_values", &optimise_values, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("w").noconvert(), nb::arg("bias"),
          nb::arg("params"), loss);
}

}  // namespace co2
