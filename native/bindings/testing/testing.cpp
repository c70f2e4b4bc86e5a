// SPDX-License-Identifier: BSD-3-Clause
// The inner pieces, for the tests. Arrays come in as float32 or float64, as the pieces take them.
#include "bindings/testing/testing.hpp"
#include "grow/partition.hpp"
#include "rows/kinds.hpp"
#include "split/co2/ridge.hpp"

namespace co2 {
namespace {

using Floats = nb::ndarray<nb::numpy, float>;
using Doubles = nb::ndarray<nb::numpy, double>;

// Extended by zeros.
std::vector<float> padded(const Array1<float>& array, std::size_t size) {
    require(array.shape(0) <= size, "an array is too long");
    std::vector<float> out = copy(array);
    out.resize(size, 0.0f);
    return out;
}

Floats to_array(std::vector<float> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

// Rows as a node's sample, without a change of their values.
DenseSample as_sample(const Array2<float>& x) {
    const std::size_t n = x.shape(0), p = x.shape(1);
    const std::vector<float> zeros(p, 0.0f), ones(p, 1.0f);
    const Standardisation identity{zeros, zeros, {}, {}, ones, ones};
    std::vector<RowId> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    DenseSample sample;
    sample.gather(DenseRows<float>(x.data(), n, p, identity.mean.data()), ids, identity);
    return sample;
}

// Kernels.

// A product with weights as they are stored.
template <class T>
float dot(const Array1<T>& x, const Array1<float>& w) {
    require(x.shape(0) == w.shape(0), "x and w must have the same length");
    const T* rows[] = {x.data()};
    std::vector<Bfloat16> stored;
    for (const float weight : view(w)) stored.push_back(narrow(weight));
    const Bfloat16* weights[] = {stored.data()};
    float z;
    dense_dots(rows, weights, x.shape(0), 1, &z);
    return z;
}

float dot_of_floats(const Array1<float>& x, const Array1<float>& w) {
    require(x.shape(0) == w.shape(0), "x and w must have the same length");
    return kernels().dot_f32(x.data(), w.data(), x.shape(0));
}

Floats combine(float a, const Array1<float>& x, float b, const Array1<float>& y) {
    require(x.shape(0) == y.shape(0), "x and y must have the same length");
    const std::size_t stride = round_up_to_lanes(x.shape(0));
    std::vector<float> out = padded(y, stride);
    kernels().combine(a, padded(x, stride).data(), b, out.data(), stride);
    out.resize(y.shape(0));
    return to_array(std::move(out));
}

Floats scores(const Array2<float>& x, const Array1<float>& w, float bias) {
    const DenseSample sample = as_sample(x);
    std::vector<float> z(sample.count());
    sample.scores(0, z.size(), padded(w, sample.stride()).data(), bias, z.data());
    return to_array(std::move(z));
}

Floats accumulate(const Array2<float>& x, const Array1<std::int32_t>& ids, const Array1<float>& a) {
    require(ids.shape(0) == a.shape(0), "ids and a must have the same length");
    for (const std::int32_t i : view(ids))
        require(i >= 0 && static_cast<std::size_t>(i) < x.shape(0), "an id is out of range");
    const DenseSample sample = as_sample(x);
    std::vector<float> g(sample.stride());
    sample.gradient(0, view(ids), a.data(), g);
    g.resize(sample.width());
    return to_array(std::move(g));
}

std::tuple<Floats, Floats, float> momentum_step(const Array1<float>& w, const Array1<float>& v,
                                                const Array1<float>& g, float momentum,
                                                float rate) {
    require(w.shape(0) == v.shape(0) && w.shape(0) == g.shape(0), "lengths must be the same");
    const std::size_t p = w.shape(0), stride = round_up_to_lanes(p);
    std::vector<float> new_w = padded(w, stride), new_v = padded(v, stride);
    const float norm = kernels().momentum_step(new_w.data(), new_v.data(), padded(g, stride).data(),
                                               momentum, rate, stride);
    new_w.resize(p);
    new_v.resize(p);
    return {to_array(std::move(new_w)), to_array(std::move(new_v)), norm};
}

Floats entropy_scan(const Array2<float>& histogram) {
    const std::size_t classes = histogram.shape(0), bins = histogram.shape(1);
    require(bins % kLanes == 0 && bins <= kMaxBins, "bins must be 16, 32, 48 or 64");
    std::vector<float> table(classes * kMaxBins, 0.0f), gain(kMaxBins);
    for (std::size_t c = 0; c < classes; ++c)
        std::copy_n(histogram.data() + c * bins, bins, table.data() + c * kMaxBins);
    kernels().entropy_scan(table.data(), classes, bins, gain.data());
    gain.resize(bins);
    return to_array(std::move(gain));
}

// Leaves.

void init_leaves(LogLossLeaves* self, const Array1<double>& left, const Array1<double>& right,
                 double smoothing) {
    require(left.shape(0) > 0 && left.shape(0) == right.shape(0), "one weight per class");
    new (self) LogLossLeaves();
    self->start(view(left), view(right), smoothing);
}

Doubles leaf_losses(const LogLossLeaves& leaves) {
    std::vector<double> out;
    for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t y = 0; y < leaves.classes(); ++y) out.push_back(leaves.loss(side, y));
    return to_numpy(std::move(out), {2, leaves.classes()});
}

Floats leaf_gap(const LogLossLeaves& leaves) {
    return to_array({leaves.gap(), leaves.gap() + leaves.classes()});
}

void step_leaves(LogLossLeaves& leaves, const Array2<float>& charged, float batch_weight,
                 float momentum, float rate) {
    const std::size_t k = leaves.classes(), stride = leaves.stride();
    require(charged.shape(0) == 2 && charged.shape(1) == k, "charged is 2 x k");
    std::vector<float> padded(2 * stride, 0.0f);
    for (std::size_t side = 0; side < 2; ++side)
        std::copy_n(charged.data() + side * k, k, padded.data() + side * stride);
    leaves.step(padded, batch_weight, momentum, rate);
}

// A node: rows already standardised, labels 0 ... k - 1.

NodeTargets targets_of(const Array2<float>& x, const Array1<std::int32_t>& label,
                       const Array1<float>& weight) {
    NodeTargets out{copy(label), copy(weight), 0};
    require(out.label.size() == x.shape(0) && out.weight.size() == x.shape(0) && x.shape(0) > 0,
            "one label and one weight per row");
    for (const std::int32_t y : out.label) {
        require(y >= 0, "labels must not be negative");
        out.classes = std::max(out.classes, static_cast<std::size_t>(y) + 1);
    }
    for (const float c : out.weight) require(c > 0.0f, "weights must be positive");
    return out;
}

// An axis-aligned start at a given place.
AxisStart start_at(const DenseSample& sample, const NodeTargets& targets, std::size_t column,
                   float cut) {
    require(column < sample.width(), "no such column");
    AxisStart start;
    start.column = column;
    start.cut = cut;
    start.left.assign(targets.classes, 0.0);
    start.right.assign(targets.classes, 0.0);
    for (std::size_t i = 0; i < sample.count(); ++i) {
        start.is_right.push_back(sample.row(i)[column] >= cut);
        (start.is_right[i] ? start.right
                           : start.left)[static_cast<std::size_t>(targets.label[i])] +=
            targets.weight[i];
    }
    return start;
}

// The ids, partitioned, and where the right ones begin.
std::pair<nb::ndarray<nb::numpy, RowId>, std::size_t> partition(const Array1<RowId>& ids,
                                                                const Array1<bool>& right) {
    require(ids.shape(0) == right.shape(0), "ids and right must have the same length");
    std::vector<RowId> out = copy(ids);
    const std::vector<bool> sides(right.data(), right.data() + right.shape(0));
    StablePartition partition;
    const std::size_t n = out.size(), middle = partition(out, sides);
    return {to_numpy(std::move(out), {n}), middle};
}

// Column, cut, class weights of the left and of the right side.
std::optional<std::tuple<std::size_t, float, std::vector<double>, std::vector<double>>> axis_start(
    const Array2<float>& x, const Array1<std::int32_t>& label, const Array1<float>& weight,
    std::int64_t candidates, std::int64_t min_rows, std::uint64_t key) {
    const NodeTargets targets = targets_of(x, label, weight);
    AxisSearch search;
    AxisStart start;
    if (!search.find(as_sample(x), targets, candidates, min_rows, Random(key), start))
        return std::nullopt;
    return std::tuple(start.column, start.cut, start.left, start.right);
}

std::vector<float> weights(const LocalPlane& plane, const DenseSample& sample) {
    return {plane.w.data(), plane.w.data() + sample.width()};
}

// w, bias and the number of steps, from the axis-aligned start at (column, cut).
std::tuple<Floats, float, std::int64_t> optimise(const Array2<float>& x,
                                                 const Array1<std::int32_t>& label,
                                                 const Array1<float>& weight, std::size_t column,
                                                 float cut, const Co2Params& params) {
    const NodeTargets targets = targets_of(x, label, weight);
    const DenseSample sample = as_sample(x);
    SurrogateOptimiser optimiser;
    LocalPlane plane;
    const AxisStart start = start_at(sample, targets, column, cut);
    ClassLeaves leaves;
    leaves.start(targets, start.left, start.right, params);
    start.to_plane(sample.stride(), params, plane);
    optimiser.minimise(sample, leaves, start.is_right, params, kNever, plane);
    return {to_array(weights(plane, sample)), plane.bias, optimiser.iterations()};
}

// w and bias, or nothing if all classes prefer the same leaf. Two classes may do without a start.
std::optional<std::pair<Floats, float>> ridge(const Array2<float>& x,
                                              const Array1<std::int32_t>& label,
                                              const Array1<float>& weight,
                                              std::optional<std::size_t> column,
                                              std::optional<float> cut, const Co2Params& params) {
    const NodeTargets targets = targets_of(x, label, weight);
    const DenseSample sample = as_sample(x);
    RidgeSplit split;
    LocalPlane plane;
    require((column && cut) || targets.classes == 2, "no start although classes are not two");
    const bool solved =
        column && cut
            ? split.fit(sample, targets, start_at(sample, targets, *column, *cut), params, plane)
            : split.fit_two_classes(sample, targets, params, plane);
    if (!solved) return std::nullopt;
    return std::pair(to_array(weights(plane, sample)), plane.bias);
}

// What an optimiser asks of a sample: scores of all rows, sum_i a_i row_i, and all columns.
template <class Sample>
std::tuple<Floats, Floats, Floats> ask(const Sample& sample, const Array1<float>& w, float bias,
                                       const Array1<float>& a) {
    const std::size_t n = sample.count(), width = sample.width();
    require(a.shape(0) == n && w.shape(0) == width, "w or a does not fit the sample");
    std::vector<float> z(n), g(sample.stride()), columns(width * n);
    std::vector<std::int32_t> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    sample.scores(0, n, padded(w, sample.stride()).data(), bias, z.data());
    sample.gradient(0, ids, a.data(), g);
    for (std::size_t t = 0; t < width; ++t) sample.column(t, n, columns.data() + t * n);
    g.resize(width);
    return {to_array(std::move(z)), to_array(std::move(g)),
            to_numpy(std::move(columns), {width, n})};
}

// `kind`: "dense" rows, those of "bytes" as they are, or sparse ones as a "block" or "sparse"
// sample on all columns.
std::tuple<Floats, Floats, Floats> sample(const RowsHandle& handle, const Array1<float>& mean,
                                          const Array1<float>& scale, const Array1<float>& w,
                                          float bias, const Array1<float>& a,
                                          const std::string& kind) {
    require(mean.shape(0) == handle.features() && scale.shape(0) == handle.features(),
            "one mean and one scale per feature");
    const Standardisation standardisation{copy(mean), copy(mean), {}, {}, copy(scale), {}};
    std::vector<RowId> ids(handle.count());
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<Feature> columns(handle.features());
    std::iota(columns.begin(), columns.end(), 0);
    std::optional<std::tuple<Floats, Floats, Floats>> out;
    handle.visit(standardisation.mean, [&]<class Rows>(const Rows& rows) {
        if constexpr (std::is_same_v<Rows, SparseRows>) {
            if (kind == "sparse") {
                SparseSample s;
                s.gather(rows, ids, standardisation, columns, columns);
                out = ask(s, w, bias, a);
            } else if (kind == "block") {
                DenseSample s;
                s.gather(rows, ids, standardisation, columns, columns);
                out = ask(s, w, bias, a);
            }
        } else if (kind == "dense") {
            DenseSample s;
            s.gather(rows, ids, standardisation);
            out = ask(s, w, bias, a);
        } else if constexpr (std::is_same_v<Rows, DenseRows<std::uint8_t>>) {
            if (kind == "bytes") {
                ByteSample s;
                s.gather(rows, ids, standardisation);
                out = ask(s, w, bias, a);
            }
        }
    });
    require(out.has_value(), "these rows do not have that kind of sample");
    return *out;
}

}  // namespace

void bind_testing(nb::module_& m) {
    nb::module_ t = m.def_submodule("testing", "Inner pieces of the core, for its tests.");
    t.def("select_kernels", [](const std::string& name) { return select_kernels(name.c_str()); });
    t.def("report_leaks", [] { nb::set_leak_warnings(true); });
    t.def("kernels", [] { return std::string(kernels().name); });

    t.def("dot", &dot<float>, nb::arg("x").noconvert(), nb::arg("w").noconvert());
    t.def("dot", &dot<std::uint8_t>, nb::arg("x").noconvert(), nb::arg("w").noconvert());
    t.def("dot_of_floats", &dot_of_floats, nb::arg("x"), nb::arg("w"));
    t.def("combine", &combine, nb::arg("a"), nb::arg("x"), nb::arg("b"), nb::arg("y"));
    t.def("scores", &scores, nb::arg("x"), nb::arg("w"), nb::arg("bias"));
    t.def("accumulate", &accumulate, nb::arg("x"), nb::arg("ids"), nb::arg("a"));
    t.def("momentum_step", &momentum_step, nb::arg("w"), nb::arg("v"), nb::arg("g"),
          nb::arg("momentum"), nb::arg("rate"));
    t.def("entropy_scan", &entropy_scan, nb::arg("histogram"));

    t.def("surrogate", &surrogate, nb::arg("z"), nb::arg("loss_left"), nb::arg("loss_right"));
    t.def(
        "entropy_bits", [](const Array1<double>& c) { return entropy_bits(view(c)); },
        nb::arg("class_weight"));
    nb::class_<LogLossLeaves>(t, "LogLossLeaves")
        .def("__init__", &init_leaves, nb::arg("left"), nb::arg("right"), nb::arg("smoothing"))
        .def("losses", &leaf_losses)
        .def("gap", &leaf_gap)
        .def("step", &step_leaves, nb::arg("charged"), nb::arg("batch_weight"), nb::arg("momentum"),
             nb::arg("rate"));

    t.def("partition", &partition, nb::arg("ids"), nb::arg("right"));
    t.def("axis_start", &axis_start, nb::arg("x"), nb::arg("label"), nb::arg("weight"),
          nb::arg("candidates"), nb::arg("min_rows"), nb::arg("key"));
    t.def("optimise", &optimise, nb::arg("x"), nb::arg("label"), nb::arg("weight"),
          nb::arg("column"), nb::arg("cut"), nb::arg("params"));
    t.def("ridge", &ridge, nb::arg("x"), nb::arg("label"), nb::arg("weight"),
          nb::arg("column").none(), nb::arg("cut").none(), nb::arg("params"));
    t.def("sample", &sample, nb::arg("rows"), nb::arg("mean"), nb::arg("scale"), nb::arg("w"),
          nb::arg("bias"), nb::arg("a"), nb::arg("kind"));
    bind_split_testing(t);
    bind_value_testing(t);
    bind_loss_testing(t);
}

}  // namespace co2
