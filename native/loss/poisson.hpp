// SPDX-License-Identifier: BSD-3-Clause
// Half of the Poisson deviance, for counts and rates: theta is the logarithm of the expected count,
//   l(theta, y) = exp(theta) - y theta + y log y - y.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct PoissonPoint {
    // The curvature grows with the score, so a Newton step may lead far beyond the minimum. Targets
    // are about one: a score rises or falls by a factor of e^4 at most.
    static constexpr LossTraits kTraits{.name = "poisson",
                                        .lowest = 0.0,
                                        .needs_positive = true,
                                        .centre = "zero",
                                        .spread = "mean",
                                        .link = "log",
                                        .longest_step = 4.0};
    static constexpr bool kSquares = false;
    static constexpr double kLeast = 1e-9;  // of a mean: no row has occurred; targets are about one

    static double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }
    static double value(double theta, double y) {
        return std::exp(theta) - y * theta + x_log_x(y) - y;
    }
    static double gradient(double theta, double y) { return std::exp(theta) - y; }
    static double curvature(double theta, double) { return std::exp(theta); }
    static double explained(double sum, double weight) {
        return sum > 0.0 ? sum * std::log(sum / weight) - sum : 0.0;
    }
    // A leaf stores the mean. What does not depend on it is left out.
    static double error(double output, double y) {
        const double mean = std::max(output, kLeast);
        return mean - y * std::log(mean);
    }
    static double theta_of(double mean) { return std::log(std::max(mean, kLeast)); }
};

using PoissonLoss = MeanLoss<PoissonPoint>;

}  // namespace co2
