// SPDX-License-Identifier: BSD-3-Clause
// Numbers and arrays from the bytes of a fuzzer.
#pragma once

#include <cstring>

#include "base/types.hpp"

namespace co2 {

class Reader {
   public:
    explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    // Zeros behind the end.
    template <class T>
    T number() {
        T x{};
        const std::size_t n = std::min(sizeof(T), rest_.size());
        if (n > 0) std::memcpy(&x, rest_.data(), n);
        rest_ = rest_.subspan(n);
        return x;
    }

    // At most what is there.
    template <class T>
    void array(std::vector<T>& out) {
        out.resize(std::min<std::size_t>(number<std::uint16_t>(), rest_.size() / sizeof(T)));
        for (T& x : out) x = number<T>();
    }

   private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace co2
