// SPDX-License-Identifier: BSD-3-Clause
#include "rows/views/views.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "base/hash.hpp"

namespace co2 {
namespace {

void require(bool holds, const char* name, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("views array '") + name + "' " + what);
}

}  // namespace

Views::Views(ViewArrays arrays, std::int64_t n_columns, std::int64_t n_folds)
    : a_(std::move(arrays)), n_columns_(static_cast<std::size_t>(n_columns)),
      n_folds_(static_cast<std::size_t>(n_folds)) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (n_columns < 1 || n_columns > most)
        throw std::invalid_argument("n_columns is " + std::to_string(n_columns) +
                                    "; it must be positive and less than 2^31");
    if (n_folds < 0 || n_folds > 255)
        throw std::invalid_argument("n_folds is " + std::to_string(n_folds) +
                                    "; it must be between 0 and 255");
    check();
    prepare();
}

void Views::check() const {
    const std::size_t n = a_.column.size();
    require(n > 0 && n <= std::numeric_limits<std::int32_t>::max(), "column",
            "must have between 1 and 2^31 - 1 entries");
    require(a_.kind.size() == n, "kind", "has the wrong length");
    require(a_.argument.size() == n, "argument", "has the wrong length");
    require(a_.size.size() == n, "size", "has the wrong length");
    for (const float x : a_.values) require(std::isfinite(x), "values", "must be finite");
    for (std::size_t j = 0; j < n; ++j) check_view(j);
}

void Views::check_view(std::size_t feature) const {
    const std::int64_t argument = a_.argument[feature], size = a_.size[feature];
    const auto stored = std::ssize(a_.values);
    require(a_.column[feature] >= 0 && static_cast<std::size_t>(a_.column[feature]) < n_columns_,
            "column", "names a column that does not exist");
    require(a_.kind[feature] <= static_cast<std::uint8_t>(ViewKind::kFoldedTable), "kind",
            "has an unknown kind of view");
    const auto kind = static_cast<ViewKind>(a_.kind[feature]);
    if (kind <= ViewKind::kEquals) {
        require(size == 0, "size", "must be 0 where a view has no table");
        require(argument >= 0 && argument < kMaxCodes, "argument",
                "must have codes from 0 to 2^24 - 1");
        require(kind == ViewKind::kEquals || argument == 0, "argument",
                "must be 0 where a view has no code and no table");
        return;
    }
    const bool folded = kind == ViewKind::kFoldedTable;
    require(!folded || n_folds_ > 0, "kind", "has a folded table, but n_folds is 0");
    require(size >= 1 && size <= kMaxCodes, "size",
            "must be at least 1 and at most 2^24 for a table");
    const std::int64_t length = (size + 2) * (folded ? static_cast<std::int64_t>(n_folds_) : 1);
    require(argument >= 0 && length <= stored && argument <= stored - length, "argument",
            "leads out of the values");
}

// Columns of codes become categories, so that a row's code is found once.
void Views::prepare() {
    const auto column = [&](Feature j) { return a_.column[static_cast<std::size_t>(j)]; };
    std::vector<Feature> of_codes;
    for (std::size_t i = 0; i < n_features(); ++i) {
        const auto kind = static_cast<ViewKind>(a_.kind[i]);
        const auto j = static_cast<Feature>(i);
        views_.push_back({column(j), kind, static_cast<float>(a_.argument[i]),
                          static_cast<std::int32_t>(a_.size[i]),
                          static_cast<std::size_t>(a_.argument[i])});
        folded_ = folded_ || kind == ViewKind::kFoldedTable;
        if (kind == ViewKind::kNumber)
            numbers_.push_back({column(j), j});
        else if (kind == ViewKind::kMissing)
            others_.push_back({column(j), j});
        else
            of_codes.push_back(j);
    }
    std::ranges::stable_sort(of_codes, {}, column);
    for (std::size_t begin = 0, end; begin < of_codes.size(); begin = end) {
        for (end = begin; end < of_codes.size(); ++end)
            if (column(of_codes[end]) != column(of_codes[begin])) break;
        add_category({of_codes.data() + begin, end - begin});
    }
}

// At most one code is that of a row, and its slot has the feature. A code that two features have,
// and codes so large that slots up to them would be much larger than the arrays, have no slot.
void Views::add_category(std::span<const Feature> features) {
    const std::int64_t most = 16 * std::ssize(features) + 256;
    Category out{
        a_.column[static_cast<std::size_t>(features[0])], 0, 0, slots_.size(), tables_.size(), 0};
    for (const Feature feature : features) {
        const auto j = static_cast<std::size_t>(feature);
        const View& view = views_[j];
        if (view.kind != ViewKind::kEquals) {
            const bool folded = view.kind == ViewKind::kFoldedTable;
            const std::size_t step = folded ? static_cast<std::size_t>(view.size + 2) : 0;
            tables_.push_back({feature, view.size, view.begin, step});
            out.codes = std::max(out.codes, view.size);
            continue;
        }
        const std::int64_t code = a_.argument[j];
        if (code < most && code >= out.slots) {
            out.slots = static_cast<std::int32_t>(code) + 1;
            slots_.resize(out.first_slot + view.begin + 1, -1);
        }
        if (code < most && slots_[out.first_slot + view.begin] < 0)
            slots_[out.first_slot + view.begin] = feature;
        else
            others_.push_back({view.column, feature});
    }
    out.codes = std::max(out.codes, out.slots);
    out.last_table = tables_.size();
    categories_.push_back(out);
}

void Views::expand(const float* row, std::size_t fold, const float* missing, float* out) const {
    std::fill_n(out, n_features(), 0.0f);
    if (missing == nullptr)
        visit(
            row, fold, [&](Feature j, float x) { out[j] = x; }, [&](Feature j) { out[j] = 1.0f; });
    else
        visit(
            row, fold, [&](Feature j, float x) { out[j] = std::isnan(x) ? missing[j] : x; },
            [&](Feature j) { out[j] = 1.0f; });
}

std::uint64_t digest(const Views& views) {
    std::uint64_t all = mix(views.n_columns()) + views.n_folds();
    for_each_array_of_views(views.arrays(), [&](const char*, const auto& member) {
        all = mix(all) ^ hash_bytes(member.data(), member.size() * sizeof(member[0]));
    });
    return all;
}

}  // namespace co2
