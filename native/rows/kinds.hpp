// SPDX-License-Identifier: BSD-3-Clause
// The list of kinds of rows. What is compiled for every kind is compiled for these; CMake reads the
// list, too, and makes one file of split finders for each.
#pragma once

#include <variant>

#include "rows/dense.hpp"
#include "rows/rows.hpp"
#include "rows/sparse.hpp"
#include "rows/views/view_rows.hpp"
#include "rows/windows/window_rows.hpp"

// A TABLE has labels or numbers as targets, a WINDOW labels.
#define CO2_ROW_KINDS(TABLE, WINDOW) \
    TABLE(DenseRows<float>)          \
    TABLE(DenseRows<std::uint8_t>)   \
    TABLE(ViewRows)                  \
    TABLE(SparseRows)                \
    WINDOW(WindowRows<float>)        \
    WINDOW(WindowRows<std::uint8_t>)

#define CO2_NO_ROWS(Rows)
#define CO2_AND_ROWS(Rows) , Rows

namespace co2 {

template <class, class... Rows>
using VariantOfRows = std::variant<Rows...>;
using AnyTable = VariantOfRows<void CO2_ROW_KINDS(CO2_AND_ROWS, CO2_NO_ROWS)>;

// Checks that a kind has all members; rows.hpp shows the message if one is missing.
template <class Rows>
constexpr bool is_complete() {
    static_assert(RowKind<Rows>);
    if constexpr (requires { typename Rows::Element; })
        static_assert(FullRows<Rows>);
    else
        static_assert(ListedRows<Rows>);
    return true;
}
#define CO2_CHECK_TABLE(Rows) static_assert(is_complete<Rows>() && TableKind<Rows>);
#define CO2_CHECK_WINDOW(Rows) static_assert(is_complete<Rows>());
CO2_ROW_KINDS(CO2_CHECK_TABLE, CO2_CHECK_WINDOW)

}  // namespace co2
