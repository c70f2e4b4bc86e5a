// SPDX-License-Identifier: BSD-3-Clause
// Many callers at once, without an interpreter whose lock might keep them apart.
#include <thread>

#include "tests/data.hpp"
#include "tests/test.hpp"

namespace co2 {
namespace {

bool same(const ForestArrays& a, const ForestArrays& b) {
    std::vector<const void*> others;
    for_each_array(b, [&](const char*, const auto& member) { others.push_back(&member); });
    std::size_t equal = 0, next = 0;
    for_each_array(a, [&]<class Array>(const char*, const Array& member) {
        equal += member == *static_cast<const Array*>(others[next++]);
    });
    return equal == others.size() && a.n_outputs == b.n_outputs;
}

// Calls work(i) for i in [0, n), all at once.
template <class Work>
void at_once(std::size_t n, Work&& work) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
    for (std::thread& thread : threads) thread.join();
}

template <class Rows>
void check_concurrent(const Data& data, const Rows& rows) {
    std::vector<ForestArrays> expected;
    for (std::uint64_t seed = 0; seed < 4; ++seed) expected.push_back(trained(data, rows, seed, 1));
    CHECK(!same(expected[0], expected[1]));
    at_once(4, [&](std::size_t i) {
        CHECK(same(trained(data, rows, i, static_cast<std::int64_t>(1 + i)), expected[i]));
    });

    const Forest forest(std::move(expected[0]));
    const std::vector<double> proba = predicted(forest, rows, 1);
    at_once(8, [&](std::size_t i) {
        for (int repeat = 0; repeat < 3; ++repeat)
            CHECK(predicted(forest, rows, 1 + i % 3) == proba);
    });
}

const Test floats("concurrent trainings and predictions of floats are the serial ones", [] {
    const Data data;
    check_concurrent(data, data.dense());
});

const Test bytes("concurrent trainings and predictions of bytes are the serial ones", [] {
    const Data data;
    check_concurrent(data, data.dense_bytes());
});

const Test sparse("concurrent trainings and predictions of sparse rows are the serial ones", [] {
    const Data data;
    check_concurrent(data, data.sparse());
});

const Test views("concurrent trainings and predictions of views are the serial ones", [] {
    const Data data;
    check_concurrent(data, data.seen());
});

}  // namespace
}  // namespace co2
