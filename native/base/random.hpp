// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that depend on (seed, tree, place in the tree) and on nothing else, so that a
// forest is the same for every number of threads and every order in which nodes are visited.
#pragma once

#include <cstdint>

namespace co2 {

// Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that passes BigCrush.
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// The key of something within a whole: tree within seed, child within node, purpose within tree.
inline std::uint64_t derive_key(std::uint64_t key, std::uint64_t part) {
    return mix(key + 0x9e3779b97f4a7c15ULL * (part + 1));
}

class Random {
   public:
    explicit Random(std::uint64_t key) : state_(key) {}

    std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

    // Uniform in [0, bound), bound < 2^32. The bias of the multiply-shift is below 2^-32 * bound.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

   private:
    std::uint64_t state_;
};

}  // namespace co2
