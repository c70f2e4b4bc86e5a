// SPDX-License-Identifier: BSD-3-Clause
#include "rows/moments.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "rows/kinds.hpp"

namespace co2 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums for one pass: shifted by a first value, so that a large mean does not swallow the variance.
struct Sums {
    explicit Sums(std::size_t p)
        : shift(p, 0.0), weight(p, 0.0), first(p, 0.0), second(p, 0.0), low(p, kInfinity),
          high(p, -kInfinity) {}

    void add(std::size_t j, double x, double c) {
        if (std::isnan(x)) return;
        if (weight[j] == 0.0) shift[j] = x;
        const double d = x - shift[j];
        weight[j] += c;
        first[j] += c * d;
        second[j] += c * d * d;
        low[j] = std::min(low[j], x);
        high[j] = std::max(high[j], x);
    }

    Moments finish() const {
        const std::size_t p = shift.size();
        Moments m{std::vector<double>(p), std::vector<double>(p), low, high};
        for (std::size_t j = 0; j < p; ++j) {
            if (weight[j] == 0.0) continue;  // never observed: mean 0, variance 0
            const double d = first[j] / weight[j];
            m.mean[j] = shift[j] + d;
            m.variance[j] = low[j] < high[j] ? std::max(0.0, second[j] / weight[j] - d * d) : 0.0;
        }
        return m;
    }

    std::vector<double> shift, weight, first, second, low, high;
};

// Differences of larger numbers overflow float32.
void check_magnitude(const Moments& m) {
    constexpr double limit = 1e38;
    for (std::size_t j = 0; j < m.mean.size(); ++j)
        if (m.high[j] > limit || m.low[j] < -limit)
            throw std::invalid_argument("X has a value beyond 1e38 in feature " +
                                        std::to_string(j) + "; rescale it");
}

// Factors per feature that give total variance one, and what the plain ones were divided by.
std::vector<float> scale_of(const Moments& m, Scaling scaling, double& unit) {
    const std::size_t p = m.mean.size();
    std::vector<double> base(p, 0.0);
    double usable = 0.0, mean_variance = 0.0, mean_relative = 0.0;
    const auto range = [&](std::size_t j) { return m.high[j] - m.low[j]; };
    for (std::size_t j = 0; j < p; ++j) {
        if (!(m.variance[j] > 0.0)) continue;
        usable += 1.0;
        mean_variance += m.variance[j];
        mean_relative += m.variance[j] / range(j) / range(j);
    }
    mean_variance /= std::max(usable, 1.0);
    mean_relative /= std::max(usable, 1.0);
    double total = 0.0;
    for (std::size_t j = 0; j < p; ++j) {
        if (!(m.variance[j] > 0.0)) continue;
        switch (scaling) {
            case Scaling::kSoft:
                base[j] = 1.0 / std::sqrt(m.variance[j] + mean_relative * range(j) * range(j));
                break;
            case Scaling::kStandard: base[j] = 1.0 / std::sqrt(m.variance[j]); break;
            case Scaling::kMinMax: base[j] = 1.0 / range(j); break;
            case Scaling::kGlobal: base[j] = 1.0 / std::sqrt(mean_variance); break;
            case Scaling::kNone: base[j] = 1.0; break;
        }
        total += base[j] * base[j] * m.variance[j];
    }
    unit = total > 0.0 ? std::sqrt(total) : 1.0;
    std::vector<float> factor(p, 0.0f);
    // Values that differ by less than 1e-38 would need factors beyond single precision.
    constexpr double most = 1e37;
    for (std::size_t j = 0; j < p; ++j)
        factor[j] = static_cast<float>(std::min(base[j] / unit, most));
    return factor;
}

std::vector<float> to_floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

template <FullRows Rows>
Moments moments_of(const Rows& rows, std::span<const float> weight, const Limits& limits,
                   const Watch& watch) {
    using T = typename Rows::Element;
    const std::size_t p = rows.features();
    Sums sums(p);
    std::vector<T> space;
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        if (weight[i] == 0.0f) continue;
        const T* row = rows.in_one_piece(i, space);
        if (limits.low.empty())
            for (std::size_t j = 0; j < p; ++j) sums.add(j, static_cast<double>(row[j]), weight[i]);
        else
            for (std::size_t j = 0; j < p; ++j) {
                const auto x = static_cast<double>(row[j]);
                sums.add(j, std::isnan(x) ? x : std::clamp(x, limits.low[j], limits.high[j]),
                         weight[i]);
            }
    }
    return sums.finish();
}

// Listed rows are never clipped.
template <ListedRows Rows>
Moments moments_of(const Rows& rows, std::span<const float> weight, const Limits&,
                   const Watch& watch) {
    const std::size_t p = rows.features();
    Sums sums(p);
    std::vector<double> missing(p, 0.0);
    double total = 0.0;
    // Zero is the shift of every feature, so that the elements that are not stored add nothing.
    std::fill(sums.weight.begin(), sums.weight.end(), std::numeric_limits<double>::min());
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        if (weight[i] == 0.0f) continue;
        total += static_cast<double>(weight[i]);
        rows.visit_raw(i, [&](Feature j, float x) {
            const auto column = static_cast<std::size_t>(j);
            if (std::isnan(x)) missing[column] += static_cast<double>(weight[i]);
            sums.add(column, static_cast<double>(x), weight[i]);
        });
    }
    for (std::size_t j = 0; j < p; ++j) {
        const double observed = total - missing[j];
        if (sums.weight[j] < observed) {
            sums.low[j] = std::min(sums.low[j], 0.0);
            sums.high[j] = std::max(sums.high[j], 0.0);
        }
        sums.weight[j] = observed;
    }
    return sums.finish();
}

template <ListedRows Rows>
Limits limits_of(const Rows&, std::span<const RowId>) {
    return {};
}

template <FullRows Rows>
Limits limits_of(const Rows& rows, std::span<const RowId> judged_on) {
    const std::size_t p = rows.features();
    Limits limits{std::vector<double>(p, -kInfinity), std::vector<double>(p, kInfinity)};
    std::vector<float> values;
    for (std::size_t j = 0; j < p; ++j) {
        values.clear();
        for (const RowId i : judged_on) {
            const auto x = static_cast<float>(rows.element(static_cast<std::size_t>(i), j));
            if (!std::isnan(x)) values.push_back(x);
        }
        if (values.empty()) continue;
        const auto decile = [&](std::size_t tenths) {
            const auto place = static_cast<std::ptrdiff_t>((values.size() - 1) * tenths / 10);
            std::nth_element(values.begin(), values.begin() + place, values.end());
            return static_cast<double>(values[static_cast<std::size_t>(place)]);
        };
        const double first = decile(1), middle = decile(5), last = decile(9);
        const double margin = 5.0 * (last - first);
        if (!(first < middle && middle < last)) continue;
        limits.low[j] = first - margin;
        limits.high[j] = last + margin;
    }
    return limits;
}

}  // namespace

template <RowKind Rows>
Moments moments(const Rows& rows, std::span<const float> weight, const Limits& limits,
                const Watch& watch) {
    return moments_of(rows, weight, limits, watch);
}

template <RowKind Rows>
Limits outlier_limits(const Rows& rows, std::span<const RowId> judged_on) {
    return limits_of(rows, judged_on);
}

// Clips the features whose variance is mostly that of values beyond the limits. Others keep their
// tails: a pixel that is usually background has legitimate values far from its deciles.
template <RowKind Rows>
static void clip_outliers(const Rows& rows, std::span<const float> weight, const Limits& limits,
                          const Watch& watch, Moments& m, Standardisation& out) {
    constexpr double dominated = 25.0;
    bool beyond = false;
    for (std::size_t j = 0; j < limits.low.size(); ++j)
        beyond = beyond || m.low[j] < limits.low[j] || m.high[j] > limits.high[j];
    if (!beyond) return;
    const Moments clipped = moments(rows, weight, limits, watch);
    out.low.assign(rows.features(), -std::numeric_limits<float>::infinity());
    out.high.assign(rows.features(), std::numeric_limits<float>::infinity());
    bool any = false;
    for (std::size_t j = 0; j < rows.features(); ++j) {
        if (m.variance[j] <= dominated * clipped.variance[j]) continue;
        any = true;
        out.low[j] = static_cast<float>(limits.low[j]);
        out.high[j] = static_cast<float>(limits.high[j]);
        out.centre[j] = static_cast<float>(clipped.mean[j]);
        m.mean[j] = clipped.mean[j];
        m.variance[j] = clipped.variance[j];
        m.low[j] = clipped.low[j];
        m.high[j] = clipped.high[j];
    }
    if (!any) {
        out.low.clear();
        out.high.clear();
    }
}

template <RowKind Rows>
Standardisation standardisation_of(const Rows& rows, std::span<const float> weight,
                                   std::span<const RowId> judged_on, std::vector<float> mean,
                                   Scaling scaling, const Watch& watch, double& unit) {
    Moments m = moments(rows, weight, {}, watch);
    check_magnitude(m);
    Standardisation out;
    out.mean = mean.empty() ? to_floats(m.mean) : std::move(mean);
    out.centre = out.mean;
    clip_outliers(rows, weight, outlier_limits(rows, judged_on), watch, m, out);
    out.scale = scale_of(m, scaling, unit);
    for (const double v : m.variance) out.spread.push_back(static_cast<float>(std::sqrt(v)));
    return out;
}

#define INSTANTIATE(Rows)                                                                       \
    template Moments moments(const Rows&, std::span<const float>, const Limits&, const Watch&); \
    template Limits outlier_limits(const Rows&, std::span<const RowId>);                        \
    template Standardisation standardisation_of(const Rows&, std::span<const float>,            \
                                                std::span<const RowId>, std::vector<float>,     \
                                                Scaling, const Watch&, double&);
CO2_ROW_KINDS(INSTANTIATE, INSTANTIATE)

}  // namespace co2
