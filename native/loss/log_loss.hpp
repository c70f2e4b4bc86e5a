// SPDX-License-Identifier: BSD-3-Clause
// The log loss of the paper: leaf parameters theta are unnormalised log-probabilities,
//   l(theta, y) = -theta_y + log sum_a exp theta_a.
// Its smallest value over theta, summed over a set of rows, is the set's weight times its entropy
// (in nats), so the decrease that a split brings is the information gain.
#pragma once

#include <cmath>

#include "types.hpp"

namespace co2 {

inline double x_log2_x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

// Weight times entropy in bits: the impurity of scikit-learn's criterion="entropy", not averaged.
inline double entropy_bits(std::span<const double> class_weight) {
    double total = 0.0, sum = 0.0;
    for (const double c : class_weight) {
        total += c;
        sum += x_log2_x(c);
    }
    return std::max(0.0, x_log2_x(total) - sum);
}

// The two leaves of a stump over the k classes that occur in a node.
//
// Single precision and rows of 16, for the kernels: on Letter, with its 26 classes, that is worth a
// tenth of a tree's time.
class LogLossLeaves {
   public:
    // theta from the class weights of the two sides. `smoothing` keeps log finite where a side
    // lacks a class.
    void start(std::span<const double> left, std::span<const double> right, double smoothing) {
        k_ = left.size();
        stride_ = round_up_to_lanes(k_);
        for (auto* v : {&velocity_, &probability_}) v->assign(2 * stride_, 0.0f);
        theta_.assign(2 * stride_, kAbsent);
        gap_.resize(stride_);
        estimate(left, right, smoothing);
    }

    void estimate(std::span<const double> left, std::span<const double> right, double smoothing) {
        for (std::size_t side = 0; side < 2; ++side) {
            const auto counts = side == 0 ? left : right;
            double total = 0.0;
            for (const double c : counts) total += c + smoothing;
            for (std::size_t y = 0; y < k_; ++y)
                theta_[side * stride_ + y] =
                    static_cast<float>(std::log((counts[y] + smoothing) / total));
        }
        refresh();
    }

    // D_y = (l(theta_0, y) - l(theta_1, y)) / 2: where the two arms of the bound meet. A row of
    // class y is charged to leaf 1 iff its projection exceeds D_y.
    const float* gap() const { return gap_.data(); }
    double loss(std::size_t side, std::size_t y) const { return -theta_[side * stride_ + y]; }
    std::size_t classes() const { return k_; }
    std::size_t stride() const { return stride_; }

    // One step of gradient descent with momentum. charged[side * stride() + y] is the weight of the
    // rows of class y in the batch that are charged to that side, zero beyond the classes.
    void step(std::span<const float> charged, float batch_weight, float momentum, float rate) {
        for (std::size_t side = 0; side < 2; ++side) {
            const float* mine = charged.data() + side * stride_;
            float* theta = theta_.data() + side * stride_;
            float* velocity = velocity_.data() + side * stride_;
            const float* probability = probability_.data() + side * stride_;
            float total = 0.0f;
            for (std::size_t y = 0; y < k_; ++y) total += mine[y];
            const float factor = rate / batch_weight;
            for (std::size_t y = 0; y < k_; ++y) {
                velocity[y] = momentum * velocity[y] - factor * (probability[y] * total - mine[y]);
                theta[y] += velocity[y];
            }
        }
        refresh();
    }

   private:
    static constexpr float kAbsent = -1e30f;  // theta in the place of a class that fills a row

    // A shift of theta changes nothing, so it is kept normalised: then l(theta, y) = -theta_y.
    void refresh() {
        for (std::size_t side = 0; side < 2; ++side)
            kernels().normalise_log(theta_.data() + side * stride_, stride_,
                                    probability_.data() + side * stride_);
        for (std::size_t y = 0; y < k_; ++y) gap_[y] = 0.5f * (theta_[stride_ + y] - theta_[y]);
    }

    std::size_t k_ = 0, stride_ = 0;
    AlignedFloats theta_, velocity_, probability_;  // 2 x stride: side 0, then side 1
    AlignedFloats gap_;                             // stride
};

}  // namespace co2
