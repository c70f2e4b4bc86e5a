// SPDX-License-Identifier: BSD-3-Clause
// The range of every feature.
#pragma once

#include <algorithm>
#include <limits>

#include "rows/dense.hpp"
#include "rows/moments.hpp"
#include "rows/weights.hpp"

namespace co2 {

// The largest difference between observed values of each feature; 0 if there are none. Dense rows
// are compared in their own type and without branches, many values at once: MNIST takes 6 ms, with
// moments() it would be 82.
template <class T>
std::vector<double> feature_ranges(const DenseRows<T>& rows, Weights weight, const Watch& watch) {
    const std::size_t p = rows.features();
    std::vector<T> lowest(p, std::numeric_limits<T>::max());
    std::vector<T> highest(p, std::numeric_limits<T>::lowest());
    T *const low = lowest.data(), *const high = highest.data();
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        if (weight[i] == 0.0f) continue;
        const T* row = rows.row(i);
        for (std::size_t j = 0; j < p; ++j) {  // NaN is neither less nor greater
            low[j] = row[j] < low[j] ? row[j] : low[j];
            high[j] = row[j] > high[j] ? row[j] : high[j];
        }
    }
    std::vector<double> ranges(p);
    for (std::size_t j = 0; j < p; ++j)
        ranges[j] = std::max(0.0, static_cast<double>(high[j]) - static_cast<double>(low[j]));
    return ranges;
}

template <RowKind Rows>
std::vector<double> feature_ranges(const Rows& rows, Weights weight, const Watch& watch) {
    const Moments m = moments(rows, ExplicitWeights(rows.count(), weight).all, {}, watch);
    std::vector<double> ranges(rows.features());
    for (std::size_t j = 0; j < ranges.size(); ++j) ranges[j] = std::max(0.0, m.high[j] - m.low[j]);
    return ranges;
}

}  // namespace co2
