// SPDX-License-Identifier: BSD-3-Clause
// What the bindings of inner pieces share. Sizes are checked there, because the pieces trust their
// callers.
#pragma once

#include <atomic>

#include "bindings/rows.hpp"

namespace co2 {

// Tests let all that may take long run to its end.
inline const std::atomic<bool> kNever{false};

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class T>
std::vector<T> copy(const Array1<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

void bind_split_testing(nb::module_& testing);
void bind_value_testing(nb::module_& testing);
void bind_loss_testing(nb::module_& testing);

}  // namespace co2
