// SPDX-License-Identifier: BSD-3-Clause
// What ends a long computation on Ctrl-C. The thread that called from Python waits for the workers
// and runs a Watch (base/stop.hpp) now and then; the exception that Python's signal handler raises
// there stops them.
#pragma once

#include <functional>
#include <optional>

#include "base/stop.hpp"

namespace co2 {

// A callback of Python that is told the number of items done.
using Progress = std::optional<std::function<void(std::size_t)>>;

// Lets Python handle signals, and reports progress, at most every 20 ms.
Watch make_watch(std::function<void(std::size_t)> progress);

}  // namespace co2
