// SPDX-License-Identifier: BSD-3-Clause
// Huber's loss, squared near the leaf and linear beyond a distance d, so that outliers matter less:
//   l(theta, y) = e^2 if |e| <= d, else 2 d |e| - d^2, with e = theta - y; summed over outputs.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct HuberPoint {
    static constexpr LossTraits kTraits{.name = "huber",
                                        .level = "delta",
                                        .spread = "robust",
                                        .squared_unit = true,
                                        .curvature = 1.0};

    explicit HuberPoint(const ValueLossParams& params) : d(params.level) {
        if (!(d > 0.0) || !std::isfinite(d))
            throw std::invalid_argument("the distance of Huber's loss must be positive");
    }

    double value(double theta, double y) const {
        const double e = std::abs(theta - y);
        return e <= d ? e * e : 2.0 * d * e - d * d;
    }
    double gradient(double theta, double y) const {
        return 2.0 * std::min(std::max(theta - y, -d), d);
    }
    double curvature(double theta, double y) const { return std::abs(theta - y) <= d ? 2.0 : 0.0; }

    // The derivative sum_i w_i clip(theta - y_i, -d, d) rises and is linear between the points
    // y_i - d and y_i + d: it is followed from one to the next, in two increasing lists, until it
    // is zero.
    double best(std::span<const WeightedTarget> targets) const {
        double slope = 0.0, derivative = 0.0, at = targets[0].y - d;
        for (const WeightedTarget& target : targets) derivative -= target.weight * d;
        std::size_t entered = 0, left = 0;  // targets within reach are [left, entered)
        while (left < targets.size()) {
            const bool enters =
                entered < targets.size() && targets[entered].y - d <= targets[left].y + d;
            const double next = enters ? targets[entered].y - d : targets[left].y + d;
            const double there = derivative + slope * (next - at);
            if (there >= 0.0 && slope > 0.0) return std::min(at - derivative / slope, next);
            derivative = there;
            at = next;
            slope += enters ? targets[entered++].weight : -targets[left++].weight;
            if (left == entered) slope = 0.0;  // what rounding has left
        }
        return at;
    }

    double d;
};

using HuberLoss = RowLoss<HuberPoint>;

}  // namespace co2
