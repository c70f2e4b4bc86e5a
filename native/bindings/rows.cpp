// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "bindings/common.hpp"

namespace co2 {
namespace {

void check_sizes(std::size_t n, std::size_t p) {
    constexpr std::size_t limit = 0x7fffffff;
    if (n > limit) throw std::invalid_argument("X has more than 2^31 - 1 rows");
    if (p > limit) throw std::invalid_argument("X has more than 2^31 - 1 features");
}

template <class T>
RowsHandle dense_rows(const Array2<T>& x) {
    check_sizes(x.shape(0), x.shape(1));
    check_aligned(x);
    return {DenseRows<T>(x.data(), x.shape(0), x.shape(1), nullptr), nb::cast(x)};
}

RowsHandle sparse_rows(const Array1<std::int64_t>& begin, const Array1<std::int32_t>& feature,
                       const Array1<float>& value, std::size_t n_features) {
    const auto offsets = view(begin);
    const auto features = view(feature);
    const auto values = view(value);
    check_sizes(offsets.size(), n_features);
    if (offsets.empty() || offsets.front() != 0 || features.size() != values.size() ||
        offsets.back() != static_cast<std::int64_t>(features.size()))
        throw std::invalid_argument("the index pointers of the sparse matrix do not fit its data");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        if (offsets[i] > offsets[i + 1] ||
            offsets[i + 1] > static_cast<std::int64_t>(features.size()))
            throw std::invalid_argument(
                "the index pointers of the sparse matrix must not decrease");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        for (auto t = static_cast<std::size_t>(offsets[i]);
             t < static_cast<std::size_t>(offsets[i + 1]); ++t) {
            if (features[t] < 0 || static_cast<std::size_t>(features[t]) >= n_features)
                throw std::invalid_argument("a column index of the sparse matrix is out of range");
            if (t > static_cast<std::size_t>(offsets[i]) && features[t - 1] >= features[t])
                throw std::invalid_argument(
                    "the column indices of the sparse matrix must increase within a row");
        }
    return {SparseRows(offsets.data(), features.data(), values.data(), offsets.size() - 1,
                       n_features, nullptr),
            nb::make_tuple(begin, feature, value)};
}

}  // namespace

Watch make_watch(std::function<void(std::size_t)> progress) {
    auto last = std::chrono::steady_clock::now();
    return [progress = std::move(progress), last](std::size_t done) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (now - last < std::chrono::milliseconds(20)) return;
        last = now;
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress) progress(done);
    };
}

void bind_rows(nb::module_& m) {
    nb::class_<RowsHandle>(m, "Rows")
        .def_prop_ro("count", &RowsHandle::count)
        .def_prop_ro("features", &RowsHandle::features);
    m.def("dense_rows", &dense_rows<float>, nb::arg("x").noconvert());
    m.def("dense_rows", &dense_rows<std::uint8_t>, nb::arg("x").noconvert());
    m.def("sparse_rows", &sparse_rows, nb::arg("begin").noconvert(), nb::arg("feature").noconvert(),
          nb::arg("value").noconvert(), nb::arg("n_features"));
}

}  // namespace co2
