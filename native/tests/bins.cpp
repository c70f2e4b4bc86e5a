// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "rows/binned.hpp"
#include "rows/kinds.hpp"
#include "tests/test.hpp"

namespace co2 {
namespace {

BinnedColumns bins_of(const std::vector<float>& values, std::size_t n_features = 1,
                      std::vector<Feature> features = {}, std::size_t n_threads = 1) {
    const std::size_t n = values.size() / n_features;
    static const std::vector<float> mean(16, 0.0f);
    const DenseRows<float> rows(values.data(), n, n_features, mean.data());
    std::vector<RowId> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    return BinnedColumns(rows, features, ids, n_threads, {});
}

std::vector<float> skewed(std::size_t n, std::uint64_t seed = 1) {
    Random random(seed);
    std::vector<float> values(n);
    for (float& x : values) {
        const double u = (static_cast<double>(random.below(1 << 24)) + 0.5) * 0x1p-24;
        x = static_cast<float>(std::exp(10.0 * u) - 5.0);
    }
    return values;
}

// Each value is at or above the threshold of its bin and below that of the next.
bool are_in_their_bins(const BinnedColumns& bins, const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t bin = bins.of(0)[i];
        if (bin > 0 && !(values[i] >= bins.threshold(0, bin))) return false;
        if (bin + 1 < bins.count(0) && !(values[i] < bins.threshold(0, bin + 1))) return false;
    }
    return true;
}

const Test many_values("bins of many values have about as many rows each", [] {
    const std::vector<float> values = skewed(20'000);
    const BinnedColumns bins = bins_of(values);
    CHECK(bins.count(0) == BinnedColumns::kMostBins);
    CHECK(are_in_their_bins(bins, values));
    std::vector<std::size_t> rows(bins.count(0));
    for (std::size_t i = 0; i < values.size(); ++i) ++rows[bins.of(0)[i]];
    const auto [fewest, most] = std::ranges::minmax(rows);
    CHECK(fewest >= 70 && most <= 90);  // 20000 / 256 is 78
});

const Test few_values("few values have a bin each", [] {
    std::vector<float> values;
    for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i % 7) * 1e-3f - 2.0f);
    const BinnedColumns bins = bins_of(values);
    CHECK(bins.count(0) == 7);
    CHECK(are_in_their_bins(bins, values));
    for (std::size_t i = 0; i < 7; ++i) CHECK(bins.of(0)[i] == i);
});

const Test frequent_value("a frequent value takes no bins from the others", [] {
    std::vector<float> values = skewed(4000);
    values.resize(20'000, 0.0f);
    const BinnedColumns bins = bins_of(values);
    CHECK(bins.count(0) > 200);
    CHECK(are_in_their_bins(bins, values));
});

const Test one_value("one value has one bin", [] {
    const BinnedColumns bins = bins_of(std::vector<float>(10, 3.0f));
    CHECK(bins.count(0) == 1);
    CHECK(bins.of(0)[9] == 0);
});

const Test neighbours("neighbouring and extreme values are told apart", [] {
    const float one = 1.0f, next = std::nextafter(one, 2.0f);
    const std::vector<float> values{next, one, -3e38f, 3e38f, 0.0f, std::nanf("")};
    const BinnedColumns bins = bins_of(values);
    const std::vector<int> expected{3, 2, 0, 4, 1, 1};  // a missing value is the mean, zero
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(bins.of(0)[i] == expected[i]);
});

const Test some_features("bins of some features, on any number of threads", [] {
    std::vector<float> values = skewed(3 * 1000, 5);
    const BinnedColumns all = bins_of(values, 3), some = bins_of(values, 3, {0, 2}, 2);
    for (const Feature j : {0, 2}) {
        CHECK(all.count(j) == some.count(j));
        CHECK(std::equal(all.of(j), all.of(j) + 1000, some.of(j)));
    }
});

}  // namespace
}  // namespace co2
