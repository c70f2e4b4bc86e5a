// SPDX-License-Identifier: BSD-3-Clause
// The order of a node's rows by a value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "base/types.hpp"

namespace co2 {

// Keys whose upper half is a float in an order of whole numbers and whose lower half is the place
// of its row. Rows of equal value stay in the order of their places.
class ValueOrder {
   public:
    void sort(std::span<const float> values) {
        const std::size_t n = values.size();
        keys_.resize(n);
        for (std::size_t i = 0; i < n; ++i)
            keys_[i] = static_cast<std::uint64_t>(ordered(values[i])) << 32 | i;
        if (n < kFewRows)
            std::sort(keys_.begin(), keys_.end());
        else
            sort_by_digits();
    }

    std::size_t operator[](std::size_t rank) const {
        return static_cast<std::size_t>(keys_[rank] & 0xffffffff);
    }

   private:
    // Below, the three tables of 2048 numbers cost more than they save.
    static constexpr std::size_t kFewRows = 512;
    static constexpr int kBits = 11;

    static std::uint32_t ordered(float x) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }

    // From the lowest digit to the highest; a digit that all keys share needs no pass, and whole
    // numbers share the lowest.
    void sort_by_digits() {
        constexpr std::size_t radix = std::size_t{1} << kBits;
        std::array<std::array<std::uint32_t, radix>, 3> count{};
        const auto digit = [](std::uint64_t key, std::size_t d) {
            return static_cast<std::size_t>(key >> (32 + kBits * d)) & (radix - 1);
        };
        for (const std::uint64_t key : keys_)
            for (std::size_t d = 0; d < 3; ++d) ++count[d][digit(key, d)];
        other_.resize(keys_.size());
        for (std::size_t d = 0; d < 3; ++d) {
            if (count[d][digit(keys_[0], d)] == keys_.size()) continue;
            std::uint32_t begin = 0;
            for (std::uint32_t& c : count[d]) begin += std::exchange(c, begin);
            for (const std::uint64_t key : keys_) other_[count[d][digit(key, d)]++] = key;
            keys_.swap(other_);
        }
    }

    std::vector<std::uint64_t> keys_, other_;
};

}  // namespace co2
