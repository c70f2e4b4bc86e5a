// SPDX-License-Identifier: BSD-3-Clause
// Giving freed memory back to the system.
#pragma once

#include <cstddef>
#include <cstdlib>  // says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace co2 {

// glibc keeps what lies below the last block in use of a heap, and up to 64 MB above it. So what
// one phase of training has freed would stay beside what the next one takes. To look for free pages
// may take a millisecond; that pays for megabytes.
class FreedMemory {
   public:
    // To be told about all that is freed.
    void add(std::size_t bytes) {
        constexpr std::size_t enough = std::size_t{4} << 20;
        if ((bytes_ += bytes) < enough) return;
        bytes_ = 0;
#ifdef __GLIBC__
        malloc_trim(0);
#endif
    }

   private:
    std::size_t bytes_ = 0;
};

}  // namespace co2
