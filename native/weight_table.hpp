// SPDX-License-Identifier: BSD-3-Clause
// The weights of all hyperplanes of a forest: nearly all of its memory.
#pragma once

#include <memory>
#include <stdexcept>

#include "types.hpp"

namespace co2 {

// Weights of its own, or those in memory that somebody else keeps, such as a file that is mapped.
// The others of a forest's arrays are always its own: a number that changes under a weight gives
// another prediction, but under an index it would lead out of the arrays.
class WeightTable {
   public:
    WeightTable() = default;
    WeightTable(std::span<const Bfloat16> borrowed, std::shared_ptr<const void> keeper)
        : borrowed_(borrowed), keeper_(std::move(keeper)) {}

    std::size_t size() const { return keeper_ ? borrowed_.size() : own_.size(); }
    const Bfloat16* data() const { return keeper_ ? borrowed_.data() : own_.data(); }
    const Bfloat16* begin() const { return data(); }
    const Bfloat16* end() const { return data() + size(); }

    void reserve(std::size_t n) { own_.reserve(n); }
    void append(std::span<const Bfloat16> more) {
        if (keeper_) throw std::logic_error("weights of others cannot be added to");
        own_.insert(own_.end(), more.begin(), more.end());
    }

   private:
    std::vector<Bfloat16> own_;
    std::span<const Bfloat16> borrowed_;
    std::shared_ptr<const void> keeper_;
};

}  // namespace co2
