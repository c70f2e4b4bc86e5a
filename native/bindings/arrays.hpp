// SPDX-License-Identifier: BSD-3-Clause
// Arrays by name, as forests and views come from files and pickles.
#pragma once

#include <cstring>
#include <string>

#include "bindings/common.hpp"

namespace co2 {

// `owner` is what the arrays are those of, for messages.
template <class T>
Array1<T> find_array(const nb::dict& arrays, const char* owner, const char* name) {
    const auto called = [&] { return std::string(owner) + " array '" + name + "'"; };
    if (!arrays.contains(name)) throw std::invalid_argument(called() + " is missing");
    Array1<T> array;
    if (!nb::try_cast<Array1<T>>(arrays[name], array, false))
        throw std::invalid_argument(called() +
                                    " has the wrong dtype, order or number of dimensions");
    return array;
}

template <class T>
void read_array(const nb::dict& arrays, const char* owner, const char* name, std::vector<T>& out) {
    // Byte by byte: what another process has sent may begin anywhere.
    const auto array = find_array<T>(arrays, owner, name);
    out.resize(array.shape(0));
    if (!out.empty()) std::memcpy(out.data(), array.data(), out.size() * sizeof(T));
}

}  // namespace co2
