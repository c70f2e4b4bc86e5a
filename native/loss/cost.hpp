// SPDX-License-Identifier: BSD-3-Clause
// The log loss where confusions have costs: C[y][d] in [0, 1] is the cost of deciding for class d
// where y is true. theta_d are the log-odds of the expected cost of decision d,
//   l(theta, y) = sum_d BinaryPoint(theta_d, C[y][d]),
// so that the best leaf knows the expected cost of each decision, and the least of them is the best
// one. Targets are 1 for the class of a row and 0 for the others; a leaf stores their means, the
// probabilities of the classes. A scan adds up the costs of the rows' classes instead: with K
// classes, the expected costs of a sum of classes take K^2 steps.
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
        own_.assign(k_, 0.0);
        for (std::size_t y = 0; y < k_; ++y)
            for (const float c : costs(y)) own_[y] += BinaryPoint::minus_entropy(c);
    }

    double value(Theta theta, Targets y) const override {
        double sum = own(y);
        const auto cost = costs(class_of(y));
        for (std::size_t d = 0; d < k_; ++d)
            sum += BinaryPoint::softplus(theta[d]) - theta[d] * static_cast<double>(cost[d]);
        return sum;
    }
    void gradient(Theta theta, Targets y, std::span<double> g) const override {
        const auto cost = costs(class_of(y));
        for (std::size_t d = 0; d < k_; ++d) g[d] = BinaryPoint::gradient(theta[d], cost[d]);
    }
    void curvature(Theta theta, Targets y, std::span<double> h) const override {
        const auto cost = costs(class_of(y));
        for (std::size_t d = 0; d < k_; ++d) h[d] = BinaryPoint::curvature(theta[d], cost[d]);
    }

    // What needs exponentials is the same for all rows.
    void gaps(Theta theta_0, Theta theta_1, Targets y, std::span<float> gap) const override {
        double common = 0.0;
        for (std::size_t d = 0; d < k_; ++d)
            common += BinaryPoint::softplus(theta_0[d]) - BinaryPoint::softplus(theta_1[d]);
        for (std::size_t i = 0; i < gap.size(); ++i) {
            const auto cost = costs(class_of(y.subspan(i * k_, k_)));
            double own = 0.0;
            for (std::size_t d = 0; d < k_; ++d)
                own += (theta_0[d] - theta_1[d]) * static_cast<double>(cost[d]);
            gap[i] = static_cast<float>(0.5 * (common - own));
        }
    }
    void add_slopes(Theta theta_0, Theta theta_1, Targets y, std::span<const float> weight,
                    std::span<const std::uint8_t> right, std::span<double> slope_0,
                    std::span<double> slope_1) const override {
        double weight_0 = 0.0, weight_1 = 0.0;
        for (std::size_t i = 0; i < weight.size(); ++i) {
            const auto w = static_cast<double>(weight[i]);
            (right[i] ? weight_1 : weight_0) += w;
            const auto slope = right[i] ? slope_1 : slope_0;
            const auto cost = costs(class_of(y.subspan(i * k_, k_)));
            for (std::size_t d = 0; d < k_; ++d) slope[d] -= w * static_cast<double>(cost[d]);
        }
        for (std::size_t d = 0; d < k_; ++d) {
            slope_0[d] += weight_0 * BinaryPoint::probability(theta_0[d]);
            slope_1[d] += weight_1 * BinaryPoint::probability(theta_1[d]);
        }
    }

    bool of_means() const override { return true; }
    bool of_squares() const override { return false; }
    bool distributions() const override { return true; }
    double own(Targets y) const override { return own_[class_of(y)]; }
    double explained(std::span<const double> sum, double weight) const override {
        return explained_by_terms(expected(sum), weight);
    }
    bool has_terms() const override { return true; }
    void terms(Targets y, std::span<double> out) const override {
        std::ranges::copy(costs(class_of(y)), out.begin());
    }
    double explained_by_terms(std::span<const double> sum, double weight) const override {
        double total = 0.0;
        for (const double cost : sum)
            total += BinaryPoint::x_log_x(cost) + BinaryPoint::x_log_x(weight - cost);
        return total - static_cast<double>(k_) * BinaryPoint::x_log_x(weight);
    }
    void leaf_of_mean(std::span<const double> mean, std::span<double> theta) const override {
        std::ranges::transform(expected(mean), theta.begin(), BinaryPoint::theta_of);
    }
    void leaf_of_rows(std::span<const float>, std::span<const float>,
                      std::span<double>) const override {}

    // The cost of the decision that the probabilities in `output` lead to.
    double error(std::span<const double> output, Targets y) const override {
        const auto cost = expected(output);
        return costs(
            class_of(y))[static_cast<std::size_t>(std::ranges::min_element(cost) - cost.begin())];
    }

   private:
    static std::size_t class_of(Targets y) {
        return static_cast<std::size_t>(std::ranges::max_element(y) - y.begin());
    }

    std::span<const float> costs(std::size_t y) const { return {cost_.data() + y * k_, k_}; }

    // The expected cost of each decision. Where there are many classes, most nodes have only a few.
    std::vector<double> expected(std::span<const double> classes) const {
        std::vector<double> out(k_, 0.0);
        for (std::size_t y = 0; y < k_; ++y) {
            if (classes[y] == 0.0) continue;
            const auto cost = costs(y);
            for (std::size_t d = 0; d < k_; ++d)
                out[d] += classes[y] * static_cast<double>(cost[d]);
        }
        return out;
    }

    std::vector<float> cost_;  // true class x decision
    std::vector<double> own_;  // of each class: f of its costs
    std::size_t k_;
};

}  // namespace co2
