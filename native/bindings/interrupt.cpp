// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/interrupt.hpp"

#include <chrono>

#include "bindings/common.hpp"

namespace co2 {

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

}  // namespace co2
