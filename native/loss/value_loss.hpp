// SPDX-License-Identifier: BSD-3-Clause
// A convex loss l(theta, y) of a leaf's parameters theta and a row's targets y, one or several
// numbers each. Two kinds:
//
// - Losses of means (squared, Poisson, several binary log losses, costs of classes): the best leaf
//   is a function of the mean of its rows' targets, and sum_i w_i l(theta*, y_i) is
//     sum_i w_i f(y_i) - w f(mean),  with a convex f, w the weight of all rows.
//   So one pass of sums gives the loss of every possible split of a node.
// - Losses of rows (Huber, quantile): the best leaf needs all targets. A finder sees the rows'
//   responses instead, which are minus the gradients at the best leaf of the node, with the squared
//   loss. The gain of the split that it finds is computed with the loss itself.
//
// A leaf stores what the user is to see: the mean, or theta itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/types.hpp"
#include "loss/registry.hpp"
#include "loss/traits.hpp"

namespace co2 {

class ValueLoss {
   public:
    using Theta = std::span<const double>;
    using Targets = std::span<const float>;

    virtual ~ValueLoss() = default;

    virtual double value(Theta theta, Targets y) const = 0;
    virtual void gradient(Theta theta, Targets y, std::span<double> g) const = 0;
    virtual void curvature(Theta theta, Targets y, std::span<double> h) const = 0;

    // gap_i = (l(theta_0, y_i) - l(theta_1, y_i)) / 2 for rows of targets; and the sum of
    // w_i times the gradients at theta_0 or theta_1 of the rows for which right_i says so, added to
    // slope_0 or slope_1. For many rows at once, because a call for each takes longer than its
    // work.
    virtual void gaps(Theta theta_0, Theta theta_1, Targets y, std::span<float> gap) const = 0;
    virtual void add_slopes(Theta theta_0, Theta theta_1, Targets y, std::span<const float> weight,
                            std::span<const std::uint8_t> right, std::span<double> slope_0,
                            std::span<double> slope_1) const = 0;

    virtual bool of_means() const = 0;
    // Whether a scan may use squares, for which it needs no calls: explained() is that of the
    // squared loss, or does not exist.
    virtual bool of_squares() const = 0;
    virtual bool distributions() const = 0;  // stored values are probabilities

    // For losses of means: f(y) of a row; weight * f(sum / weight), zero for no weight; and the
    // best leaf.
    virtual double own(Targets y) const = 0;
    virtual double explained(std::span<const double> sum, double weight) const = 0;
    virtual void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const = 0;

    // What a scan adds up in the place of targets, if has_terms(): numbers that are linear in them,
    // as many, from whose sums the loss is faster to find.
    virtual bool has_terms() const { return false; }
    virtual void terms(Targets y, std::span<double> out) const {
        std::ranges::copy(y, out.begin());
    }
    virtual double explained_by_terms(std::span<const double> sum, double weight) const {
        return explained(sum, weight);
    }

    // For losses of rows: the best leaf of rows with these targets (rows x outputs) and weights.
    virtual void leaf_of_rows(std::span<const float> y, std::span<const float> weight,
                              std::span<double> theta) const = 0;

    // How wrong a prediction is, in values as leaves store them. Solvers are compared by it.
    virtual double error(std::span<const double> output, Targets y) const = 0;
};

// The loss of several outputs is the sum of the same loss of each. Point has
//   kTraits, value(theta, y), gradient(theta, y), curvature(theta, y),
// a constructor from ValueLossParams if it has a level, and error(output, y) if a leaf does not
// store theta.
template <class Point>
class OutputwiseLoss : public ValueLoss {
   public:
    static constexpr const LossTraits& kTraits = Point::kTraits;

    OutputwiseLoss(const ValueLossParams& params, std::size_t) : point_(point_of(params)) {}

    double value(Theta theta, Targets y) const final {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) sum += point_.value(theta[t], y[t]);
        return sum;
    }
    void gradient(Theta theta, Targets y, std::span<double> g) const final {
        for (std::size_t t = 0; t < y.size(); ++t) g[t] = point_.gradient(theta[t], y[t]);
    }
    void curvature(Theta theta, Targets y, std::span<double> h) const final {
        for (std::size_t t = 0; t < y.size(); ++t) h[t] = point_.curvature(theta[t], y[t]);
    }
    void gaps(Theta theta_0, Theta theta_1, Targets y, std::span<float> gap) const final {
        const std::size_t k = theta_0.size();
        for (std::size_t i = 0; i < gap.size(); ++i) {
            double difference = 0.0;
            for (std::size_t t = 0; t < k; ++t) {
                const double target = y[i * k + t];
                difference += point_.value(theta_0[t], target) - point_.value(theta_1[t], target);
            }
            gap[i] = static_cast<float>(0.5 * difference);
        }
    }
    void add_slopes(Theta theta_0, Theta theta_1, Targets y, std::span<const float> weight,
                    std::span<const std::uint8_t> right, std::span<double> slope_0,
                    std::span<double> slope_1) const final {
        const std::size_t k = theta_0.size();
        for (std::size_t i = 0; i < weight.size(); ++i) {
            const Theta theta = right[i] ? theta_1 : theta_0;
            const std::span<double> slope = right[i] ? slope_1 : slope_0;
            for (std::size_t t = 0; t < k; ++t)
                slope[t] += static_cast<double>(weight[i]) *
                            point_.gradient(theta[t], static_cast<double>(y[i * k + t]));
        }
    }
    double error(std::span<const double> output, Targets y) const final {
        double sum = 0.0;
        for (std::size_t t = 0; t < y.size(); ++t) {
            if constexpr (requires { Point::error(output[t], y[t]); })
                sum += Point::error(output[t], y[t]);
            else
                sum += point_.value(output[t], y[t]);
        }
        return sum;
    }

   protected:
    Point point_;

   private:
    static Point point_of(const ValueLossParams& params) {
        if constexpr (std::is_constructible_v<Point, const ValueLossParams&>)
            return Point(params);
        else
            return Point{};
    }
};

// Point also has explained(sum, weight) and theta_of(mean).
template <class Point>
class MeanLoss final : public OutputwiseLoss<Point> {
   public:
    using OutputwiseLoss<Point>::OutputwiseLoss;

    bool of_means() const override { return true; }
    bool of_squares() const override { return Point::kSquares; }
    bool distributions() const override { return false; }
    double own(std::span<const float> y) const override {
        double total = 0.0;
        for (const float t : y) total += this->point_.explained(t, 1.0);
        return total;
    }
    double explained(std::span<const double> sum, double weight) const override {
        if (!(weight > 0.0)) return 0.0;
        double total = 0.0;
        for (const double s : sum) total += this->point_.explained(s, weight);
        return total;
    }
    void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const override {
        for (std::size_t t = 0; t < mean.size(); ++t) theta[t] = this->point_.theta_of(mean[t]);
    }
    void leaf_of_rows(std::span<const float>, std::span<const float>,
                      std::span<double>) const override {}
};

struct WeightedTarget {
    double y, weight;
};

// Point also has best(targets), the best leaf of at least one target, in increasing order.
template <class Point>
class RowLoss final : public OutputwiseLoss<Point> {
   public:
    using OutputwiseLoss<Point>::OutputwiseLoss;

    bool of_means() const override { return false; }
    bool of_squares() const override { return true; }
    bool distributions() const override { return false; }
    double own(std::span<const float>) const override { return 0.0; }
    double explained(std::span<const double>, double) const override { return 0.0; }
    void leaf_of_mean(std::span<const double>, std::span<double>) const override {}
    void leaf_of_rows(std::span<const float> y, std::span<const float> weight,
                      std::span<double> theta) const override {
        const std::size_t k = theta.size();
        std::vector<WeightedTarget> targets(weight.size());
        for (std::size_t t = 0; t < k; ++t) {
            for (std::size_t i = 0; i < weight.size(); ++i)
                targets[i] = {static_cast<double>(y[i * k + t]), static_cast<double>(weight[i])};
            std::sort(targets.begin(), targets.end(),
                      [](const auto& a, const auto& b) { return a.y < b.y; });
            theta[t] = this->point_.best(targets);
        }
    }
};

}  // namespace co2
