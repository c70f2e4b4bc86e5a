// SPDX-License-Identifier: BSD-3-Clause
// Array types of the Python boundary, and what every binding file needs. Arrays are never
// converted: a wrong dtype, order or shape is a TypeError, not a hidden copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

namespace nb = nanobind;

namespace co2 {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// NumPy's arrays may begin in the middle of a number.
template <class Array>
void check_aligned(const Array& array) {
    if (reinterpret_cast<std::uintptr_t>(array.data()) % sizeof(*array.data()) != 0)
        throw std::invalid_argument("an array is not aligned to the size of its numbers");
}

template <class T>
std::span<const T> view(const Array1<T>& array) {
    check_aligned(array);
    return {array.data(), array.shape(0)};
}

// A new NumPy array that owns the vector.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values,
                                   std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

void bind_params(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_views(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_train(nb::module_& m);
void bind_boost(nb::module_& m);
void bind_windows(nb::module_& m);
void bind_testing(nb::module_& m);

}  // namespace co2
