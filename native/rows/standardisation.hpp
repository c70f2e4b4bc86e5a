// SPDX-License-Identifier: BSD-3-Clause
// Mean and scale of every feature, from one pass over the raw rows.
#pragma once

#include <string>

#include "rows/rows.hpp"

namespace co2 {

enum class Scaling {
    kStandard,  // unit variance
    kSoft,      // the same, but features of little variance for their range stay small
    kMinMax,    // unit range
    kGlobal,    // one factor for all features
    kNone,      // as they are
};

// Weighted moments over the observed values of each feature.
struct Moments {
    std::vector<double> mean, variance, low, high;
};

template <class Rows>
Moments moments(const Rows& rows, std::span<const float> weight);

// Factors per feature, and `unit`: what they were divided by to give total variance one. A
// hyperplane of norm |w| in the space without that division has norm |w| * unit in ours.
struct Scale {
    std::vector<float> factor;
    double unit;
};

Scale scale_of(const Moments& m, Scaling scaling);

}  // namespace co2
