// SPDX-License-Identifier: BSD-3-Clause
// The CO2 node optimiser: Algorithm 1 of
//   M. Norouzi, M. D. Collins, D. J. Fleet, P. Kohli: CO2 Forest: Improved Random Forest by
//   Continuous Optimization of Oblique Splits, 2015.
//
// It minimises the surrogate (eq:upper-dtree-surrogate-objective), an upper bound of the loss of a
// decision stump with hyperplane w and leaves theta_0, theta_1 (eq:upper-tree-loss):
//   sum_i max(-z_i + l(theta_0, y_i), z_i + l(theta_1, y_i)) - |z_i|,  z_i = <w, x_i>,
// subject to |w|^2 <= nu, by the convex-concave procedure: the sign of z_i in the concave term is
// frozen for a period of tau steps (eq:upper-convex-dtree-emploss), and each step is a projected
// subgradient step on a mini-batch.
//
// What the paper does in practice and we do too: mini-batches of 100 with averaged gradients,
// momentum 0.9, the start from an axis-aligned split and its leaves, the objective tracked and the
// rate reduced when it stops falling.
//
// Deviations, with reasons:
// - Rows are standardised to total variance one, so that nu and eta mean the same on all data.
// - The constant coordinate of the offset is `offset`, not -1, to match that scale.
// - Rows are visited in a random order without replacement instead of drawn: fewer cache misses and
//   less variance for the same number of steps.
// - The start is scaled to |w|^2 = nu, where the bound is tightest.
// - theta runs over the classes that occur in the node; the others have probability zero.
// - A node of more than max_rows rows is optimised on a random part of them.
#pragma once

#include <cmath>

#include "loss/log_loss.hpp"
#include "rows/sample.hpp"
#include "split/co2/axis_start.hpp"

namespace co2 {

// A hyperplane in the coordinates of a sample: right iff <w, x> + bias >= 0.
struct LocalPlane {
    AlignedFloats w;  // stride() entries, zero beyond width()
    float bias = 0.0f;
};

// The surrogate of one row, for a projection z.
inline double surrogate(double z, double loss_left, double loss_right) {
    return std::max(-z + loss_left, z + loss_right) - std::abs(z);
}

// Mini-batches: consecutive stretches of a sample's rows, of equal size up to one row.
struct Batches {
    Batches(std::size_t n_rows, std::int64_t size)
        : rows(n_rows),
          count((n_rows + static_cast<std::size_t>(size) - 1) / static_cast<std::size_t>(size)) {}

    std::size_t begin(std::size_t batch) const { return rows * batch / count; }
    std::size_t next(std::size_t batch) const { return batch + 1 == count ? 0 : batch + 1; }

    std::size_t rows, count;
};

class SurrogateOptimiser {
   public:
    std::int64_t iterations() const { return iterations_; }

    // Any order of rows will do; it is fast if the rows of a batch are grouped by class.
    template <class Sample>
    void minimise(const Sample& sample, const NodeTargets& targets, const AxisStart& start,
                  const Co2Params& params, const std::atomic<bool>& stop, LocalPlane& plane) {
        const Batches batches(sample.count(), params.batch_size);
        prepare(sample, targets, start, params, batches, plane);
        const std::int64_t budget =
            iteration_budget(params, static_cast<std::int64_t>(batches.count));
        const bool paper = params.solver == Solver::kCccp;
        const std::int64_t period = cccp_period(params, budget);

        std::size_t batch = 0;
        double rate = 1.0;
        Progress progress;
        iterations_ = 0;
        while (iterations_ < budget) {
            throw_if(stop);
            // The sides of the start are known; only the objective needs its projections.
            if (paper || iterations_ > 0) {
                project(sample, batches, plane);
                freeze_signs(targets, [&](std::size_t i) { return z_[i] >= 0.0f; });
            } else {
                freeze_signs(targets, [&](std::size_t i) { return start.is_right[i] != 0; });
            }
            if (paper && !keep_going(progress, bound(targets), params.tol, rate, plane)) break;
            const std::int64_t end = std::min(budget, iterations_ + period);
            for (; iterations_ < end; ++iterations_) {
                if ((iterations_ & 63) == 63) throw_if(stop);
                if (!paper)
                    rate = 1.0 - static_cast<double>(iterations_) / static_cast<double>(budget);
                step(sample, targets, params, rate, batches, batch, plane);
                batch = batches.next(batch);
            }
        }
        if (!paper) return;
        project(sample, batches, plane);
        if (progress.best_objective < bound(targets)) plane = progress.best;
    }

   private:
    // What the tracking of the objective remembers (Solver::kCccp).
    struct Progress {
        double best_objective = std::numeric_limits<double>::infinity();
        int stalled = 0;  // periods in a row without progress
        LocalPlane best;
    };

    // Neighbouring rows of one batch and one class.
    struct Run {
        std::size_t end;  // one past its last row
        std::size_t label;
        float weight;
    };

    static std::int64_t iteration_budget(const Co2Params& params, std::int64_t batches) {
        if (params.max_iter > 0) return params.max_iter;
        return std::max(params.min_iter, 3 * batches);
    }

    // The paper's solver looks at the objective between periods, so it needs more of them.
    static std::int64_t cccp_period(const Co2Params& params, std::int64_t budget) {
        if (params.cccp_period > 0) return params.cccp_period;
        return std::max<std::int64_t>(1, budget / (params.solver == Solver::kCccp ? 6 : 2));
    }

    template <class Sample>
    void prepare(const Sample& sample, const NodeTargets& targets, const AxisStart& start,
                 const Co2Params& params, const Batches& batches, LocalPlane& plane) {
        leaves_.start(start.left, start.right, params.smoothing);
        gradient_.resize(sample.stride());
        velocity_.assign(sample.stride(), 0.0f);
        bias_velocity_ = 0.0f;
        charged_.resize(2 * leaves_.stride());
        z_.resize(batches.rows);
        frozen_.resize(batches.rows);
        violators_.resize(batches.rows);
        violation_.resize(batches.rows);
        find_runs(targets, batches);

        // <w, x> + bias = a (x_column - cut) with a such that |w|^2 + (bias / offset)^2 = nu.
        const double ratio = start.cut / params.offset;
        const double a = std::sqrt(params.nu / (1.0 + ratio * ratio));
        plane.w.assign(sample.stride(), 0.0f);
        plane.w[start.column] = static_cast<float>(a);
        plane.bias = static_cast<float>(-a * start.cut);
    }

    void find_runs(const NodeTargets& targets, const Batches& batches) {
        runs_.clear();
        first_run_.clear();
        for (std::size_t batch = 0; batch < batches.count; ++batch) {
            first_run_.push_back(runs_.size());
            for (std::size_t i = batches.begin(batch); i < batches.begin(batch + 1); ++i) {
                const auto label = static_cast<std::size_t>(targets.label[i]);
                if (runs_.size() == first_run_.back() || runs_.back().label != label)
                    runs_.push_back({i, label, 0.0f});
                runs_.back().end = i + 1;
                runs_.back().weight += targets.weight[i];
            }
        }
        first_run_.push_back(runs_.size());
    }

    template <class Sample>
    void project(const Sample& sample, const Batches& batches, const LocalPlane& plane) {
        sample.scores(0, batches.rows, plane.w.data(), plane.bias, z_.data());
    }

    // The CCCP step: freezes the sign of every row.
    template <class IsRight>
    void freeze_signs(const NodeTargets& targets, IsRight&& is_right) {
        for (std::size_t i = 0; i < frozen_.size(); ++i)
            frozen_[i] = is_right(i) ? 2.0f * targets.weight[i] : -2.0f * targets.weight[i];
    }

    // The surrogate per unit of weight, at the projections in z_.
    double bound(const NodeTargets& targets) const {
        double objective = 0.0, weight = 0.0;
        for (std::size_t i = 0; i < targets.label.size(); ++i) {
            const auto y = static_cast<std::size_t>(targets.label[i]);
            objective +=
                targets.weight[i] * surrogate(z_[i], leaves_.loss(0, y), leaves_.loss(1, y));
            weight += targets.weight[i];
        }
        return objective / weight;
    }

    // Tracks the objective: halves the rate when a period brought no progress, and ends the
    // optimisation when three in a row brought none.
    static bool keep_going(Progress& progress, double objective, double tol, double& rate,
                           const LocalPlane& plane) {
        if (objective < progress.best_objective * (1.0 - tol)) {
            progress.stalled = 0;
        } else {
            rate *= 0.5;
            ++progress.stalled;
        }
        if (objective < progress.best_objective) {
            progress.best_objective = objective;
            progress.best = plane;
        }
        return progress.stalled < 3;
    }

    template <class Sample>
    void step(const Sample& sample, const NodeTargets& targets, const Co2Params& params,
              double rate, const Batches& batches, std::size_t batch, LocalPlane& plane) {
        const std::size_t begin = batches.begin(batch), n = batches.begin(batch + 1) - begin;
        sample.scores(begin, n, plane.w.data(), plane.bias, z_.data() + begin);
        std::fill(charged_.begin(), charged_.end(), 0.0f);
        const float *z = z_.data(), *row_weight = targets.weight.data(), *frozen = frozen_.data();
        std::int32_t* violators = violators_.data();
        float* violation = violation_.data();
        std::size_t n_violators = 0, i = begin;
        float weight = 0.0f, bias_gradient = 0.0f;
        for (std::size_t r = first_run_[batch]; r < first_run_[batch + 1]; ++r) {
            const Run& run = runs_[r];
            const float gap = leaves_.gap()[run.label];
            float charged_right = 0.0f;
            // Arithmetic instead of branches, which nobody could predict.
            for (const std::size_t last = run.end; i < last; ++i) {
                const bool right = z[i] > gap;  // the arm of the bound that is active
                charged_right += static_cast<float>(right) * row_weight[i];
                violators[n_violators] = static_cast<std::int32_t>(i - begin);
                violation[n_violators] = frozen[i];  // (1 + s) x or -(1 - s) x
                n_violators += right != (frozen[i] > 0.0f);
            }
            charged_[run.label] += run.weight - charged_right;
            charged_[leaves_.stride() + run.label] += charged_right;
            weight += run.weight;
        }
        for (std::size_t t = 0; t < n_violators; ++t) bias_gradient += violation[t];

        const auto offset = static_cast<float>(params.offset);
        const auto momentum = static_cast<float>(params.momentum);
        const auto eta = static_cast<float>(params.rate_weights * rate) / weight;
        sample.gradient(begin, {violators, n_violators}, violation, gradient_);
        float norm = kernels().momentum_step(plane.w.data(), velocity_.data(), gradient_.data(),
                                             momentum, eta, gradient_.size());
        bias_velocity_ = momentum * bias_velocity_ + eta * (bias_gradient * offset);
        float offset_weight = plane.bias / offset + bias_velocity_;
        norm += offset_weight * offset_weight;
        if (norm > static_cast<float>(params.nu)) {
            const float shrink = std::sqrt(static_cast<float>(params.nu) / norm);
            kernels().scale(plane.w.data(), shrink, plane.w.size());
            offset_weight *= shrink;
        }
        plane.bias = offset_weight * offset;
        leaves_.step(charged_, weight, momentum, static_cast<float>(params.rate_leaves * rate));
    }

    LogLossLeaves leaves_;
    AlignedFloats gradient_, velocity_, violation_;
    AlignedFloats z_;                      // of each row, when it was last projected
    AlignedFloats frozen_;                 // 2 s_i c_i: twice the weight, with the frozen sign
    std::vector<std::int32_t> violators_;  // rows of a batch, relative to its first
    AlignedFloats charged_;                // 2 x stride of the leaves
    std::vector<Run> runs_;                // of all batches, in order
    std::vector<std::size_t> first_run_;   // of each batch, and one past the last
    float bias_velocity_ = 0.0f;
    std::int64_t iterations_ = 0;
};

}  // namespace co2
