// SPDX-License-Identifier: BSD-3-Clause
// Mean and scale of every feature, from one or two passes over the raw rows.
#pragma once

#include "rows/rows.hpp"
#include "stop.hpp"

namespace co2 {

enum class Scaling {
    kStandard,  // unit variance
    kSoft,      // the same, but features of little variance for their range stay small
    kMinMax,    // unit range
    kGlobal,    // one factor for all features
    kNone,      // as they are
};

// Limits per feature; a value beyond them counts as the limit. Empty means none.
struct Limits {
    std::vector<double> low, high;
};

// Weighted moments over the observed values of each feature, clipped to the limits.
struct Moments {
    std::vector<double> mean, variance, low, high;
};

template <class Rows>
Moments moments(const Rows& rows, std::span<const float> weight, const Limits& limits,
                const Watch& watch);

// Where values begin to be suspect, so that a few absurd ones (-999, 1e9) do not hide all others:
// five times the distance between the first and the last decile, beyond these deciles. For normal
// deviates that is 14 standard deviations. Judged on the given rows. A feature has no limits if its
// median is one of these deciles, like a pixel that is usually background; nor have sparse rows.
template <class Rows>
Limits outlier_limits(const Rows& rows, std::span<const RowId> judged_on);

// The whole map. `mean` is what missing values stand for where that is known already, else empty.
// `unit` is what the factors of `scaling` were divided by to give total variance one: a hyperplane
// of norm |w| in the space without that division has norm |w| * unit in ours.
template <class Rows>
Standardisation standardisation_of(const Rows& rows, std::span<const float> weight,
                                   std::span<const RowId> judged_on, std::vector<float> mean,
                                   Scaling scaling, const Watch& watch, double& unit);

}  // namespace co2
