// SPDX-License-Identifier: BSD-3-Clause
// The log loss where confusions have costs: C[y][d] in [0, 1] is the cost of deciding for class d
// where y is true. theta_d are the log-odds of the expected cost of decision d,
//   l(theta, y) = sum_d BinaryPoint(theta_d, C[y][d]),
// so that the best leaf knows the expected cost of each decision, and the least of them is the best
// one. Targets are 1 for the class of a row and 0 for the others; a leaf stores their means, the
// probabilities of the classes.
#pragma once

#include "loss/multilabel.hpp"

namespace co2 {

class CostLoss final : public ValueLoss {
   public:
    static constexpr LossTraits kTraits{
        .name = "cost", .chosen_by_user = false, .lowest = 0.0, .highest = 1.0};

    CostLoss(const ValueLossParams& params, std::size_t n_classes)
        : cost_(params.cost), k_(n_classes) {
        if (cost_.size() != k_ * k_)
            throw std::invalid_argument("cost must have one entry per pair of classes");
        for (const float c : cost_)
            if (!(c >= 0.0f && c <= 1.0f)) throw std::invalid_argument("costs must be in [0, 1]");
    }

    double value(Theta theta, Targets y) const override {
        double sum = 0.0;
        for (std::size_t d = 0; d < k_; ++d) sum += BinaryPoint::value(theta[d], expected(y, d));
        return sum;
    }
    void gradient(Theta theta, Targets y, std::span<double> g) const override {
        for (std::size_t d = 0; d < k_; ++d) g[d] = BinaryPoint::gradient(theta[d], expected(y, d));
    }
    void curvature(Theta theta, Targets y, std::span<double> h) const override {
        for (std::size_t d = 0; d < k_; ++d)
            h[d] = BinaryPoint::curvature(theta[d], expected(y, d));
    }

    void gaps(Theta theta_0, Theta theta_1, Targets y, std::span<float> gap) const override {
        for (std::size_t i = 0; i < gap.size(); ++i) {
            const Targets row = y.subspan(i * k_, k_);
            gap[i] = static_cast<float>(0.5 * (value(theta_0, row) - value(theta_1, row)));
        }
    }
    void add_slopes(Theta theta_0, Theta theta_1, Targets y, std::span<const float> weight,
                    std::span<const std::uint8_t> right, std::span<double> slope_0,
                    std::span<double> slope_1) const override {
        std::vector<double> g(k_);
        for (std::size_t i = 0; i < weight.size(); ++i) {
            gradient(right[i] ? theta_1 : theta_0, y.subspan(i * k_, k_), g);
            for (std::size_t d = 0; d < k_; ++d)
                (right[i] ? slope_1 : slope_0)[d] += static_cast<double>(weight[i]) * g[d];
        }
    }

    bool of_means() const override { return true; }
    bool of_squares() const override { return false; }
    bool distributions() const override { return true; }
    double explained(std::span<const double> sum, double weight) const override {
        double total = 0.0;
        for (std::size_t d = 0; d < k_; ++d)
            total += BinaryPoint::explained(expected(sum, d), weight);
        return total;
    }
    void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const override {
        for (std::size_t d = 0; d < k_; ++d) theta[d] = BinaryPoint::theta_of(expected(mean, d));
    }
    void leaf_of_rows(std::span<const float>, std::span<const float>,
                      std::span<double>) const override {}

    // The cost of the decision that the probabilities in `output` lead to.
    double error(std::span<const double> output, Targets y) const override {
        std::size_t best = 0;
        for (std::size_t d = 1; d < k_; ++d)
            if (expected(output, d) < expected(output, best)) best = d;
        return expected(y, best);
    }

   private:
    template <class T>
    double expected(std::span<const T> classes, std::size_t decision) const {
        double sum = 0.0;
        for (std::size_t y = 0; y < k_; ++y)
            sum += static_cast<double>(classes[y]) * static_cast<double>(cost_[y * k_ + decision]);
        return sum;
    }

    std::vector<float> cost_;  // true class x decision
    std::size_t k_;
};

}  // namespace co2
