// SPDX-License-Identifier: BSD-3-Clause
// A convex loss l(theta, y) of a leaf's parameters theta and a row's targets y, one or several
// numbers each. Two kinds:
//
// - Losses of means (squared, Poisson, several binary log losses, costs of classes): the best leaf
//   is a function of the mean of its rows' targets, and sum_i w_i l(theta*, y_i) is
//     sum_i w_i f(y_i) - w f(mean),  with a convex f, w the weight of all rows.
//   So one pass of sums tells the loss of every way to part a node.
// - Losses of rows (Huber, quantile): the best leaf needs all targets. While a finder looks for a
//   split, it sees the rows' responses instead, minus the gradients at the best leaf of the node,
//   with the squared loss; what the split is worth is reckoned with the loss itself.
//
// A leaf stores what the user is to see: the mean, or theta itself.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "types.hpp"

namespace co2 {

enum class ValueLossKind { kSquared, kPoisson, kMultilabel, kCost, kHuber, kQuantile };

struct ValueLossParams {
    ValueLossKind kind = ValueLossKind::kSquared;
    double level = 0.5;       // kQuantile: which quantile; kHuber: where the loss becomes linear
    std::vector<float> cost;  // kCost: outputs x outputs, of deciding for the second where the
                              // first is true; in [0, 1]
};

class ValueLoss {
   public:
    using Theta = std::span<const double>;
    using Targets = std::span<const float>;

    virtual ~ValueLoss() = default;

    virtual double value(Theta theta, Targets y) const = 0;
    virtual void gradient(Theta theta, Targets y, std::span<double> g) const = 0;
    virtual void curvature(Theta theta, Targets y, std::span<double> h) const = 0;

    virtual bool of_means() const = 0;
    virtual bool squared() const { return false; }  // it is the squared loss, which has short cuts
    virtual bool distributions() const { return false; }  // stored values are probabilities

    // Of means: weight * f(sum / weight), zero for no weight; and the best leaf.
    virtual double explained(std::span<const double> sum, double weight) const = 0;
    virtual void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const = 0;

    // Of rows: the best leaf of the rows whose targets (rows x outputs) and weights are given.
    virtual void leaf_of_rows(std::span<const float> y, std::span<const float> weight,
                              std::span<double> theta) const = 0;
};

// The loss of several outputs is the sum of the same loss of each. Point has
//   value(theta, y), gradient(theta, y), curvature(theta, y)
// and, of means, f(mean) and theta_of(mean).
template <class Point>
class MeanLoss : public ValueLoss {
   public:
    double value(Theta theta, Targets y) const override {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) sum += Point::value(theta[t], y[t]);
        return sum;
    }
    void gradient(Theta theta, Targets y, std::span<double> g) const override {
        for (std::size_t t = 0; t < y.size(); ++t) g[t] = Point::gradient(theta[t], y[t]);
    }
    void curvature(Theta theta, Targets y, std::span<double> h) const override {
        for (std::size_t t = 0; t < y.size(); ++t) h[t] = Point::curvature(theta[t], y[t]);
    }

    bool of_means() const override { return true; }
    bool squared() const override {
        return requires { Point::kSquared; };
    }
    double explained(std::span<const double> sum, double weight) const override {
        if (!(weight > 0.0)) return 0.0;
        double total = 0.0;
        for (const double s : sum) total += Point::explained(s, weight);
        return total;
    }
    void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const override {
        for (std::size_t t = 0; t < mean.size(); ++t) theta[t] = Point::theta_of(mean[t]);
    }
    void leaf_of_rows(std::span<const float>, std::span<const float>,
                      std::span<double>) const override {}
};

// The same, where the best leaf of an output needs its targets in increasing order.
class RowLoss : public ValueLoss {
   public:
    bool of_means() const override { return false; }
    double explained(std::span<const double>, double) const override { return 0.0; }
    void leaf_of_mean(std::span<const double>, std::span<double>) const override {}
    void leaf_of_rows(std::span<const float> y, std::span<const float> weight,
                      std::span<double> theta) const override;

   protected:
    struct Target {
        double y, weight;
    };
    // Of one output; at least one target, in increasing order.
    virtual double best(std::span<const Target> targets) const = 0;
};

std::unique_ptr<const ValueLoss> make_value_loss(const ValueLossParams& params,
                                                 std::size_t n_outputs);

}  // namespace co2
