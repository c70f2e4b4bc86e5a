// SPDX-License-Identifier: BSD-3-Clause
#include "rows/views/views.hpp"

#include "bindings/arrays.hpp"
#include "bindings/rows.hpp"

namespace co2 {
namespace {

// Copies and checks the arrays. The digest is that of pickled views.
void init_views(Views* self, const nb::dict& arrays, std::int64_t n_columns, std::int64_t n_folds,
                std::optional<std::uint64_t> stored_digest) {
    ViewArrays a;
    for_each_array_of_views(
        a, [&](const char* name, auto& member) { read_array(arrays, "views", name, member); });
    Views views(std::move(a), n_columns, n_folds);
    if (stored_digest && *stored_digest != digest(views))
        throw std::invalid_argument("the digest of the views is wrong: their arrays are damaged");
    new (self) Views(std::move(views));
}

// Read-only views that keep the object alive.
nb::dict arrays_of_views(nb::handle_t<Views> self) {
    nb::dict out;
    const auto& arrays = nb::cast<const Views&>(self).arrays();
    for_each_array_of_views(arrays, [&]<class T>(const char* name, const std::vector<T>& values) {
        out[name] = nb::ndarray<nb::numpy, const T>(values.data(), {values.size()}, self);
    });
    return out;
}

nb::tuple reduce_views(nb::handle_t<Views> self) {
    const Views& views = nb::cast<const Views&>(self);
    return nb::make_tuple(self.type(), nb::make_tuple(arrays_of_views(self), views.n_columns(),
                                                      views.n_folds(), digest(views)));
}

// Rows hold no more than what is checked here.
ViewRows rows_seen(const Array2<float>& x, const Views& views, const Array1<std::uint8_t>& folds) {
    check_sizes(x.shape(0), x.shape(1));
    check_aligned(x);
    if (x.shape(1) != views.n_columns())
        throw std::invalid_argument("X has " + std::to_string(x.shape(1)) +
                                    " columns, but the views are of " +
                                    std::to_string(views.n_columns()));
    const auto fold = view(folds);
    if (views.folded() ? fold.size() != x.shape(0) : !fold.empty() && fold.size() != x.shape(0))
        throw std::invalid_argument("X has " + std::to_string(x.shape(0)) +
                                    " rows, but there are " + std::to_string(fold.size()) +
                                    " folds");
    for (const std::uint8_t f : fold)
        if (f >= views.n_folds())
            throw std::invalid_argument("a row is in fold " + std::to_string(f) +
                                        ", but the views have " + std::to_string(views.n_folds()) +
                                        " folds");
    return {views, x.data(), fold.empty() ? nullptr : fold.data(), x.shape(0), nullptr};
}

RowsHandle view_rows(const Array2<float>& x, nb::handle_t<Views> views,
                     const Array1<std::uint8_t>& folds) {
    return {rows_seen(x, nb::cast<const Views&>(views), folds), nb::make_tuple(x, views, folds)};
}

nb::ndarray<nb::numpy, float> expand(const Views& views, const Array2<float>& x,
                                     const Array1<std::uint8_t>& folds) {
    const ViewRows rows = rows_seen(x, views, folds);
    std::vector<float> out;
    {
        const nb::gil_scoped_release release;
        rows.expanded(0, rows.count(), out);
    }
    return to_numpy(std::move(out), {rows.count(), rows.features()});
}

}  // namespace

void bind_views(nb::module_& m) {
    nb::class_<Views>(m, "Views")
        .def("__init__", &init_views, nb::arg("arrays"), nb::arg("n_columns"),
             nb::arg("n_folds") = 0, nb::arg("digest") = nb::none())
        .def("__reduce__", &reduce_views)
        .def_prop_ro("n_columns", &Views::n_columns)
        .def_prop_ro("n_features", &Views::n_features)
        .def_prop_ro("n_folds", &Views::n_folds)
        .def("arrays", &arrays_of_views)
        .def("expand", &expand, nb::arg("x").noconvert(), nb::arg("folds").noconvert());
    m.def("view_rows", &view_rows, nb::arg("x").noconvert(), nb::arg("views"),
          nb::arg("folds").noconvert());
}

}  // namespace co2
