// SPDX-License-Identifier: BSD-3-Clause
// Mean and scale of every feature, from one or two passes over the raw rows.
#pragma once

#include "base/stop.hpp"
#include "rows/rows.hpp"

namespace co2 {

// Limits per feature; a value beyond them counts as the limit. Empty means none.
struct Limits {
    std::vector<double> low, high;
};

// Weighted moments over the observed values of each feature, clipped to the limits.
struct Moments {
    std::vector<double> mean, variance, low, high;
};

template <RowKind Rows>
Moments moments(const Rows& rows, std::span<const float> weight, const Limits& limits,
                const Watch& watch);

// Beyond these limits values are suspect. They keep a few absurd values (-999, 1e9) from hiding all
// others. They lie five times the distance between the first and the last decile beyond these. For
// normal deviates that is 14 standard deviations. Judged on the given rows. A feature has no limits
// if its median is one of these deciles, like a pixel that is usually background. Listed rows have
// none.
template <RowKind Rows>
Limits outlier_limits(const Rows& rows, std::span<const RowId> judged_on);

// The whole map. `mean` is what missing values stand for where that is known already, else empty.
// `unit` is what the factors of `scaling` were divided by to give total variance one: a hyperplane
// of norm |w| in the space without that division has norm |w| * unit in ours.
template <RowKind Rows>
Standardisation standardisation_of(const Rows& rows, std::span<const float> weight,
                                   std::span<const RowId> judged_on, std::vector<float> mean,
                                   Scaling scaling, const Watch& watch, double& unit);

}  // namespace co2
