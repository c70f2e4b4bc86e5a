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
#include "split/axis_start.hpp"

namespace co2 {

// A hyperplane in the coordinates of a sample: right iff <w, x> + bias >= 0.
struct LocalPlane {
    std::vector<float> w;  // stride() entries, zero beyond width()
    float bias = 0.0f;
};

// The surrogate of one row, for a projection z.
inline double surrogate(double z, double loss_left, double loss_right) {
    return std::max(-z + loss_left, z + loss_right) - std::abs(z);
}

class SurrogateOptimiser {
   public:
    std::int64_t iterations() const { return iterations_; }

    template <class Sample>
    void minimise(const Sample& sample, const NodeTargets& targets, const AxisStart& start,
                  const SolverParams& params, const std::atomic<bool>& stop, LocalPlane& plane) {
        const std::size_t n = sample.count();
        const auto batches = (n + static_cast<std::size_t>(params.batch_size) - 1) /
                             static_cast<std::size_t>(params.batch_size);
        prepare(sample, targets, start, params, plane);
        const std::int64_t budget = iteration_budget(params, static_cast<std::int64_t>(batches));
        const bool paper = params.solver == Solver::kCccp;
        const std::int64_t period = cccp_period(params, budget);
        // The rows that a period visits; all of them where their objective is compared.
        const std::size_t frozen_batches =
            paper ? batches : std::min(batches, static_cast<std::size_t>(period));

        std::size_t batch = 0;
        double rate = 1.0;
        Progress progress;
        iterations_ = 0;
        while (iterations_ < budget) {
            throw_if(stop);
            const double objective =
                freeze_signs(sample, targets, plane, batch, batches, frozen_batches);
            if (paper && !keep_going(progress, objective, params.tol, rate, plane)) break;
            const std::int64_t end = std::min(budget, iterations_ + period);
            for (; iterations_ < end; ++iterations_) {
                if ((iterations_ & 63) == 63) throw_if(stop);
                if (!paper)
                    rate = 1.0 - static_cast<double>(iterations_) / static_cast<double>(budget);
                step(sample, targets, params, rate, n * batch / batches, n * (batch + 1) / batches,
                     plane);
                batch = batch + 1 == batches ? 0 : batch + 1;
            }
        }
        if (paper && progress.best_objective < bound(sample, targets, plane)) plane = progress.best;
    }

   private:
    // What the tracking of the objective remembers (Solver::kCccp).
    struct Progress {
        double best_objective = std::numeric_limits<double>::infinity();
        int stalled = 0;  // periods in a row without progress
        LocalPlane best;
    };

    static std::int64_t iteration_budget(const SolverParams& params, std::int64_t batches) {
        if (params.max_iter > 0) return params.max_iter;
        return std::max(params.min_iter, 3 * batches);
    }

    // The paper's solver looks at the objective between periods, so it needs more of them.
    static std::int64_t cccp_period(const SolverParams& params, std::int64_t budget) {
        if (params.cccp_period > 0) return params.cccp_period;
        return std::max<std::int64_t>(1, budget / (params.solver == Solver::kCccp ? 6 : 3));
    }

    template <class Sample>
    void prepare(const Sample& sample, const NodeTargets& targets, const AxisStart& start,
                 const SolverParams& params, LocalPlane& plane) {
        const std::size_t n = sample.count();
        leaves_.start(start.left, start.right, params.smoothing);
        gradient_.assign(sample.stride(), 0.0f);
        velocity_.assign(sample.stride(), 0.0f);
        bias_velocity_ = 0.0f;
        charged_.assign(2 * targets.classes, 0.0);
        z_.resize(n);
        violators_.resize(n);
        violation_.resize(n);
        frozen_right_.assign(n, 0);

        // <w, x> + bias = a (x_column - cut) with a such that |w|^2 + (bias / offset)^2 = nu.
        const double ratio = start.cut / params.offset;
        const double a = std::sqrt(params.nu / (1.0 + ratio * ratio));
        plane.w.assign(sample.stride(), 0.0f);
        plane.w[start.column] = static_cast<float>(a);
        plane.bias = static_cast<float>(-a * start.cut);
    }

    // The CCCP step: freezes the signs of the rows in the next `frozen` batches. Returns the
    // surrogate per unit of weight on these rows.
    template <class Sample>
    double freeze_signs(const Sample& sample, const NodeTargets& targets, const LocalPlane& plane,
                        std::size_t first_batch, std::size_t batches, std::size_t frozen) {
        double objective = 0.0, weight = 0.0;
        const std::size_t n = sample.count();
        for (std::size_t t = 0; t < frozen; ++t) {
            const std::size_t batch = (first_batch + t) % batches;
            const std::size_t begin = n * batch / batches, end = n * (batch + 1) / batches;
            sample.scores(begin, end - begin, plane.w.data(), plane.bias, z_.data());
            for (std::size_t i = begin; i < end; ++i) {
                const float z = z_[i - begin];
                const auto y = static_cast<std::size_t>(targets.label[i]);
                frozen_right_[i] = z >= 0.0f;
                objective +=
                    targets.weight[i] * surrogate(z, leaves_.loss(0, y), leaves_.loss(1, y));
                weight += targets.weight[i];
            }
        }
        return objective / weight;
    }

    template <class Sample>
    double bound(const Sample& sample, const NodeTargets& targets, const LocalPlane& plane) {
        return freeze_signs(sample, targets, plane, 0, 1, 1);
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
    void step(const Sample& sample, const NodeTargets& targets, const SolverParams& params,
              double rate, std::size_t begin, std::size_t end, LocalPlane& plane) {
        const std::size_t n = end - begin, k = targets.classes;
        sample.scores(begin, n, plane.w.data(), plane.bias, z_.data());
        std::fill(charged_.begin(), charged_.end(), 0.0);
        const float* gap = leaves_.gap();
        std::size_t violators = 0;
        double weight = 0.0;
        float bias_gradient = 0.0f;
        for (std::size_t i = 0; i < n; ++i) {
            const auto y = static_cast<std::size_t>(targets.label[begin + i]);
            const float c = targets.weight[begin + i];
            const bool right = z_[i] > gap[y];  // the arm of the bound that is active
            charged_[(right ? k : 0) + y] += c;
            weight += c;
            const bool frozen = frozen_right_[begin + i] != 0;
            violators_[violators] = static_cast<std::int32_t>(i);
            violation_[violators] = frozen ? 2.0f * c : -2.0f * c;  // (1 + s) x or -(1 - s) x
            violators += right != frozen;
        }
        for (std::size_t t = 0; t < violators; ++t) bias_gradient += violation_[t];

        const auto offset = static_cast<float>(params.offset);
        const auto momentum = static_cast<float>(params.momentum);
        const auto eta = static_cast<float>(params.rate_weights * rate / weight);
        sample.gradient(begin, {violators_.data(), violators}, violation_.data(), gradient_);
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
        leaves_.step(charged_, weight, params.momentum, params.rate_leaves * rate);
    }

    LogLossLeaves leaves_;
    std::vector<float> gradient_, velocity_, z_, violation_;
    std::vector<std::int32_t> violators_;
    std::vector<std::uint8_t> frozen_right_;  // s = +1
    std::vector<double> charged_;             // 2 x k
    float bias_velocity_ = 0.0f;
    std::int64_t iterations_ = 0;
};

}  // namespace co2
