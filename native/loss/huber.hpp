// SPDX-License-Identifier: BSD-3-Clause
// Huber's loss, squared near the leaf and linear beyond a distance d, so that outliers pull less:
//   l(theta, y) = e^2 if |e| <= d, else 2 d |e| - d^2, with e = theta - y; summed over outputs.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

class HuberLoss final : public RowLoss {
   public:
    explicit HuberLoss(double distance) : d_(distance) {}

    double value(Theta theta, Targets y) const override {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) {
            const double e = std::abs(theta[t] - y[t]);
            sum += e <= d_ ? e * e : 2.0 * d_ * e - d_ * d_;
        }
        return sum;
    }
    void gradient(Theta theta, Targets y, std::span<double> g) const override {
        for (std::size_t t = 0; t < y.size(); ++t)
            g[t] = 2.0 * std::min(std::max(theta[t] - y[t], -d_), d_);
    }
    void curvature(Theta theta, Targets y, std::span<double> h) const override {
        for (std::size_t t = 0; t < y.size(); ++t)
            h[t] = std::abs(theta[t] - y[t]) <= d_ ? 2.0 : 0.0;
    }

   protected:
    // The derivative sum_i w_i clip(theta - y_i, -d, d) rises and is linear between the points
    // y_i - d and y_i + d: it is followed from one to the next, in two increasing lists, until it
    // is zero.
    double best(std::span<const Target> targets) const override {
        double slope = 0.0, derivative = 0.0, at = targets[0].y - d_;
        for (const Target& target : targets) derivative -= target.weight * d_;
        std::size_t entered = 0, left = 0;  // targets within reach are [left, entered)
        while (left < targets.size()) {
            const bool enters =
                entered < targets.size() && targets[entered].y - d_ <= targets[left].y + d_;
            const double next = enters ? targets[entered].y - d_ : targets[left].y + d_;
            const double there = derivative + slope * (next - at);
            if (there >= 0.0 && slope > 0.0)
                return std::min(at - derivative / slope, next);
            derivative = there;
            at = next;
            slope += enters ? targets[entered++].weight : -targets[left++].weight;
            if (left == entered) slope = 0.0;  // what rounding has left
        }
        return at;
    }

   private:
    double d_;
};

}  // namespace co2
