// SPDX-License-Identifier: BSD-3-Clause
// Without memory, at whatever moment: std::bad_alloc, and nothing worse.
#include <atomic>
#include <cstdlib>
#include <new>

#include "forest/importances.hpp"
#include "tests/data.hpp"
#include "tests/test.hpp"

namespace {

// How many allocations succeed; all behind them fail, as in a process that has reached its limit.
constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;
std::atomic<std::int64_t> allocations_left{kUnlimited};

void* allocate(std::size_t size, std::size_t alignment) {
    if (allocations_left.fetch_sub(1) <= 0) throw std::bad_alloc();
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

// In place of the library's, for this program.
void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace co2 {
namespace {

// Whether work() succeeds with this many allocations; otherwise it may throw only std::bad_alloc.
template <class Work>
bool succeeds_with(std::int64_t allocations, Work&& work) {
    allocations_left = allocations;
    bool done = true;
    try {
        work();
    } catch (const std::bad_alloc&) {
        done = false;
    }
    allocations_left = kUnlimited;
    return done;
}

// Fails at every early allocation and at one in thirty later.
template <class Work>
void check_shortage(Work&& work) {
    std::int64_t allocations = 0;
    int failures = 0;
    while (!succeeds_with(allocations, work)) {
        ++failures;
        allocations += 1 + allocations / 30;
        if (allocations > 10'000'000) break;
    }
    CHECK(failures > 1);
    CHECK(allocations <= 10'000'000);
}

template <class Rows>
void check_rows(const Data& data, const Rows& rows) {
    for (const std::int64_t threads : {1, 3})
        check_shortage([&] { trained(data, rows, 5, threads); });
    const Forest forest(trained(data, rows, 5, 1));
    const std::vector<double> expected = predicted(forest, rows, 2);
    for (const std::size_t threads : {1u, 3u})
        check_shortage([&] { predicted(forest, rows, threads); });
    check_shortage([&] { Forest(extract_tree(forest.arrays(), 1)); });
    check_shortage([&] { feature_importances(forest); });
    CHECK(predicted(forest, rows, 2) == expected);
}

const Test floats("too little memory for floats is reported", [] {
    const Data data;
    check_rows(data, data.dense());
});

const Test bytes("too little memory for bytes is reported", [] {
    const Data data;
    check_rows(data, data.dense_bytes());
});

const Test sparse("too little memory for sparse rows is reported", [] {
    const Data data;
    check_rows(data, data.sparse());
});

}  // namespace
}  // namespace co2
