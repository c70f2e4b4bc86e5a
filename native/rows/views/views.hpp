// SPDX-License-Identifier: BSD-3-Clause
// Features as views of the columns of a matrix: the number itself, whether it is missing, whether
// it is a given category, or what a table has for a category. So a category has as many features as
// are useful, and takes the memory of one number.
//
// A category is a code: a whole number from 0 on. NaN is a missing value of any column.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace co2 {

enum class ViewKind : std::uint8_t {
    kNumber,       // the value; NaN stays NaN
    kMissing,      // 1 if it is NaN, else 0
    kEquals,       // 1 if it is the code, else 0
    kTable,        // the entry of its code, that of any other value, or that of NaN
    kFoldedTable,  // the same from the table of the row's fold; for training
};

// One entry for each of D features, and the numbers of tables.
struct ViewArrays {
    std::vector<std::int32_t> column;
    std::vector<std::uint8_t> kind;      // a ViewKind
    std::vector<std::int64_t> argument;  // the code, or where a table begins in `values`
    std::vector<std::int64_t> size;      // codes of a table; else 0
    // A table of k codes: their entries, that of other values, that of NaN; k + 2 in all. A folded
    // one: such a table for each fold.
    std::vector<float> values;
};

// Calls f(name, member) for every array: the only list of their names.
template <class Arrays, class F>
void for_each_array_of_views(Arrays& a, F&& f) {
    f("column", a.column);
    f("kind", a.kind);
    f("argument", a.argument);
    f("size", a.size);
    f("values", a.values);
}

class Views {
   public:
    // Beyond, not every whole number is a float32.
    static constexpr std::int64_t kMaxCodes = std::int64_t{1} << 24;

    // Checks every array; throws std::invalid_argument that names the array.
    Views(ViewArrays arrays, std::int64_t n_columns, std::int64_t n_folds);

    const ViewArrays& arrays() const { return a_; }
    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_features() const { return a_.column.size(); }
    std::size_t n_folds() const { return n_folds_; }
    bool folded() const { return folded_; }  // whether rows need folds

    // One feature of a row. What the fold is matters to folded tables only.
    float element(const float* row, std::size_t fold, std::size_t feature) const {
        const View& view = views_[feature];
        const float x = row[view.column];
        switch (view.kind) {
            case ViewKind::kNumber: return x;
            case ViewKind::kMissing: return std::isnan(x) ? 1.0f : 0.0f;
            case ViewKind::kEquals: return x == view.code ? 1.0f : 0.0f;
            case ViewKind::kTable: return entry(x, 0, view);
            case ViewKind::kFoldedTable: return entry(x, fold, view);
        }
        return 0.0f;
    }

    // Calls put(feature, value) for the features that may have any value, and put_one(feature) for
    // codes that a row has. Codes that it does not have are not named: they are zero.
    template <class Put, class PutOne>
    void visit(const float* row, std::size_t fold, Put&& put, PutOne&& put_one) const {
        for (const Cell& cell : numbers_) put(cell.feature, row[cell.column]);
        for (const Category& category : categories_) {
            const float x = row[category.column];
            const std::int32_t missing = std::isnan(x), code = code_of(x, category.codes);
            if (code < category.slots) {
                const Feature j = slots_[category.first_slot + static_cast<std::size_t>(code)];
                if (j >= 0) put_one(j);
            }
            for (std::size_t t = category.first_table; t < category.last_table; ++t) {
                const Table& table = tables_[t];
                const std::int32_t place = std::min(code, table.codes) + missing;
                put(table.feature, a_.values[table.begin + fold * table.fold_step +
                                             static_cast<std::size_t>(place)]);
            }
        }
        for (const Cell& cell : others_)
            put(cell.feature, element(row, fold, static_cast<std::size_t>(cell.feature)));
    }

    // All features of a row, as a row of a dense matrix. A missing one is that of `missing`, or NaN
    // if that is null.
    void expand(const float* row, std::size_t fold, const float* missing, float* out) const;

   private:
    // A feature, all in one place.
    struct View {
        std::int32_t column;
        ViewKind kind;
        float code;
        std::int32_t size;
        std::size_t begin;
    };

    struct Cell {
        std::int32_t column;
        Feature feature;
    };

    struct Table {
        Feature feature;
        std::int32_t codes;
        std::size_t begin, fold_step;  // in the values
    };

    // A column of codes: those that are features of their own, and tables.
    struct Category {
        std::int32_t column;
        std::int32_t codes;  // no table or slot is for a larger one
        std::int32_t slots;  // codes below this may be features
        std::size_t first_slot, first_table, last_table;
    };

    // The code that a value is, or `codes` if it is none below that. Nothing else may become a
    // whole number: the result for NaN and for large values is undefined.
    static std::int32_t code_of(float x, std::int32_t codes) {
        if (!(x >= 0.0f && x < static_cast<float>(codes))) return codes;
        const auto code = static_cast<std::int32_t>(x);
        return static_cast<float>(code) == x ? code : codes;
    }

    float entry(float x, std::size_t fold, const View& view) const {
        const std::int32_t place = std::isnan(x) ? view.size + 1 : code_of(x, view.size);
        return a_.values[view.begin + fold * static_cast<std::size_t>(view.size + 2) +
                         static_cast<std::size_t>(place)];
    }

    void check() const;
    void check_view(std::size_t feature) const;
    void prepare();
    void add_category(std::span<const Feature> features);

    ViewArrays a_;
    std::size_t n_columns_, n_folds_;

    // The same in the forms in which it is read.
    bool folded_ = false;
    std::vector<View> views_;
    std::vector<Cell> numbers_;
    std::vector<Category> categories_;
    std::vector<Feature> slots_;  // the feature of a code; -1: it has none
    std::vector<Table> tables_;
    std::vector<Cell> others_;  // seldom many: they are asked one by one
};

// A checksum of all numbers, for pickles, as that of a forest.
std::uint64_t digest(const Views& views);

}  // namespace co2
