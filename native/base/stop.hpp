// SPDX-License-Identifier: BSD-3-Clause
// How a long computation is watched and stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace co2 {

// The thread that waits for a computation calls it now and then, with the number of items done.
// What it throws ends the computation and reaches the caller.
using Watch = std::function<void(std::size_t done)>;

// Thrown out of a worker's computation when another thread asked to stop.
struct Stopped {};

inline void throw_if(const std::atomic<bool>& stop) {
    if (stop.load(std::memory_order_relaxed)) throw Stopped{};
}

// For a loop over rows: with thousands of outputs, even a copy of the targets takes long.
inline void throw_if(const std::atomic<bool>& stop, std::size_t row) {
    if (row % 64 == 0) throw_if(stop);
}

// For a loop over rows on the calling thread: watches once every 1024 rows.
inline void watch_row(const Watch& watch, std::size_t row) {
    if (watch && row % 1024 == 1023) watch(0);
}

}  // namespace co2
