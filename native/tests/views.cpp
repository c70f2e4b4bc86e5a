// SPDX-License-Identifier: BSD-3-Clause
// Views from outside are refused or harmless, whatever the rows are.
#include "rows/views/views.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "tests/data.hpp"
#include "tests/test.hpp"

namespace co2 {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int64_t kColumns = 3, kFolds = 2;

// Every kind; two features of one code, and one code that is too large for a table of slots.
ViewArrays good() {
    ViewArrays a;
    a.column = {0, 0, 1, 1, 1, 1, 2, 0};
    a.kind = {0, 1, 2, 2, 2, 3, 4, 3};
    a.argument = {0, 0, 1, 1, 5000, 0, 4, 10};
    a.size = {0, 0, 0, 0, 0, 2, 1, 2};
    a.values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, 1, 0, 100};
    return a;
}

const std::vector<float> kHostile{0.0f,  -0.0f, 1.0f,    -1.0f, 0.5f,  1.5f, 2.0f,  5000.0f,
                                  1e30f, -1e30, 0x1p24f, kInf,  -kInf, kNan, 3e-45f};

// Refused, or harmless in all that rows can be asked. True if refused.
bool refused(ViewArrays arrays, std::int64_t n_columns = kColumns, std::int64_t n_folds = kFolds) {
    try {
        const Views views(std::move(arrays), n_columns, n_folds);
        const std::size_t n = kHostile.size(), p = views.n_features();
        std::vector<float> x, mean(p, 0.25f), space;
        std::vector<std::uint8_t> folds;
        for (std::size_t i = 0; i < n; ++i) {
            folds.push_back(static_cast<std::uint8_t>(n_folds > 0 ? i % views.n_folds() : 0));
            for (std::size_t c = 0; c < views.n_columns(); ++c) x.push_back(kHostile[(i + c) % n]);
        }
        const ViewRows rows(views, x.data(), folds.data(), n, mean.data());
        for (std::size_t i = 0; i < n; ++i) {
            const float* row = rows.in_one_piece(i, space);
            for (std::size_t j = 0; j < p; ++j) {
                const float element = rows.element(i, j);
                CHECK(std::memcmp(&element, row + j, sizeof element) == 0);
            }
        }
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

template <class F>
void change(ViewArrays& arrays, const char* name, F&& f) {
    for_each_array_of_views(arrays, [&](const char* other, auto& member) {
        if (std::strcmp(name, other) == 0) f(member);
    });
}

const Test values("each kind of view has its value", [] {
    const Views views(good(), kColumns, kFolds);
    const auto expanded = [&](float a, float b, float c, std::size_t fold) {
        const float row[] = {a, b, c};
        std::vector<float> out(views.n_features());
        views.expand(row, fold, nullptr, out.data());
        return out;
    };
    using Row = std::vector<float>;
    CHECK(expanded(0.5f, 1, 0, 0) == (Row{0.5f, 0, 1, 1, 0, 2, 5, 0}));
    CHECK(expanded(-3, 5000, 0, 1) == (Row{-3, 0, 0, 0, 1, 3, 8, 0}));
    CHECK(expanded(kInf, 0, 1.5f, 1) == (Row{kInf, 0, 0, 0, 0, 1, 9, 0}));
    CHECK(expanded(1, kNan, kNan, 0) == (Row{1, 0, 0, 0, 0, 4, 7, 1}));
    const Row missing = expanded(kNan, -1, 1e30f, 0);
    CHECK(std::isnan(missing[0]) && missing[1] == 1 && missing[5] == 3 && missing[6] == 6);
    CHECK(missing[7] == 100);
});

const Test accepted("good views are accepted", [] { CHECK(!refused(good())); });

const Test lengths("an array of another length is refused", [] {
    const ViewArrays arrays = good();
    for_each_array_of_views(arrays, [](const char* name, const auto& member) {
        for (const std::size_t length : {std::size_t{0}, member.size() - 1, member.size() + 1}) {
            if (std::strcmp(name, "values") == 0 && length > member.size()) continue;  // unused
            ViewArrays bad = good();
            change(bad, name, [&](auto& m) { m.resize(length); });
            CHECK_THROWS(std::invalid_argument, "views array '",
                         Views(std::move(bad), kColumns, kFolds));
        }
    });
});

const Test numbers("extreme numbers at any place are refused or harmless", [] {
    const ViewArrays arrays = good();
    int refusals = 0;
    for_each_array_of_views(arrays, [&]<class T>(const char* name, const std::vector<T>& member) {
        using Limits = std::numeric_limits<T>;
        const T half = static_cast<T>(Limits::max() / 2);
        const T extremes[] = {
            Limits::lowest(),   Limits::max(), static_cast<T>(-1), T{0}, T{1}, T{5}, half,
            Limits::quiet_NaN()};
        for (std::size_t i = 0; i < member.size(); ++i)
            for (const T x : extremes) {
                ViewArrays bad = good();
                change(bad, name, [&](auto& m) {
                    if constexpr (std::is_same_v<decltype(m), std::vector<T>&>) m[i] = x;
                });
                refusals += refused(std::move(bad));
            }
    });
    CHECK(refusals > 60);
});

const Test sizes("numbers of columns and folds that cannot be are refused", [] {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{2},
                                 std::int64_t{1} << 31, most, -most - 1})
        CHECK_THROWS(std::invalid_argument, "", Views(good(), n, kFolds));
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{4}, std::int64_t{256}, most, -most - 1})
        CHECK_THROWS(std::invalid_argument, "", Views(good(), kColumns, n));
});

const Test folds("rows of two folds are never the same", [] {
    const Views views(good(), kColumns, kFolds);
    const std::vector<float> x{1, 1, 0, 1, 1, 0, 1, 1, 0};
    const std::vector<std::uint8_t> fold{0, 1, 0};
    const ViewRows rows(views, x.data(), fold.data(), 3, nullptr);
    CHECK(rows.same(0, 2) && !rows.same(0, 1));
    CHECK(rows.hash(0) == rows.hash(2) && rows.hash(0) != rows.hash(1));
});

}  // namespace
}  // namespace co2
