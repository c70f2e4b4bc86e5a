// SPDX-License-Identifier: BSD-3-Clause
// The parameters of CO2 splits, and its solvers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "loss/loss.hpp"
#include "rows/rows.hpp"

namespace co2 {

class LogLoss;
template <RowKind Rows>
class Co2Finder;
template <RowKind Rows>
class ValueFinder;

// Named by what is done in a node.
enum class Solver {
    kRidge,  // numbers: the better one of a ridge regression and a split along a feature; classes:
             // a ridge regression in small nodes, the paper's bound minimised in the others
    kWarm,   // numbers: the bound minimised, in nodes that are not small, from what kRidge gives
    kCccp,   // the paper's: the bound minimised in every node, from a split along a feature
};

// Numbers are in units of the standardised space, except if *_in_user_units say otherwise.
struct Co2Params {
    Solver solver = Solver::kRidge;
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
    std::int64_t ridge_rows = 100;  // kRidge: nodes with fewer rows are solved by ridge regression;
                                    // up to three times as many where features are more
    double ridge = 0.2;             // its regularisation
    double offset = 0.5;            // the constant that stands in the place of the paper's -1
    double smoothing = 0.1;         // of the start of theta
    // For numbers: a node draws one of these, the fraction of the features that its ridge
    // regression may use. Directions over all features follow smooth functions; those over a few
    // leave irrelevant features alone and make trees differ. 0: the node starts from its
    // axis-aligned split.
    std::vector<double> feature_fractions = {1.0, 0.5, 0.15};
    // For numbers: thresholds of large nodes lie between this many bins of equal width; 0:
    // anywhere.
    std::int64_t threshold_bins = 0;
    std::int64_t axis_rows =
        500;  // for numbers: rows that the axis-aligned candidates are tried on

    static constexpr const char* kName = "Co2Params";
    template <class Field>
    static void for_each(Field&& field) {
        field("solver", &Co2Params::solver);
        field("nu", &Co2Params::nu);
        field("rate_weights", &Co2Params::rate_weights);
        field("rate_leaves", &Co2Params::rate_leaves);
        field("nu_in_user_units", &Co2Params::nu_in_user_units);
        field("rate_in_user_units", &Co2Params::rate_in_user_units);
        field("momentum", &Co2Params::momentum);
        field("batch_size", &Co2Params::batch_size);
        field("cccp_period", &Co2Params::cccp_period);
        field("max_iter", &Co2Params::max_iter);
        field("min_iter", &Co2Params::min_iter);
        field("tol", &Co2Params::tol);
        field("max_features", &Co2Params::max_features);
        field("max_rows", &Co2Params::max_rows);
        field("ridge_rows", &Co2Params::ridge_rows);
        field("ridge", &Co2Params::ridge);
        field("offset", &Co2Params::offset);
        field("smoothing", &Co2Params::smoothing);
        field("feature_fractions", &Co2Params::feature_fractions);
        field("threshold_bins", &Co2Params::threshold_bins);
        field("axis_rows", &Co2Params::axis_rows);
    }
    template <RowKind Rows, LossKind Loss>
    using Finder =
        std::conditional_t<std::is_same_v<Loss, LogLoss>, Co2Finder<Rows>, ValueFinder<Rows>>;
};

}  // namespace co2
