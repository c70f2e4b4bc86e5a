// SPDX-License-Identifier: BSD-3-Clause
// What Solver::kRidge does in nodes with few rows. It does not minimise the paper's bound. It keeps
// the bound's view of a node (each class prefers the leaf where its loss is smaller; the hyperplane
// should send it there with a margin) and replaces the hinge by a squared loss.
//
// Repeated until the classes' preferences settle, at most three times:
//   t_i = the side that the class of row i prefers, +1 or -1;
//   weights balanced so that both sides weigh the same;
//   w = argmin sum_i c_i (t_i - <w, x_i> - b)^2 + ridge * v |w|^2,  v = mean squared row norm;
//   leaves estimated again from the sides of <w, x> + b.
// Conjugate gradients need neither the matrix nor its factors (Covertype: a tree in 0.75 of the
// time that it took with them).
//
// Reason: these nodes are three quarters of a tree on Letter, and 30 steps of gradient descent are
// both slower and (mean over validation sets, see docs/algorithm.md) less accurate there.
#pragma once

#include "split/co2/axis_start.hpp"
#include "split/co2/optimiser.hpp"
#include "split/linear/conjugate_gradients.hpp"

namespace co2 {

class RidgeSplit {
   public:
    // Two classes prefer different leaves whatever the start, so they need none. False if all rows
    // are duplicates.
    bool fit_two_classes(const DenseSample& sample, const NodeTargets& targets,
                         const Co2Params& params, LocalPlane& plane) {
        centre(sample, targets);
        side_ = {-1.0f, 1.0f};
        return solve(targets, params, plane);
    }

    // False if all classes prefer the same leaf, so that there is nothing to separate.
    bool fit(const DenseSample& sample, const NodeTargets& targets, const AxisStart& start,
             const Co2Params& params, LocalPlane& plane) {
        centre(sample, targets);
        leaves_.start(start.left, start.right, params.smoothing);
        side_.assign(targets.classes, 0.0f);
        for (int round = 0; round < kRounds; ++round) {
            if (!prefer_sides(targets)) return round > 0;
            const bool changed = round == 0 || side_ != previous_side_;
            if (!changed) return true;
            if (!solve(targets, params, plane)) return false;
            if (round + 1 < kRounds) estimate_leaves(targets, params);
            previous_side_ = side_;
        }
        return true;
    }

   private:
    static constexpr int kRounds = 3;
    // Fewer than convergence takes, which regularises too. Validation errors with 4, 6 and 40 steps
    // are 1.01, 1.00 and 1.00 times those with 10 (geometric mean over six or seven sets).
    static constexpr int kSteps = 6;

    void centre(const DenseSample& sample, const NodeTargets& targets) {
        n_ = sample.count();
        stride_ = sample.stride();
        mean_.assign(stride_, 0.0f);
        block_.resize(n_ * stride_);
        order_.resize(n_);
        std::iota(order_.begin(), order_.end(), 0);
        total_ = 0.0f;
        for (std::size_t i = 0; i < n_; ++i) total_ += targets.weight[i];
        kernels().accumulate_f32(sample.row(0), stride_, order_.data(), targets.weight.data(), n_,
                                 mean_.data());
        kernels().scale(mean_.data(), 1.0f / total_, stride_);
        ones_.assign(stride_, 1.0f);
        const FeatureMap subtract_mean{mean_.data(), mean_.data(), ones_.data(), nullptr, nullptr};
        kernels().standardise_f32(sample.row(0), n_, stride_, order_.data(), n_, subtract_mean,
                                  stride_, block_.data());
        mean_square_ = 0.0;
        for (std::size_t i = 0; i < n_; ++i) {
            const float* row = block_.data() + i * stride_;
            mean_square_ += targets.weight[i] * kernels().dot_f32(row, row, stride_);
        }
        mean_square_ /= total_;
    }

    // False if no class prefers one of the leaves.
    bool prefer_sides(const NodeTargets& targets) {
        bool any[2] = {false, false};
        for (std::size_t y = 0; y < targets.classes; ++y) {
            const bool right = leaves_.gap()[y] > 0.0f;
            side_[y] = right ? 1.0f : -1.0f;
            any[right] = true;
        }
        return any[0] && any[1];
    }

    bool solve(const NodeTargets& targets, const Co2Params& params, LocalPlane& plane) {
        balance(targets);
        const float penalty =
            static_cast<float>(params.ridge * mean_square_ * static_cast<double>(n_) / total_);
        if (!(penalty > 0.0f)) return false;
        if (!descend(penalty, plane.w)) return false;
        plane.bias = -(kernels().dot_f32(plane.w.data(), mean_.data(), stride_) + centre_);
        return std::isfinite(plane.bias);
    }

    // Weights that balance the two sides, one on average, and the targets.
    void balance(const NodeTargets& targets) {
        float weight[2] = {0.0f, 0.0f};
        target_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            target_[i] = side_[static_cast<std::size_t>(targets.label[i])];
            weight[target_[i] > 0.0f] += targets.weight[i];
        }
        balanced_.resize(n_);
        const auto rows = static_cast<float>(n_);
        for (std::size_t i = 0; i < n_; ++i)
            balanced_[i] = targets.weight[i] * 0.5f * rows / weight[target_[i] > 0.0f];
    }

    // Solves (X^T C X + penalty I) w = X^T C t, where the rows of X have their balanced mean m
    // subtracted: neither m nor the matrix is ever formed. Leaves <w, m> in centre_, and the
    // projections of the rows, less that, in projection_.
    bool descend(float penalty, AlignedFloats& w) {
        const std::size_t padded = round_up_to_lanes(n_);
        w.assign(stride_, 0.0f);
        residual_.assign(stride_, 0.0f);
        projection_.assign(padded, 0.0f);
        along_.assign(padded, 0.0f);
        weighted_.resize(n_);
        centre_ = 0.0f;
        for (std::size_t i = 0; i < n_; ++i) weighted_[i] = balanced_[i] * target_[i];
        add_rows(residual_);
        return gradients_.solve(Matrix{*this, penalty}, kSteps, residual_, w);
    }

    struct Matrix {
        RidgeSplit& s;
        float penalty;
        float mean = 0.0f;  // of the projections on the direction

        float curvature(const AlignedFloats& direction) {
            const Kernels& k = kernels();
            k.scores_f32(s.block_.data(), s.stride_, s.n_, direction.data(), 0.0f, s.along_.data());
            mean = k.dot_f32(s.balanced_.data(), s.along_.data(), s.n_) / static_cast<float>(s.n_);
            float sum = penalty * k.dot_f32(direction.data(), direction.data(), s.stride_);
            for (std::size_t i = 0; i < s.n_; ++i) {
                s.along_[i] -= mean;
                s.weighted_[i] = s.balanced_[i] * s.along_[i];
                sum += s.weighted_[i] * s.along_[i];
            }
            return sum;
        }
        void moved(float length) {
            s.centre_ += length * mean;
            kernels().combine(length, s.along_.data(), 1.0f, s.projection_.data(),
                              s.projection_.size());
        }
        void reduce(AlignedFloats& residual, const AlignedFloats& direction, float length) {
            for (std::size_t i = 0; i < s.n_; ++i) s.weighted_[i] *= -length;
            kernels().combine(-length * penalty, direction.data(), 1.0f, residual.data(),
                              s.stride_);
            s.add_rows(residual);
        }
    };

    // sum += the rows times weighted_.
    void add_rows(AlignedFloats& sum) {
        kernels().accumulate_f32(block_.data(), stride_, order_.data(), weighted_.data(), n_,
                                 sum.data());
    }

    void estimate_leaves(const NodeTargets& targets, const Co2Params& params) {
        left_.assign(targets.classes, 0.0);
        right_.assign(targets.classes, 0.0);
        for (std::size_t i = 0; i < n_; ++i)
            (projection_[i] >= 0.0f ? right_ : left_)[static_cast<std::size_t>(targets.label[i])] +=
                targets.weight[i];
        leaves_.estimate(left_, right_, params.smoothing);
    }

    std::size_t n_ = 0, stride_ = 0;
    float total_ = 0.0f;        // weight of the rows
    double mean_square_ = 0.0;  // v
    LogLossLeaves leaves_;
    std::vector<std::int32_t> order_;     // 0, 1, ..., n - 1
    AlignedFloats mean_, ones_, block_;   // centred rows, n x stride
    AlignedFloats side_, previous_side_;  // +1 or -1 per class
    AlignedFloats target_, balanced_;     // t_i, c_i
    ConjugateGradients gradients_;
    AlignedFloats residual_;
    AlignedFloats projection_, along_, weighted_;
    float centre_ = 0.0f;  // <w, m> of descend()
    std::vector<double> left_, right_;
};

}  // namespace co2
