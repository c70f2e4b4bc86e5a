// SPDX-License-Identifier: BSD-3-Clause
// The quantile loss: l(theta, y) = a (y - theta) if y >= theta, else (1 - a) (theta - y), with a
// the level; summed over outputs. A level of one half gives the median.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

class QuantileLoss final : public RowLoss {
   public:
    explicit QuantileLoss(double level) : a_(level) {}

    double value(Theta theta, Targets y) const override {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) {
            const double e = y[t] - theta[t];
            sum += e >= 0.0 ? a_ * e : (a_ - 1.0) * e;
        }
        return sum;
    }
    // A subgradient where y = theta.
    void gradient(Theta theta, Targets y, std::span<double> g) const override {
        for (std::size_t t = 0; t < y.size(); ++t)
            g[t] = y[t] > theta[t] ? -a_ : y[t] < theta[t] ? 1.0 - a_ : 0.0;
    }
    void curvature(Theta, Targets y, std::span<double> h) const override {
        std::fill_n(h.begin(), y.size(), 0.0);
    }

   protected:
    // The least target with that part of the weight at or below it; of two that are as good, their
    // middle, as a median of an even number has it.
    double best(std::span<const Target> targets) const override {
        double total = 0.0, below = 0.0;
        for (const Target& target : targets) total += target.weight;
        const double wanted = a_ * total, rounding = 1e-12 * total;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            below += targets[i].weight;
            if (below < wanted - rounding) continue;
            if (below <= wanted + rounding && i + 1 < targets.size())
                return 0.5 * (targets[i].y + targets[i + 1].y);
            return targets[i].y;
        }
        return targets.back().y;
    }

   private:
    double a_;
};

}  // namespace co2
