// SPDX-License-Identifier: BSD-3-Clause
// Rows as Python holds them.
#pragma once

#include <variant>

#include "bindings/common.hpp"
#include "rows/kinds.hpp"

namespace co2 {

inline void check_sizes(std::size_t n, std::size_t p) {
    constexpr std::size_t limit = 0x7fffffff;
    if (n > limit) throw std::invalid_argument("X has more than 2^31 - 1 rows");
    if (p > limit) throw std::invalid_argument("X has more than 2^31 - 1 features");
}

// Rows of any kind, holding on to the Python arrays that they look into.
class RowsHandle {
   public:
    RowsHandle(AnyTable rows, nb::object owner)
        : rows_(std::move(rows)), owner_(std::move(owner)) {}

    std::size_t count() const {
        return std::visit([](const auto& rows) { return rows.count(); }, rows_);
    }
    std::size_t features() const {
        return std::visit([](const auto& rows) { return rows.features(); }, rows_);
    }

    // Calls f with the rows; missing values stand for the given means.
    template <class F>
    void visit(std::span<const float> mean, F&& f) const {
        std::visit([&](const auto& rows) { f(rows.with_mean(mean.data())); }, rows_);
    }

   private:
    AnyTable rows_;
    nb::object owner_;
};

}  // namespace co2
