// SPDX-License-Identifier: BSD-3-Clause
// What the rest of the library must know about a loss of numbers. Each loss states it in its own
// file, so no other file asks which loss it has.
#pragma once

#include <limits>
#include <optional>

namespace co2 {

struct LossTraits {
    const char* name;
    // Whether it is a value of the parameter `loss` of regressors. Others belong to classifiers.
    bool chosen_by_user = true;
    // The parameter of Python that becomes ValueLossParams::level; null if there is none.
    const char* level = nullptr;

    // The targets that it takes.
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool needs_positive = false;  // in every output, at least one target is above zero

    // The units in which Python hands over targets: what it subtracts ("median" or "zero") and
    // what it divides by ("deviation", "robust" or "mean").
    const char* centre = "median";
    const char* spread = "deviation";
    bool squared_unit = false;           // impurities are in squared units of the targets
    const char* impurity_name = "loss";  // for people

    // Boosting. A prediction is the raw score ("identity") or its exponential ("log").
    const char* link = "identity";
    // The second derivative that Newton's steps divide by. Nothing: it differs from row to row and
    // is asked for. A loss without curvature says 1, which makes its steps minus the gradient.
    std::optional<double> curvature = std::nullopt;
    double longest_step = 1e30;  // of a leaf
};

}  // namespace co2
