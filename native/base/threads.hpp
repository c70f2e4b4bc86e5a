// SPDX-License-Identifier: BSD-3-Clause
// A parallel loop on plain threads that are joined before it returns: nothing is left running, and
// a forked child starts clean (which OpenMP's pools do not allow).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/stop.hpp"

namespace co2 {

// Whether this thread can throw. The first exception of a thread takes memory for the thread's own
// variables, and where there is none glibc ends the process. So this takes it when a thread starts,
// after a larger piece has shown that there is some.
inline bool prepare_to_throw() noexcept {
    void* volatile spare = std::malloc(std::size_t{1} << 14);  // volatile: it must really be asked
    if (spare == nullptr) return false;
    std::free(spare);
    return std::uncaught_exceptions() >= 0;
}

// Calls work(item, thread, stop) for every item in [0, items) on up to `threads` threads. Items are
// handed out in order. The first exception sets `stop` for all and is thrown again here.
template <class Work>
void parallel_for(std::size_t items, std::size_t threads, const Watch& watch, Work&& work) {
    prepare_to_throw();
    std::atomic<bool> stop{false};
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(items, 1));
    if (threads == 1 && !watch) {  // starting a thread takes longer than a small job
        for (std::size_t item = 0; item < items; ++item) work(item, 0, stop);
        return;
    }
    const auto no_memory = std::make_exception_ptr(std::bad_alloc());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable changed;
    std::exception_ptr error;           // guarded by mutex
    std::size_t done = 0, running = 0;  // guarded by mutex

    const auto fail = [&](std::exception_ptr e) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::move(e);
        stop = true;
    };
    const auto run = [&](std::size_t thread) {
        if (!prepare_to_throw()) fail(no_memory);
        try {
            for (std::size_t item; !stop && (item = next++) < items;) {
                work(item, thread, stop);
                const std::lock_guard lock(mutex);
                ++done;
                changed.notify_one();
            }
        } catch (const Stopped&) {
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex);
        --running;
        changed.notify_one();
    };

    std::vector<std::thread> pool;
    const auto start = [&](std::size_t thread) {
        {
            const std::lock_guard lock(mutex);
            ++running;
        }
        try {
            pool.emplace_back(run, thread);
        } catch (const std::exception&) {  // no memory for a stack, or too many threads
            const std::lock_guard lock(mutex);
            --running;
            return false;
        }
        return true;
    };
    try {
        pool.reserve(threads);
        // Fewer threads than asked for only make it slower.
        while (pool.size() < threads && start(pool.size())) {
        }
        // Where the system allows no thread, the caller works itself and watches between items.
        for (std::size_t item = 0; pool.empty() && item < items; ++item) {
            work(item, 0, stop);
            if (watch) watch(item + 1);
        }
        std::unique_lock lock(mutex);
        while (running > 0) {
            changed.wait_for(lock, std::chrono::milliseconds(20));
            if (!watch || error) continue;
            const std::size_t seen = done;
            lock.unlock();
            watch(seen);
            lock.lock();
        }
    } catch (...) {
        fail(std::current_exception());
    }
    for (auto& thread : pool) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace co2
