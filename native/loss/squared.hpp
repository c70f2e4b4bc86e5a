// SPDX-License-Identifier: BSD-3-Clause
// The squared loss of one or several outputs: l(theta, y) = |theta - y|^2. The best leaf is the
// mean of its rows, the impurity their weight times their variance, summed over outputs.
#pragma once

#include "loss/value_loss.hpp"

namespace co2 {

struct SquaredPoint {
    static constexpr LossTraits kTraits{
        .name = "squared", .squared_unit = true, .impurity_name = "variance", .curvature = 2.0};
    static constexpr bool kSquares = true;
    static double value(double theta, double y) { return (theta - y) * (theta - y); }
    static double gradient(double theta, double y) { return 2.0 * (theta - y); }
    static double curvature(double, double) { return 2.0; }
    static double explained(double sum, double weight) { return sum * sum / weight; }
    static double theta_of(double mean) { return mean; }
};

using SquaredLoss = MeanLoss<SquaredPoint>;

}  // namespace co2
