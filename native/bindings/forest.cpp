// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/interrupt.hpp"
#include "bindings/rows.hpp"
#include "forest/forest.hpp"
#include "forest/importances.hpp"
#include "forest/predict.hpp"

namespace co2 {
namespace {

// Copies and checks the arrays. No other function takes a forest from outside. The weights may stay
// where they are, in an array that the forest then keeps. The digest is that of a pickled forest.
void init_forest(Forest* self, const nb::dict& arrays, std::int64_t n_outputs, bool borrow_weights,
                 std::optional<std::uint64_t> stored_digest, bool distributions) {
    ForestArrays a;
    a.distributions = distributions;
    if (borrow_weights) {
        auto weight = find_array<Bfloat16>(arrays, "forest", "weight");
        a.borrowed.weight = view(weight);
        a.borrowed.keeper = std::make_shared<Array1<Bfloat16>>(std::move(weight));
    }
    for_each_array(a, [&]<class T>(const char* name, std::vector<T>& member) {
        if (!(borrow_weights && std::is_same_v<T, Bfloat16>))
            read_array(arrays, "forest", name, member);
    });
    a.n_outputs = n_outputs;
    if (stored_digest && *stored_digest != digest(a))
        throw std::invalid_argument("the forest's digest is wrong: its arrays are damaged");
    new (self) Forest(std::move(a));
}

// Read-only views that keep the forest alive.
nb::dict forest_arrays(nb::handle_t<Forest> self) {
    nb::dict out;
    const auto& arrays = nb::cast<const Forest&>(self).arrays();
    for_each_view(arrays, [&]<class T>(const char* name, std::span<const T> values) {
        out[name] = nb::ndarray<nb::numpy, const T>(values.data(), {values.size()}, self);
    });
    return out;
}

// pickle, copy and joblib rebuild a forest through its checking constructor.
nb::tuple reduce_forest(nb::handle_t<Forest> self) {
    const Forest& forest = nb::cast<const Forest&>(self);
    const ForestArrays& arrays = forest.arrays();
    return nb::make_tuple(self.type(), nb::make_tuple(forest_arrays(self), forest.n_outputs(),
                                                      false, digest(arrays), arrays.distributions));
}

// Small jobs, of a few milliseconds, would wait for a thread that starts to be watched.
Watch watch_unless_small(const Forest& forest, const RowsHandle& rows) {
    const auto steps = static_cast<double>(rows.count()) * static_cast<double>(forest.n_trees());
    const bool small = steps * static_cast<double>(forest.n_features() + 60) < 2e6;
    return small ? Watch() : make_watch({});
}

void check_features(const Forest& forest, const RowsHandle& rows) {
    if (rows.features() != forest.n_features())
        throw std::invalid_argument("X has " + std::to_string(rows.features()) +
                                    " features, but the forest was trained with " +
                                    std::to_string(forest.n_features()));
}

nb::ndarray<nb::numpy, double> forest_predict(const Forest& forest, const RowsHandle& rows,
                                              std::size_t n_threads) {
    check_features(forest, rows);
    std::vector<double> out(rows.count() * forest.n_outputs());
    {
        const nb::gil_scoped_release release;
        rows.visit(forest.arrays().mean, [&](const auto& r) {
            predict(forest, r, n_threads, watch_unless_small(forest, rows), out.data());
        });
    }
    return to_numpy(std::move(out), {rows.count(), forest.n_outputs()});
}

nb::ndarray<nb::numpy, std::int64_t> forest_apply(const Forest& forest, const RowsHandle& rows,
                                                  std::size_t n_threads) {
    check_features(forest, rows);
    std::vector<std::int64_t> out(rows.count() * forest.n_trees());
    {
        const nb::gil_scoped_release release;
        rows.visit(forest.arrays().mean, [&](const auto& r) {
            apply(forest, r, n_threads, watch_unless_small(forest, rows), out.data());
        });
    }
    return to_numpy(std::move(out), {rows.count(), forest.n_trees()});
}

nb::ndarray<nb::numpy, double> forest_importances(const Forest& forest) {
    return to_numpy(feature_importances(forest), {forest.n_features()});
}

Forest concatenate_forests(const std::vector<const Forest*>& forests) {
    std::vector<const ForestArrays*> parts;
    for (const Forest* forest : forests) parts.push_back(&forest->arrays());
    return Forest(concatenate(parts));
}

Forest tree_of(const Forest& forest, std::size_t tree) {
    if (tree >= forest.n_trees()) throw std::out_of_range("no such tree");
    return Forest(extract_tree(forest.arrays(), tree));
}

}  // namespace

void bind_forest(nb::module_& m) {
    nb::class_<Forest>(m, "Forest")
        .def("__init__", &init_forest, nb::arg("arrays"), nb::arg("n_outputs"),
             nb::arg("borrow_weights") = false, nb::arg("digest") = nb::none(),
             nb::arg("distributions") = true)
        .def("__reduce__", &reduce_forest)
        .def_prop_ro("n_trees", &Forest::n_trees)
        .def_prop_ro("n_features", &Forest::n_features)
        .def_prop_ro("n_outputs", &Forest::n_outputs)
        .def_prop_ro("distributions", [](const Forest& f) { return f.arrays().distributions; })
        .def("arrays", &forest_arrays)
        .def("predict", &forest_predict, nb::arg("rows"), nb::arg("n_threads"))
        .def("apply", &forest_apply, nb::arg("rows"), nb::arg("n_threads"))
        .def("importances", &forest_importances)
        .def("tree", &tree_of, nb::arg("tree"))
        .def_static("concatenate", &concatenate_forests, nb::arg("forests"));
}

}  // namespace co2
