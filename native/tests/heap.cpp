// SPDX-License-Identifier: BSD-3-Clause
// Freed memory goes back to the system once there are megabytes of it.
#include "base/heap.hpp"

#ifdef __GLIBC__
#include "base/threads.hpp"
#include "tests/test.hpp"

namespace {
std::atomic<int> trims{0};
}

// In place of the library's, for this program.
extern "C" int malloc_trim(std::size_t) noexcept { return ++trims; }

namespace co2 {
namespace {

template <class Freed>
concept CollectsNothing = requires { Freed().add(1); };
static_assert(!CollectsNothing<FreedMemory>);

const Test collected("what is freed in small pieces, on several threads, is given back", [] {
    FreedMemory freed;
    const int before = trims;
    parallel_for(64, 4, {}, [&](std::size_t, std::size_t, const std::atomic<bool>&) {
        freed.add(std::size_t{1} << 17);
    });
    const int after = trims - before;  // of 8 MB; what comes while a thread trims may be lost
    CHECK(after == 1 || after == 2);
});

}  // namespace
}  // namespace co2
#endif
