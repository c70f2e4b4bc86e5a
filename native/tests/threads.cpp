// SPDX-License-Identifier: BSD-3-Clause
#include "base/threads.hpp"

#include <stdexcept>
#include <string>

#include "tests/test.hpp"

#ifdef __linux__
#include <dlfcn.h>
#include <pthread.h>

namespace {
std::atomic<int> threads_to_grant{1 << 20};
}

// Stands before the C library's, to run out of threads on demand.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
    if (threads_to_grant.fetch_sub(1) <= 0) return EAGAIN;
    static const auto next =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return next(thread, attributes, run, argument);
}
#endif

namespace co2 {
namespace {

using Stop = std::atomic<bool>;

// Waits until another thread asks to stop.
[[noreturn]] void work_on(const Stop& stop) {
    for (;;) {
        throw_if(stop);
        std::this_thread::yield();
    }
}

const Test every_item_once("every item is done once", [] {
    for (const Watch& watch : {Watch(), Watch([](std::size_t) {})})
        for (const std::size_t threads : {0u, 1u, 2u, 7u, 40u})
            for (const std::size_t items : {0u, 1u, 5u, 300u}) {
                std::vector<std::atomic<int>> times(items);
                parallel_for(items, threads, watch,
                             [&](std::size_t item, std::size_t thread, const Stop&) {
                                 ++times[item];
                                 CHECK(thread < std::max<std::size_t>(threads, 1));
                             });
                for (const auto& t : times) CHECK(t == 1);
            }
});

const Test exception("an exception of a worker stops the others and reaches the caller", [] {
    constexpr std::size_t threads = 4;
    std::atomic<std::size_t> begun{0}, ended{0};
    struct Count {
        std::atomic<std::size_t>& ended;
        ~Count() { ++ended; }
    };
    CHECK_THROWS(
        std::runtime_error, "of item 3",
        parallel_for(1000, threads, {}, [&](std::size_t item, std::size_t, const Stop& stop) {
            const Count count{ended};
            ++begun;
            while (begun < threads) std::this_thread::yield();
            if (item == 3) throw std::runtime_error("of item 3");
            work_on(stop);
        }));
    CHECK(begun == threads);  // no other item was begun
    CHECK(ended == threads);  // and nothing runs on
});

const Test one_exception("of several exceptions one reaches the caller", [] {
    std::atomic<int> thrown{0};
    CHECK_THROWS(std::runtime_error, "item",
                 parallel_for(8, 8, {}, [&](std::size_t item, std::size_t, const Stop&) {
                     ++thrown;
                     while (thrown < 8) std::this_thread::yield();
                     throw std::runtime_error("item " + std::to_string(item));
                 }));
});

const Test not_an_exception("what is thrown need not be a std::exception", [] {
    int caught = 0;
    try {
        parallel_for(3, 3, {}, [](std::size_t, std::size_t, const Stop&) { throw 7; });
    } catch (int thrown) {
        caught = thrown;
    }
    CHECK(caught == 7);
});

const Test alone("the calling thread alone lets an exception pass, and leaves the rest", [] {
    std::size_t done = 0;
    CHECK_THROWS(std::runtime_error, "second",
                 parallel_for(5, 1, {}, [&](std::size_t item, std::size_t, const Stop&) {
                     if (item == 1) throw std::runtime_error("second");
                     ++done;
                 }));
    CHECK(done == 1);
});

const Test watch_stops("an exception of the watch stops the workers", [] {
    for (const std::size_t threads : {1u, 4u}) {
        std::atomic<std::size_t> ended{0};
        CHECK_THROWS(std::runtime_error, "interrupted",
                     parallel_for(
                         100, threads, [](std::size_t) { throw std::runtime_error("interrupted"); },
                         [&](std::size_t, std::size_t, const Stop& stop) {
                             try {
                                 work_on(stop);
                             } catch (const Stopped&) {
                                 ++ended;
                                 throw;
                             }
                         }));
        CHECK(ended >= 1 && ended <= threads);
    }
});

const Test watch_counts("the watch is called by the waiting thread and sees the items done", [] {
    const auto caller = std::this_thread::get_id();
    std::size_t last = 0, calls = 0;
    parallel_for(
        50, 3,
        [&](std::size_t done) {
            CHECK(std::this_thread::get_id() == caller);
            CHECK(done >= last && done <= 50);
            last = done;
            ++calls;
        },
        [](std::size_t, std::size_t, const Stop&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    CHECK(calls > 0);
});

#ifdef __linux__
const Test few_threads("with fewer threads than asked for all items are done", [] {
    for (const int granted : {1, 2, 5}) {
        std::vector<std::atomic<int>> times(200);
        std::atomic<std::size_t> highest{0};
        threads_to_grant = granted;
        parallel_for(times.size(), 8, {}, [&](std::size_t item, std::size_t thread, const Stop&) {
            ++times[item];
            std::size_t seen = highest;
            while (thread > seen && !highest.compare_exchange_weak(seen, thread)) {
            }
        });
        threads_to_grant = 1 << 20;
        for (const auto& t : times) CHECK(t == 1);
        CHECK(highest < static_cast<std::size_t>(granted));
    }
});

const Test no_thread("without any thread the caller does all items, and watches between them", [] {
    std::vector<std::size_t> done, watched;
    threads_to_grant = 0;
    parallel_for(
        5, 3, [&](std::size_t seen) { watched.push_back(seen); },
        [&](std::size_t item, std::size_t thread, const Stop&) { done.push_back(item + thread); });
    CHECK_THROWS(std::runtime_error, "enough",
                 parallel_for(5, 3, {}, [&](std::size_t item, std::size_t, const Stop&) {
                     if (item == 2) throw std::runtime_error("enough");
                 }));
    threads_to_grant = 1 << 20;
    CHECK((done == std::vector<std::size_t>{0, 1, 2, 3, 4}));
    CHECK((watched == std::vector<std::size_t>{1, 2, 3, 4, 5}));
});
#endif

}  // namespace
}  // namespace co2
