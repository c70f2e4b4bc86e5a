// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "base/random.hpp"

namespace co2 {

// Finds duplicate rows and damaged arrays. It does not resist an adversary.
inline std::uint64_t hash_bytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint64_t h = size, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        std::memcpy(&word, bytes, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    word = 0;
    if (size > 0) std::memcpy(&word, bytes, size);  // an empty vector may have no address
    return mix(h ^ word);
}

}  // namespace co2
