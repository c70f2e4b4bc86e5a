// SPDX-License-Identifier: BSD-3-Clause
// The quantile loss: l(theta, y) = a (y - theta) if y >= theta, else (1 - a) (theta - y), with a
// the level; summed over outputs. A level of one half gives the median.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct QuantilePoint {
    static constexpr LossTraits kTraits{.name = "quantile", .level = "alpha", .curvature = 1.0};

    explicit QuantilePoint(const ValueLossParams& params) : a(params.level) {
        if (!(a > 0.0 && a < 1.0))
            throw std::invalid_argument("the level of a quantile must be in (0, 1)");
    }

    double value(double theta, double y) const {
        return y >= theta ? a * (y - theta) : (1.0 - a) * (theta - y);
    }
    // A subgradient where y = theta.
    double gradient(double theta, double y) const {
        return y > theta ? -a : y < theta ? 1.0 - a : 0.0;
    }
    double curvature(double, double) const { return 0.0; }

    // The least target with that fraction of the weight at or below it. If two are as good, the
    // middle between them, like the median of an even number of values.
    double best(std::span<const WeightedTarget> targets) const {
        double total = 0.0, below = 0.0;
        for (const WeightedTarget& target : targets) total += target.weight;
        const double wanted = a * total, rounding = 1e-12 * total;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            below += targets[i].weight;
            if (below < wanted - rounding) continue;
            if (below <= wanted + rounding && i + 1 < targets.size())
                return 0.5 * (targets[i].y + targets[i + 1].y);
            return targets[i].y;
        }
        return targets.back().y;
    }

    double a;
};

using QuantileLoss = RowLoss<QuantilePoint>;

}  // namespace co2
