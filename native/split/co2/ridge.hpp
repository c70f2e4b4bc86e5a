// SPDX-License-Identifier: BSD-3-Clause
// The closed form of Solver::kAuto for nodes with few rows. It does not minimise the paper's bound:
// it keeps the bound's view of a node (each class prefers the leaf where its loss is smaller; the
// hyperplane should send it there with a margin) and replaces the hinge by a squared loss.
//
// Repeated until the classes' preferences settle, at most three times:
//   t_i = the side that the class of row i prefers, +1 or -1;
//   weights balanced so that both sides weigh the same;
//   w = argmin sum_i c_i (t_i - <w, x_i> - b)^2 + ridge * v |w|^2,  v = mean squared row norm;
//   leaves estimated again from the sides of <w, x> + b.
// Solved in the space of rows or of features, whichever is smaller.
//
// Reason: these nodes are three quarters of a tree on Letter, and 100 steps of gradient descent are
// both slower and (mean over validation sets, see docs/algorithm.md) less accurate there.
#pragma once

#include "split/co2/optimiser.hpp"

namespace co2 {

class RidgeSplit {
   public:
    // False if all classes prefer the same leaf, so that there is nothing to separate.
    bool fit(const DenseSample& sample, const NodeTargets& targets, const AxisStart& start,
             const SolverParams& params, LocalPlane& plane) {
        centre(sample, targets);
        leaves_.start(start.left, start.right, params.smoothing);
        side_.assign(targets.classes, 0.0f);
        for (int round = 0; round < kRounds; ++round) {
            if (!prefer_sides(targets)) return round > 0;
            const bool changed = round == 0 || side_ != previous_side_;
            if (!changed) return true;
            if (!solve(sample, targets, params, plane)) return round > 0;
            if (round + 1 < kRounds) estimate_leaves(sample, targets, params, plane);
            previous_side_ = side_;
        }
        return true;
    }

   private:
    static constexpr int kRounds = 3;

    void centre(const DenseSample& sample, const NodeTargets& targets) {
        n_ = sample.count();
        gram_.clear();
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

    bool solve(const DenseSample& sample, const NodeTargets& targets, const SolverParams& params,
               LocalPlane& plane) {
        balance(targets);
        const float penalty = static_cast<float>(params.ridge * mean_square_);
        if (!(penalty > 0.0f)) return false;
        plane.w.assign(stride_, 0.0f);
        const bool solved = n_ <= sample.width() ? solve_by_rows(penalty, plane)
                                                 : solve_by_features(penalty, plane);
        if (!solved) return false;
        // <w, x - mean - shift>, in the coordinates of the sample.
        const Kernels& k = kernels();
        plane.bias = -(k.dot_f32(plane.w.data(), mean_.data(), stride_) +
                       k.dot_f32(plane.w.data(), shift_.data(), stride_));
        return std::isfinite(plane.bias);
    }

    // Balanced weights, the targets, and the balanced mean of the centred rows.
    void balance(const NodeTargets& targets) {
        float weight[2] = {0.0f, 0.0f};
        target_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            target_[i] = side_[static_cast<std::size_t>(targets.label[i])];
            weight[target_[i] > 0.0f] += targets.weight[i];
        }
        balanced_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i)
            balanced_[i] = targets.weight[i] * 0.5f * total_ / weight[target_[i] > 0.0f];
        shift_.assign(stride_, 0.0f);
        kernels().accumulate_f32(block_.data(), stride_, order_.data(), balanced_.data(), n_,
                                 shift_.data());
        kernels().scale(shift_.data(), 1.0f / total_, stride_);
    }

    // Inner products of all pairs of centred rows; the same in every round.
    void compute_gram() {
        width_ = round_up_to_lanes(n_);
        gram_.assign(n_ * width_, 0.0f);
        for (std::size_t i = 0; i < n_; ++i) {
            kernels().scores_f32(block_.data(), stride_, i + 1, block_.data() + i * stride_, 0.0f,
                                 gram_.data() + i * width_);
            for (std::size_t j = 0; j < i; ++j) gram_[j * width_ + i] = gram_[i * width_ + j];
        }
    }

    // w = sum_i a_i (x_i - m) with (K + penalty diag(1 / c)) a = t, where m is the balanced mean
    // and K_ij = <x_i - m, x_j - m>.
    bool solve_by_rows(float penalty, LocalPlane& plane) {
        const Kernels& k = kernels();
        if (gram_.empty()) compute_gram();
        padded_.assign(width_, 0.0f);
        for (std::size_t i = 0; i < n_; ++i) padded_[i] = balanced_[i] / total_;
        projection_.resize(n_);  // <x_i, m>
        k.scores_f32(gram_.data(), width_, n_, padded_.data(), 0.0f, projection_.data());
        const float square = k.dot_f32(padded_.data(), projection_.data(), n_);
        matrix_.resize(n_ * width_);
        for (std::size_t i = 0; i < n_; ++i) {
            float* row = matrix_.data() + i * width_;
            const float* products = gram_.data() + i * width_;
            const float shift = square - projection_[i];
            for (std::size_t j = 0; j <= i; ++j) row[j] = products[j] + (shift - projection_[j]);
            row[i] += penalty / balanced_[i];
        }
        solution_ = target_;
        if (!k.solve_spd(matrix_.data(), width_, n_, solution_.data())) return false;
        k.accumulate_f32(block_.data(), stride_, order_.data(), solution_.data(), n_,
                         plane.w.data());
        float total = 0.0f;
        for (const float a : solution_) total += a;
        for (std::size_t j = 0; j < stride_; ++j) plane.w[j] -= total * shift_[j];
        return true;
    }

    // (X^T C X - W m m^T + penalty I) w = X^T C t, m the balanced mean.
    bool solve_by_features(float penalty, LocalPlane& plane) {
        const Kernels& k = kernels();
        matrix_.resize(stride_ * stride_);
        k.weighted_gram(block_.data(), stride_, n_, balanced_.data(), matrix_.data());
        for (std::size_t i = 0; i < stride_; ++i) {
            float* row = matrix_.data() + i * stride_;
            for (std::size_t j = 0; j <= i; ++j) row[j] -= total_ * shift_[i] * shift_[j];
            row[i] += penalty;
        }
        solution_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) solution_[i] = balanced_[i] * target_[i];
        k.accumulate_f32(block_.data(), stride_, order_.data(), solution_.data(), n_,
                         plane.w.data());
        return k.solve_spd(matrix_.data(), stride_, stride_, plane.w.data());
    }

    void estimate_leaves(const DenseSample& sample, const NodeTargets& targets,
                         const SolverParams& params, const LocalPlane& plane) {
        projection_.resize(n_);
        sample.scores(0, n_, plane.w.data(), plane.bias, projection_.data());
        left_.assign(targets.classes, 0.0);
        right_.assign(targets.classes, 0.0);
        for (std::size_t i = 0; i < n_; ++i)
            (projection_[i] >= 0.0f ? right_ : left_)[static_cast<std::size_t>(targets.label[i])] +=
                targets.weight[i];
        leaves_.estimate(left_, right_, params.smoothing);
    }

    std::size_t n_ = 0, stride_ = 0, width_ = 0;
    float total_ = 0.0f;        // weight of the rows
    double mean_square_ = 0.0;  // v
    LogLossLeaves leaves_;
    std::vector<std::int32_t> order_;          // 0, 1, ..., n - 1
    AlignedFloats mean_, ones_, block_;        // centred rows, n x stride
    AlignedFloats side_, previous_side_;       // +1 or -1 per class
    AlignedFloats target_, balanced_, shift_;  // t_i, c_i, balanced mean
    AlignedFloats gram_;                       // n x width, of the centred rows; may be empty
    AlignedFloats matrix_, solution_, projection_, padded_;
    std::vector<double> left_, right_;
};

}  // namespace co2
