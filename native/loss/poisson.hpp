// SPDX-License-Identifier: BSD-3-Clause
// Half of the Poisson deviance, for counts and rates: theta is the logarithm of the expected count,
//   l(theta, y) = exp(theta) - y theta + y log y - y.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct PoissonPoint {
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
    static double theta_of(double mean) { return std::log(std::max(mean, kLeast)); }
};

using PoissonLoss = MeanLoss<PoissonPoint>;

}  // namespace co2
