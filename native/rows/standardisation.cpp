// SPDX-License-Identifier: BSD-3-Clause
#include "rows/standardisation.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace

template <class T>
static Moments dense_moments(const DenseRows<T>& rows, std::span<const float> weight) {
    Sums sums(rows.features());
    for (std::size_t i = 0; i < rows.count(); ++i) {
        if (weight[i] == 0.0f) continue;
        for (std::size_t j = 0; j < rows.features(); ++j)
            sums.add(j, static_cast<double>(rows.row(i)[j]), weight[i]);
    }
    return sums.finish();
}

template <>
Moments moments(const DenseRows<float>& rows, std::span<const float> weight) {
    return dense_moments(rows, weight);
}

template <>
Moments moments(const DenseRows<std::uint8_t>& rows, std::span<const float> weight) {
    return dense_moments(rows, weight);
}

template <>
Moments moments(const SparseRows& rows, std::span<const float> weight) {
    const std::size_t p = rows.features();
    Sums sums(p);
    std::vector<double> missing(p, 0.0);
    double total = 0.0;
    // Zero is the shift of every feature, so that the elements that are not stored add nothing.
    std::fill(sums.weight.begin(), sums.weight.end(), std::numeric_limits<double>::min());
    for (std::size_t i = 0; i < rows.count(); ++i) {
        if (weight[i] == 0.0f) continue;
        total += weight[i];
        rows.visit_raw(i, [&](Feature j, float x) {
            const auto column = static_cast<std::size_t>(j);
            if (std::isnan(x)) missing[column] += weight[i];
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

Scale scale_of(const Moments& m, Scaling scaling) {
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
    Scale out{std::vector<float>(p, 0.0f), total > 0.0 ? std::sqrt(total) : 1.0};
    for (std::size_t j = 0; j < p; ++j) out.factor[j] = static_cast<float>(base[j] / out.unit);
    return out;
}

}  // namespace co2
