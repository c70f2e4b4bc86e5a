// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/rows.hpp"

namespace co2 {
namespace {

// A kind of rows that lie in one matrix.
template <class Rows>
concept MatrixKind = std::is_constructible_v<Rows, const typename Rows::Element*, std::size_t,
                                             std::size_t, const float*>;

template <MatrixKind Rows>
RowsHandle dense_rows(const Array2<typename Rows::Element>& x) {
    check_sizes(x.shape(0), x.shape(1));
    check_aligned(x);
    return {Rows(x.data(), x.shape(0), x.shape(1), nullptr), nb::cast(x)};
}

// dense_rows() of every such kind.
template <class... Rows>
void bind_matrices(nb::module_& m, std::variant<Rows...>*) {
    const auto bind = [&]<class R>(R*) {
        if constexpr (MatrixKind<R>) m.def("dense_rows", &dense_rows<R>, nb::arg("x").noconvert());
    };
    (bind(static_cast<Rows*>(nullptr)), ...);
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

void bind_rows(nb::module_& m) {
    nb::class_<RowsHandle>(m, "Rows")
        .def_prop_ro("count", &RowsHandle::count)
        .def_prop_ro("features", &RowsHandle::features);
    bind_matrices(m, static_cast<AnyTable*>(nullptr));
    m.def("sparse_rows", &sparse_rows, nb::arg("begin").noconvert(), nb::arg("feature").noconvert(),
          nb::arg("value").noconvert(), nb::arg("n_features"));
}

}  // namespace co2
