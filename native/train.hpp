// SPDX-License-Identifier: BSD-3-Clause
// Trains the trees of a forest in parallel: which rows each tree gets, and with what weight.
#pragma once

#include <limits>

#include "grow.hpp"
#include "loss/value_loss.hpp"
#include "refine/params.hpp"
#include "rows/standardisation.hpp"
#include "targets.hpp"
#include "threads.hpp"

namespace co2 {

struct SamplingParams {
    bool bootstrap = false;    // draw rows with replacement
    std::int64_t n_draws = 0;  // rows drawn for a tree; without bootstrap, n_rows means all
    bool balance = false;      // class_weight="balanced_subsample"
};

struct TrainParams {
    GrowParams grow;
    RefineParams refine;
    SamplingParams sampling;
    Scaling scaling = Scaling::kGlobal;
    ValueLossParams loss;  // of numbers
    bool centre = false;   // windows: hyperplanes do not see the mean of a channel
    std::uint64_t seed = 0;
    std::int64_t first_tree = 0;  // a warm start goes on with the next number
    std::int64_t n_trees = 1;
    std::int64_t n_threads = 1;
};

struct Training {
    ForestArrays forest;
    std::vector<GrowStatistics> statistics;  // per tree
};

// How often each row is drawn for a tree. A function of (seed, tree) alone, so it is never stored.
// Throws std::invalid_argument unless 1 <= n_draws <= n_rows < 2^31.
std::vector<std::int32_t> draw_counts(std::size_t n_rows, const SamplingParams& params,
                                      std::uint64_t seed, std::int64_t tree,
                                      const Watch& watch = {});

// The largest difference between observed values of each feature; 0 if there are none. Dense rows
// are compared in their own type and without branches, many values at once: MNIST takes 6 ms, with
// moments() it would be 82.
template <class T>
std::vector<double> feature_ranges(const DenseRows<T>& rows, Weights weight, const Watch& watch) {
    const std::size_t p = rows.features();
    std::vector<T> lowest(p, std::numeric_limits<T>::max());
    std::vector<T> highest(p, std::numeric_limits<T>::lowest());
    T *const low = lowest.data(), *const high = highest.data();
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        if (weight[i] == 0.0f) continue;
        const T* row = rows.row(i);
        for (std::size_t j = 0; j < p; ++j) {  // NaN is neither less nor greater
            low[j] = row[j] < low[j] ? row[j] : low[j];
            high[j] = row[j] > high[j] ? row[j] : high[j];
        }
    }
    std::vector<double> ranges(p);
    for (std::size_t j = 0; j < p; ++j)
        ranges[j] = std::max(0.0, static_cast<double>(high[j]) - static_cast<double>(low[j]));
    return ranges;
}

inline std::vector<double> feature_ranges(const SparseRows& rows, Weights weight,
                                          const Watch& watch) {
    const Moments m = moments(rows, ExplicitWeights(rows.count(), weight).all, {}, watch);
    std::vector<double> ranges(rows.features());
    for (std::size_t j = 0; j < ranges.size(); ++j) ranges[j] = std::max(0.0, m.high[j] - m.low[j]);
    return ranges;
}

// Labels stand for the log loss, values for the one that the parameters name. `mean` is what
// missing values stand for, where it is known from earlier trees; else empty.
template <class Rows, class Targets>
Training train(const Rows& rows, const Targets& target, Weights weight, std::size_t n_outputs,
               std::vector<float> mean, const TrainParams& params, const Watch& watch);

}  // namespace co2
