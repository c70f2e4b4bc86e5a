// SPDX-License-Identifier: BSD-3-Clause
// The pieces that split finders share, for the tests: scans of the losses and the exact searches.
// Targets are labels (the log loss) or rows of numbers (the squared loss); no weights stand for
// ones.
#include <numeric>

#include "bindings/testing/testing.hpp"
#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "split/line_search.hpp"
#include "split/threshold.hpp"

namespace co2 {
namespace {

// All rows are one node.
template <class L>
struct Node {
    using Loss = L;

    std::vector<RowId> ids;
    typename Loss::Targets target;
    Weights weight;
    Loss loss;

    typename Loss::Scan scan() const {
        typename Loss::Scan out = loss.scan();
        out.gather(ids, target, weight, kNever);
        out.rewind();
        return out;
    }
};

std::vector<RowId> ids_of(std::size_t n_rows, const Array1<float>& weight) {
    require(n_rows > 0, "a node has at least one row");
    require(weight.shape(0) == 0 || weight.shape(0) == n_rows, "one weight per row");
    for (const float w : view(weight)) require(w > 0.0f, "weights must be positive");
    std::vector<RowId> ids(n_rows);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

Node<LogLoss> node_of(const Array1<Label>& label, const Array1<float>& weight,
                      const ValueLossParams&) {
    std::size_t classes = 1;
    for (const Label y : view(label)) {
        require(y >= 0, "labels must not be negative");
        classes = std::max(classes, static_cast<std::size_t>(y) + 1);
    }
    const Labels labels(view(label), classes);
    return {ids_of(label.shape(0), weight), labels, view(weight), {labels, classes}};
}

Node<ValuesLoss> node_of(const Array2<float>& values, const Array1<float>& weight,
                         const ValueLossParams& params) {
    check_aligned(values);
    const std::size_t n = values.shape(0), k = values.shape(1);
    require(k > 0, "at least one output");
    const Values targets({values.data(), n * k}, k);
    return {ids_of(n, weight), targets, view(weight), {targets, k, make_value_loss(params, k)}};
}

// The score after each row of the order has gone to the left.
template <class Target>
nb::ndarray<nb::numpy, double> scan_scores(const Target& target, const Array1<float>& weight,
                                           const Array1<std::int32_t>& order,
                                           const ValueLossParams& params) {
    const auto node = node_of(target, weight, params);
    auto scan = node.scan();
    std::vector<double> scores;
    for (const std::int32_t i : view(order)) {
        require(i >= 0 && static_cast<std::size_t>(i) < node.ids.size(), "no such row");
        scan.move_left(static_cast<std::size_t>(i));
        scores.push_back(scan.score());
    }
    const std::size_t n = scores.size();
    return to_numpy(std::move(scores), {n});
}

// Impurity of the node, then weight of the left and of the right side and the impurity of both.
template <class Target>
std::tuple<double, double, double, double> sides(const Target& target, const Array1<float>& weight,
                                                 const Array1<bool>& right,
                                                 const ValueLossParams& params) {
    const auto node = node_of(target, weight, params);
    require(right.shape(0) == node.ids.size(), "one side per row");
    auto loss = node.loss;
    for (std::size_t i = 0; i < node.ids.size(); ++i) loss.add(i, node.weight[i]);
    const auto summary = loss.take();
    for (std::size_t i = 0; i < node.ids.size(); ++i)
        if (view(right)[i])
            loss.add(i, node.weight[i]);
        else if (loss.needs_left())
            loss.add_left(i, node.weight[i]);
    const Sides parts = loss.take_right_of(summary);
    return {summary.impurity, parts.left_weight, parts.right_weight, parts.impurity};
}

// Threshold and score. `count`: how many of the caller's rows each is; empty: one.
template <class Target>
std::optional<std::pair<float, double>> best_cut(const Array1<float>& values, const Target& target,
                                                 const Array1<float>& weight,
                                                 const Array1<std::int32_t>& count,
                                                 std::int64_t min_samples_leaf,
                                                 double min_weight_leaf,
                                                 const ValueLossParams& params) {
    const auto node = node_of(target, weight, params);
    require(values.shape(0) == node.ids.size(), "one value per row");
    require(count.shape(0) == 0 || count.shape(0) == node.ids.size(), "one count per row");
    auto scan = node.scan();
    const NodeRows<decltype(node.target)> rows{
        node.ids,  node.target, node.weight, view(count), min_samples_leaf, min_weight_leaf,
        /*key=*/0, kNever};
    ThresholdSearch<decltype(scan)> search;
    const auto cut = search.find(view(values), rows, scan);
    if (!cut) return std::nullopt;
    return std::pair(cut->threshold, cut->score);
}

// Step along the slopes and score.
std::optional<std::pair<float, double>> line_step(const Array1<float>& values,
                                                  const Array1<float>& slopes,
                                                  const Array1<Label>& label,
                                                  const Array1<float>& weight) {
    const auto node = node_of(label, weight, {});
    require(values.shape(0) == node.ids.size() && slopes.shape(0) == node.ids.size(),
            "one value and one slope per row");
    auto scan = node.scan();
    LineSearch<LogLossScan> search;
    const auto best = search.find(view(values), view(slopes), scan);
    if (!best) return std::nullopt;
    return std::pair(best->step, best->score);
}

// What takes targets, for one type of them.
template <class Target>
void bind_targets(nb::module_& t) {
    t.def("scan_scores", &scan_scores<Target>, nb::arg("target").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("order").noconvert(),
          nb::arg("loss") = ValueLossParams());
    t.def("sides", &sides<Target>, nb::arg("target").noconvert(), nb::arg("weight").noconvert(),
          nb::arg("right").noconvert(), nb::arg("loss") = ValueLossParams());
    t.def("best_cut", &best_cut<Target>, nb::arg("values").noconvert(),
          nb::arg("target").noconvert(), nb::arg("weight").noconvert(),
          nb::arg("count").noconvert(), nb::arg("min_samples_leaf"), nb::arg("min_weight_leaf"),
          nb::arg("loss") = ValueLossParams());
}

}  // namespace

void bind_split_testing(nb::module_& testing) {
    bind_targets<Array1<Label>>(testing);
    bind_targets<Array2<float>>(testing);
    testing.def("line_step", &line_step, nb::arg("values").noconvert(),
                nb::arg("slopes").noconvert(), nb::arg("label").noconvert(),
                nb::arg("weight").noconvert());
}

}  // namespace co2
