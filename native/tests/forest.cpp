// SPDX-License-Identifier: BSD-3-Clause
#include "forest/forest.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "forest/importances.hpp"
#include "tests/data.hpp"
#include "tests/test.hpp"

namespace co2 {
namespace {

// Two trees, the second without a split; one node lists its features, one has a weight for each.
ForestArrays good() {
    ForestArrays a;
    a.tree_begin = {0, 5, 6};
    a.left = {1, -1, 3, -1, -1, -1};
    a.threshold = {0.5f, 0, -1.0f, 0, 0, 0};
    a.weight_begin = {0, 3, 3, 4, 4, 4, 4};
    a.weight = {narrow(1.0f), narrow(-2.0f), narrow(0.25f), narrow(1.0f)};
    a.feature_begin = {0, 0, 0, 1, 1, 1, 1};
    a.feature = {2};
    a.value_begin = {0, 0, 1, 1, 3, 4, 6};
    a.value_output = {0, 0, 1, 1, 0, 1};
    a.value = {1.0f, 0.5f, 0.5f, 1.0f, 0.25f, 0.75f};
    a.impurity = {1.0f, 0, 0.9f, 1.0f, 0, 0.8f};
    a.weighted_count = {10, 4, 6, 2, 4, 10};
    a.sample_count = {10, 4, 6, 2, 4, 10};
    a.mean = {0, 1, 2};
    a.spread = {1, 1, 1};
    a.n_outputs = 2;
    return a;
}

// Refused, or harmless in all that can be done with a forest. True if refused.
bool refused(ForestArrays arrays) {
    try {
        const Forest forest(std::move(arrays));
        const std::vector<float> values{-5, 0, 5, 1, std::numeric_limits<float>::quiet_NaN(), 3};
        const DenseRows<float> rows(values.data(), 6 / forest.n_features(), forest.n_features(),
                                    nullptr);
        const auto proba = predicted(forest, rows, 1);
        for (std::size_t i = 0; i < rows.count(); ++i) {
            double sum = 0.0;
            for (std::size_t y = 0; y < forest.n_outputs(); ++y) {
                const double share = proba[i * forest.n_outputs() + y];
                CHECK(share >= 0.0 && share <= 1.0);
                sum += share;
            }
            CHECK(std::abs(sum - 1.0) < 1e-3);
        }
        feature_importances(forest);
        for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
            Forest(extract_tree(forest.arrays(), tree));
        const ForestArrays* const twice[] = {&forest.arrays(), &forest.arrays()};
        CHECK(Forest(concatenate(twice)).n_trees() == 2 * forest.n_trees());
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

// The array of a forest that has a name.
template <class F>
void change(ForestArrays& arrays, const char* name, F&& f) {
    for_each_array(arrays, [&](const char* other, auto& member) {
        if (std::strcmp(name, other) == 0) f(member);
    });
}

const Test accepted("a good forest is accepted", [] { CHECK(!refused(good())); });

const Test lengths("an array of another length is refused", [] {
    const ForestArrays arrays = good();
    for_each_array(arrays, [](const char* name, const auto& member) {
        for (const std::size_t length : {std::size_t{0}, member.size() - 1, member.size() + 1}) {
            ForestArrays bad = good();
            change(bad, name, [&](auto& m) { m.resize(length); });
            CHECK_THROWS(std::invalid_argument, "forest array '", Forest(std::move(bad)));
        }
    });
});

const Test numbers("extreme numbers at any place are refused or harmless", [] {
    const ForestArrays arrays = good();
    int refusals = 0;
    for_each_array(arrays, [&]<class T>(const char* name, const std::vector<T>& member) {
        using Limits = std::numeric_limits<T>;
        const T extremes[] = {Limits::lowest(),
                              Limits::max(),
                              static_cast<T>(-1),
                              T{0},
                              T{1},
                              static_cast<T>(Limits::max() / 2),
                              Limits::quiet_NaN(),
                              Limits::infinity()};
        for (std::size_t i = 0; i < member.size(); ++i)
            for (const T x : extremes) {
                ForestArrays bad = good();
                change(bad, name, [&](auto& m) {
                    if constexpr (std::is_same_v<decltype(m), std::vector<T>&>) m[i] = x;
                });
                refusals += refused(std::move(bad));
            }
    });
    CHECK(refusals > 200);
});

const Test outputs("a number of outputs that cannot be is refused", [] {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1},
                                 std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::min()}) {
        ForestArrays bad = good();
        bad.n_outputs = n;
        CHECK_THROWS(std::invalid_argument, "forest array '", Forest(std::move(bad)));
    }
});

const Test parts("forests that do not agree are not joined", [] {
    const ForestArrays first = good();
    ForestArrays other = good();
    other.mean[0] = 7.0f;
    const ForestArrays* const pair[] = {&first, &other};
    CHECK_THROWS(std::invalid_argument, "same features", concatenate(pair));
    CHECK_THROWS(std::invalid_argument, "no forests", concatenate(std::vector<ForestArrays>()));
});

}  // namespace
}  // namespace co2
