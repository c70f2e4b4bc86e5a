// SPDX-License-Identifier: BSD-3-Clause
// The quantile loss: l(theta, y) = a (y - theta) if y >= theta, else (1 - a) (theta - y), with a
// the level; summed over outputs. A level of one half gives the median.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct QuantilePoint {
    double a;

    double value(double theta, double y) const {
        return y >= theta ? a * (y - theta) : (1.0 - a) * (theta - y);
    }
    // A subgradient where y = theta.
    double gradient(double theta, double y) const {
        return y > theta ? -a : y < theta ? 1.0 - a : 0.0;
    }
    double curvature(double, double) const { return 0.0; }

    // The least target with that part of the weight at or below it; of two that are as good, their
    // middle, as a median of an even number has it.
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
};

using QuantileLoss = RowLoss<QuantilePoint>;

}  // namespace co2
