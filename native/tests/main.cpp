// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "tests/test.hpp"

#ifdef __linux__
#include <unistd.h>
#endif

namespace co2 {
namespace {

using Tests = std::vector<std::pair<const char*, void (*)()>>;

Tests& tests() {  // not a global, which might be created after the first Test
    static Tests all;
    return all;
}

std::atomic<int> failures{0};

}  // namespace

Test::Test(const char* name, void (*run)()) { tests().emplace_back(name, run); }

void check(bool holds, const std::string& what, const char* file, int line) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace co2

int main() {
#ifdef __linux__
    alarm(600);  // a test that waits for threads may do so for ever
#endif
    int failed = 0;
    for (const auto& [name, run] : co2::tests()) {
        const int before = co2::failures;
        try {
            run();
        } catch (const std::exception& e) {
            co2::check(false, std::string("threw ") + e.what(), __FILE__, __LINE__);
        }
        if (co2::failures == before) continue;
        ++failed;
        std::fprintf(stderr, "FAILED: %s\n", name);
    }
    std::printf("%zu native tests, %d failed\n", co2::tests().size(), failed);
    return failed > 0;
}
