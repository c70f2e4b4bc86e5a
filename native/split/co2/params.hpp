// SPDX-License-Identifier: BSD-3-Clause
// What the node optimiser may be told.
#pragma once

#include <cstdint>
#include <vector>

namespace co2 {

enum class Solver {
    kCccp,  // the paper's: every node minimises the bound
    kAuto,  // classes: small nodes by a ridge regression on the classes' preferred sides
            // (split/co2/ridge.hpp); numbers: ridge regressions (split/co2/value_finder.hpp)
    kWarm,  // numbers: the bound minimised from the start that kAuto gives
};

// In units of the standardised space, but see *_in_user_units.
struct Co2Params {
    Solver solver = Solver::kAuto;
    double nu = 100.0;                // bound on |w|^2, the offset included
    double rate_weights = 5.0;        // eta of the paper, for w
    double rate_leaves = 0.6;         // eta of the paper, for theta
    bool nu_in_user_units = false;    // nu holds for rows without total variance one
    bool rate_in_user_units = false;  // the same for rate_weights
    double momentum = 0.9;
    std::int64_t batch_size = 100;
    std::int64_t cccp_period = 0;  // tau, in mini-batches; 0: half (kCccp: a sixth) of them
    std::int64_t max_iter = 0;     // mini-batches per node; 0: three passes, at least min_iter
    std::int64_t min_iter = 30;
    double tol = 1e-3;              // kCccp: relative decrease of the bound that counts as progress
    std::int64_t max_features = 1;  // q: candidates for the axis-aligned start
    std::int64_t max_rows = 4000;   // rows of a node that its optimisation sees
    std::int64_t ridge_rows = 100;  // kAuto: nodes with fewer rows are solved by ridge regression;
                                    // up to three times as many where features are more
    double ridge = 0.2;             // kAuto: its regularisation
    double offset = 0.5;            // the constant that stands in the place of the paper's -1
    double smoothing = 0.1;         // of the start of theta
    // Of numbers: a node draws one of these, the part of the features that its ridge regression may
    // use. Directions over all features follow smooth functions; those over a few leave irrelevant
    // features alone and make trees differ. 0: the node starts from its axis-aligned split.
    std::vector<double> feature_parts = {1.0, 0.5, 0.15};
    // Of numbers: thresholds of large nodes lie between so many bins of equal width; 0: anywhere.
    std::int64_t threshold_bins = 0;
    std::int64_t axis_rows = 500;  // of numbers: rows that the axis-aligned candidates are tried on
};

}  // namespace co2
