// SPDX-License-Identifier: BSD-3-Clause
// The losses of numbers, for the tests.
#include "bindings/testing/testing.hpp"
#include "loss/value_loss.hpp"

namespace co2 {
namespace {

using Matrix = nb::ndarray<nb::numpy, double>;

std::span<const float> row_of(const Array2<float>& targets, std::size_t i) {
    return {targets.data() + i * targets.shape(1), targets.shape(1)};
}

std::unique_ptr<const ValueLoss> loss_of(const ValueLossParams& params,
                                         const Array2<float>& targets) {
    check_aligned(targets);
    require(targets.shape(0) > 0 && targets.shape(1) > 0, "at least one row and one output");
    return make_value_loss(params, targets.shape(1));
}

// Value, gradient and curvature of each row for one leaf.
std::tuple<Matrix, Matrix, Matrix> loss_at(const Array1<double>& theta,
                                           const Array2<float>& targets,
                                           const ValueLossParams& params) {
    const auto loss = loss_of(params, targets);
    const std::size_t n = targets.shape(0), k = targets.shape(1);
    require(theta.shape(0) == k, "one parameter per output");
    std::vector<double> value(n), gradient(n * k), curvature(n * k);
    for (std::size_t i = 0; i < n; ++i) {
        const auto y = row_of(targets, i);
        value[i] = loss->value(view(theta), y);
        loss->gradient(view(theta), y, {gradient.data() + i * k, k});
        loss->curvature(view(theta), y, {curvature.data() + i * k, k});
    }
    return {to_numpy(std::move(value), {n}), to_numpy(std::move(gradient), {n, k}),
            to_numpy(std::move(curvature), {n, k})};
}

// The parameters of the best leaf of all rows.
Matrix best_leaf(const Array2<float>& targets, const Array1<float>& weight,
                 const ValueLossParams& params) {
    const auto loss = loss_of(params, targets);
    const std::size_t n = targets.shape(0), k = targets.shape(1);
    require(weight.shape(0) == n, "one weight per row");
    std::vector<double> theta(k), mean(k, 0.0);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto w = static_cast<double>(view(weight)[i]);
        require(w > 0.0, "weights must be positive");
        for (std::size_t t = 0; t < k; ++t)
            mean[t] += w * static_cast<double>(row_of(targets, i)[t]);
        total += w;
    }
    for (double& m : mean) m /= total;
    if (loss->of_means())
        loss->leaf_of_mean(mean, theta);
    else
        loss->leaf_of_rows({targets.data(), n * k}, view(weight), theta);
    return to_numpy(std::move(theta), {k});
}

}  // namespace

void bind_loss_testing(nb::module_& testing) {
    testing.def("loss_at", &loss_at, nb::arg("theta").noconvert(), nb::arg("targets").noconvert(),
                nb::arg("loss"));
    testing.def("best_leaf", &best_leaf, nb::arg("targets").noconvert(),
                nb::arg("weight").noconvert(), nb::arg("loss"));
}

}  // namespace co2
