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
// momentum 0.9, the start from an axis-aligned split and its leaves. With Solver::kCccp also: the
// objective is tracked, and the rate is halved when it stops falling. The other solvers let the
// rate decay linearly over a fixed number of steps. learning_rate.hpp has both.
//
// Deviations, with reasons:
// - Rows are standardised to total variance one, so that nu and eta mean the same on all data.
// - The constant coordinate of the offset is `offset`, not -1, to match that scale.
// - Rows are visited in a random order without replacement instead of drawn: fewer cache misses and
//   less variance for the same number of steps.
// - The start is scaled to |w|^2 = nu, where the bound is tightest.
// - theta runs over the classes that occur in the node; the others have probability zero.
// - A node of more than max_rows rows is optimised on a random subset of them.
#pragma once

#include <cmath>

#include "base/stop.hpp"
#include "rows/sample.hpp"
#include "split/co2/batches.hpp"
#include "split/co2/learning_rate.hpp"
#include "split/co2/params.hpp"
#include "split/linear/local_plane.hpp"

namespace co2 {

// A plane as long as |w|^2 + (bias / offset)^2 = nu allows.
inline void stretch_to_bound(LocalPlane& plane, const Co2Params& params) {
    double norm = std::pow(plane.bias / params.offset, 2);
    for (const float w : plane.w) norm += static_cast<double>(w) * w;
    const auto factor = static_cast<float>(std::sqrt(params.nu / norm));
    kernels().scale(plane.w.data(), factor, plane.w.size());
    plane.bias *= factor;
}

// The surrogate of one row, for a projection z.
inline double surrogate(double z, double loss_left, double loss_right) {
    return std::max(-z + loss_left, z + loss_right) - std::abs(z);
}

// Leaves: what is known of the rows' targets and of theta; see class_leaves.hpp.
class SurrogateOptimiser {
   public:
    std::int64_t iterations() const { return iterations_; }

    // Starts from a plane whose sides are known, and from the leaves of these sides.
    template <class Sample, class Leaves>
    void minimise(const Sample& sample, Leaves& leaves, std::span<const std::uint8_t> is_right,
                  const Co2Params& params, const std::atomic<bool>& stop, LocalPlane& plane) {
        const Batches batches(sample.count(), params.batch_size);
        prepare(sample.stride(), batches.rows);
        const std::int64_t budget =
            iteration_budget(params, static_cast<std::int64_t>(batches.count));
        const bool paper = params.solver == Solver::kCccp;
        const std::int64_t period = cccp_period(params, budget);

        std::size_t batch = 0;
        HalvedWhenStalled halved(params.tol);
        iterations_ = 0;
        while (iterations_ < budget) {
            throw_if(stop);
            // The sides of the start are known; only the objective needs its projections.
            if (paper || iterations_ > 0) {
                project(sample, plane);
                freeze_signs(leaves, [&](std::size_t i) { return z_[i] >= 0.0f; });
            } else {
                freeze_signs(leaves, [&](std::size_t i) { return is_right[i] != 0; });
            }
            if (paper && !halved.keep_going(bound(leaves, stop), plane)) break;
            const std::int64_t end = std::min(budget, iterations_ + period);
            for (; iterations_ < end; ++iterations_) {
                throw_if(stop);
                const double rate = paper ? halved.rate() : linear_decay(iterations_, budget);
                step(sample, leaves, params, rate, batches, batch, plane);
                batch = batches.next(batch);
            }
        }
        if (!paper) return;
        project(sample, plane);
        halved.take_better(bound(leaves, stop), plane);
    }

   private:
    static std::int64_t iteration_budget(const Co2Params& params, std::int64_t batches) {
        if (params.max_iter > 0) return params.max_iter;
        return std::max(params.min_iter, 3 * batches);
    }

    // The paper's solver looks at the objective between periods, so it needs more of them.
    static std::int64_t cccp_period(const Co2Params& params, std::int64_t budget) {
        if (params.cccp_period > 0) return params.cccp_period;
        return std::max<std::int64_t>(1, budget / (params.solver == Solver::kCccp ? 6 : 2));
    }

    void prepare(std::size_t stride, std::size_t rows) {
        gradient_.resize(stride);
        velocity_.assign(stride, 0.0f);
        bias_velocity_ = 0.0f;
        z_.resize(rows);
        frozen_.resize(rows);
        violators_.rows.resize(rows);
        violators_.violation.resize(rows);
    }

    template <class Sample>
    void project(const Sample& sample, const LocalPlane& plane) {
        sample.scores(0, z_.size(), plane.w.data(), plane.bias, z_.data());
    }

    // The CCCP step: freezes the sign of every row.
    template <class Leaves, class IsRight>
    void freeze_signs(const Leaves& leaves, IsRight&& is_right) {
        const float* weight = leaves.weights().data();
        for (std::size_t i = 0; i < frozen_.size(); ++i)
            frozen_[i] = is_right(i) ? 2.0f * weight[i] : -2.0f * weight[i];
    }

    // The surrogate per unit of weight, at the projections in z_.
    template <class Leaves>
    double bound(const Leaves& leaves, const std::atomic<bool>& stop) const {
        double objective = 0.0, weight = 0.0;
        for (std::size_t i = 0; i < z_.size(); ++i) {
            throw_if(stop);
            const double w = leaves.weights()[i];
            objective += w * surrogate(z_[i], leaves.loss(0, i), leaves.loss(1, i));
            weight += w;
        }
        return objective / weight;
    }

    template <class Sample, class Leaves>
    void step(const Sample& sample, Leaves& leaves, const Co2Params& params, double rate,
              const Batches& batches, std::size_t batch, LocalPlane& plane) {
        const std::size_t begin = batches.begin(batch), n = batches.begin(batch + 1) - begin;
        sample.scores(begin, n, plane.w.data(), plane.bias, z_.data() + begin);
        leaves.charge(batch, begin, z_.data(), frozen_.data(), violators_);
        const float* violation = violators_.violation.data();
        float bias_gradient = 0.0f;
        for (std::size_t t = 0; t < violators_.count; ++t) bias_gradient += violation[t];

        const auto offset = static_cast<float>(params.offset);
        const auto momentum = static_cast<float>(params.momentum);
        const auto eta = static_cast<float>(params.rate_weights * rate) / violators_.batch_weight;
        sample.gradient(begin, {violators_.rows.data(), violators_.count}, violation, gradient_);
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
        leaves.step(rate);
    }

    AlignedFloats gradient_, velocity_;
    AlignedFloats z_;       // of each row, when it was last projected
    AlignedFloats frozen_;  // 2 s_i c_i: twice the weight, with the frozen sign
    Violators violators_;   // of a batch
    float bias_velocity_ = 0.0f;
    std::int64_t iterations_ = 0;
};

}  // namespace co2
