// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes Views(ViewArrays), through which all views from outside come: whatever it accepts must be
// safe to look through, at any rows. An input is the arrays one after the other, each with its
// length, then the rows.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "fuzz/reader.hpp"
#include "rows/kinds.hpp"

namespace co2 {
namespace {

constexpr std::size_t kRows = 5, kMostColumns = 1000;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

void use(const Views& views, const std::vector<float>& values) {
    std::vector<float> x(kRows * views.n_columns()), space;
    for (std::size_t t = 0; t < x.size(); ++t)
        x[t] = values.empty() ? 0.0f : values[t % values.size()];
    std::vector<std::uint8_t> folds;
    for (std::size_t i = 0; i < kRows; ++i)
        folds.push_back(static_cast<std::uint8_t>(i % std::max<std::size_t>(1, views.n_folds())));
    const ViewRows rows(views, x.data(), folds.data(), kRows, nullptr);
    for (std::size_t i = 0; i < kRows; ++i) {
        const float* row = rows.in_one_piece(i, space);
        for (std::size_t j = 0; j < views.n_features(); ++j) {
            const float element = rows.element(i, j);
            require(std::memcmp(&element, row + j, sizeof element) == 0,
                    "an element is not that of the row");
            const ViewKind kind = static_cast<ViewKind>(views.arrays().kind[j]);
            require(kind == ViewKind::kNumber || std::isfinite(element),
                    "a feature of a category is not finite");
        }
    }
}

}  // namespace
}  // namespace co2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    co2::Reader reader({data, size});
    const auto n_columns = reader.number<std::int64_t>(), n_folds = reader.number<std::int64_t>();
    co2::ViewArrays arrays;
    co2::for_each_array_of_views(arrays, [&](const char*, auto& member) { reader.array(member); });
    std::vector<float> values;
    reader.array(values);
    std::optional<co2::Views> views;
    try {
        views.emplace(std::move(arrays), n_columns, n_folds);
    } catch (const std::invalid_argument&) {
        return 0;
    }
    // Else rows take gigabytes.
    if (views->n_columns() <= co2::kMostColumns) co2::use(*views, values);
    return 0;
}
