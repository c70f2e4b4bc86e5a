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
class LogLossLeaves {
   public:
    // theta from the class weights of the two sides. `smoothing` keeps log finite where a side
    // lacks a class.
    void start(std::span<const double> left, std::span<const double> right, double smoothing) {
        k_ = left.size();
        for (auto* v : {&theta_, &velocity_, &loss_, &probability_}) v->assign(2 * k_, 0.0);
        gap_.resize(k_);
        estimate(left, right, smoothing);
    }

    void estimate(std::span<const double> left, std::span<const double> right, double smoothing) {
        for (std::size_t side = 0; side < 2; ++side) {
            const auto counts = side == 0 ? left : right;
            double total = 0.0;
            for (const double c : counts) total += c + smoothing;
            for (std::size_t y = 0; y < k_; ++y)
                theta_[side * k_ + y] = std::log((counts[y] + smoothing) / total);
        }
        refresh();
    }

    // D_y = (l(theta_0, y) - l(theta_1, y)) / 2: where the two arms of the bound meet. A row of
    // class y is charged to leaf 1 iff its projection exceeds D_y.
    const float* gap() const { return gap_.data(); }
    double loss(std::size_t side, std::size_t y) const { return loss_[side * k_ + y]; }
    std::size_t classes() const { return k_; }

    // One step of gradient descent with momentum. charged[side * k + y] is the weight of the rows
    // of class y in the batch that are charged to that side.
    void step(std::span<const double> charged, double batch_weight, double momentum, double rate) {
        for (std::size_t side = 0; side < 2; ++side) {
            double total = 0.0;
            for (std::size_t y = 0; y < k_; ++y) total += charged[side * k_ + y];
            for (std::size_t y = 0; y < k_; ++y) {
                const std::size_t t = side * k_ + y;
                const double gradient = (probability_[t] * total - charged[t]) / batch_weight;
                velocity_[t] = momentum * velocity_[t] - rate * gradient;
                theta_[t] += velocity_[t];
            }
        }
        refresh();
    }

   private:
    void refresh() {
        for (std::size_t side = 0; side < 2; ++side) {
            const double* theta = theta_.data() + side * k_;
            double top = theta[0];
            for (std::size_t y = 1; y < k_; ++y) top = std::max(top, theta[y]);
            double sum = 0.0;
            for (std::size_t y = 0; y < k_; ++y)
                sum += probability_[side * k_ + y] = std::exp(theta[y] - top);
            const double log_sum = top + std::log(sum);
            for (std::size_t y = 0; y < k_; ++y) {
                probability_[side * k_ + y] /= sum;
                loss_[side * k_ + y] = log_sum - theta[y];
            }
        }
        for (std::size_t y = 0; y < k_; ++y)
            gap_[y] = static_cast<float>(0.5 * (loss_[y] - loss_[k_ + y]));
    }

    std::size_t k_ = 0;
    std::vector<double> theta_, velocity_, loss_, probability_;  // 2 x k: side 0, then side 1
    std::vector<float> gap_;                                     // k
};

}  // namespace co2
