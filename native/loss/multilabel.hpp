// SPDX-License-Identifier: BSD-3-Clause
// Several binary log losses: target t of a row says whether it has label t (or how much of it, in
// [0, 1]), theta_t is the log-odds,
//   l(theta, y) = sum_t log(1 + exp theta_t) - y_t theta_t + y_t log y_t + (1 - y_t) log(1 - y_t).
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct BinaryPoint {
    static constexpr LossTraits kTraits{
        .name = "multilabel", .chosen_by_user = false, .lowest = 0.0, .highest = 1.0};
    static constexpr bool kSquares = false;
    static constexpr double kLeast = 1e-9;  // of a probability

    static double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
    static double minus_entropy(double y) { return x_log_x(y) + x_log_x(1.0 - y); }
    static double softplus(double x) {
        return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    }
    static double probability(double theta) { return 1.0 / (1.0 + std::exp(-theta)); }

    static double value(double theta, double y) {
        return softplus(theta) - y * theta + minus_entropy(y);
    }
    static double gradient(double theta, double y) { return probability(theta) - y; }
    static double curvature(double theta, double) {
        const double p = probability(theta);
        return p * (1.0 - p);
    }
    static double explained(double sum, double weight) {
        return x_log_x(sum) + x_log_x(std::max(0.0, weight - sum)) - x_log_x(weight);
    }
    // A leaf stores probabilities, which may be zero.
    static double error(double output, double y) { return (output - y) * (output - y); }
    static double theta_of(double mean) {
        const double p = std::min(std::max(mean, kLeast), 1.0 - kLeast);
        return std::log(p / (1.0 - p));
    }
};

using MultilabelLoss = MeanLoss<BinaryPoint>;

}  // namespace co2
