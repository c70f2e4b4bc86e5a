// SPDX-License-Identifier: BSD-3-Clause
// Giving freed memory back to the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>  // says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace co2 {

// glibc keeps what lies below the last block in use of a heap, and up to 64 MB above it. So what
// one phase of training has freed would stay beside what the next one takes. To look for free pages
// may take a millisecond, which pays for megabytes: one object collects what all threads free.
class FreedMemory {
   public:
    // Not for a temporary, which would collect nothing.
    void add(std::size_t bytes) & {
        constexpr std::size_t enough = std::size_t{4} << 20;
        if (bytes_.fetch_add(bytes) + bytes < enough) return;
        bytes_ = 0;
#ifdef __GLIBC__
        malloc_trim(0);
#endif
    }

   private:
    std::atomic<std::size_t> bytes_{0};
};

}  // namespace co2
