// SPDX-License-Identifier: BSD-3-Clause
// The squared loss of one or several outputs: l(theta, y) = |theta - y|^2. The best leaf is the
// mean of its rows, the impurity their weight times their variance, summed over outputs.
#pragma once

#include <cmath>

#include "loss/loss.hpp"
#include "targets.hpp"

namespace co2 {

// As LogLossScan; score() is minus the impurity of the two sides, but for a constant.
class SquaredLossScan {
   public:
    explicit SquaredLossScan(std::size_t n_outputs) : total_(n_outputs), left_(n_outputs) {}

    void gather(std::span<const RowId> ids, Values target, Weights weight) {
        const std::size_t k = total_.size();
        weight_.resize(ids.size());
        weighted_.resize(ids.size() * k);
        std::fill(total_.begin(), total_.end(), 0.0);
        total_weight_ = 0.0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto row = static_cast<std::size_t>(ids[i]);
            const auto w = static_cast<double>(weight[row]);
            const std::span<const float> y = target[row];
            weight_[i] = w;
            total_weight_ += w;
            for (std::size_t t = 0; t < k; ++t) {
                weighted_[i * k + t] = w * static_cast<double>(y[t]);
                total_[t] += weighted_[i * k + t];
            }
        }
    }

    void rewind() {
        std::fill(left_.begin(), left_.end(), 0.0);
        left_weight_ = 0.0;
    }

    void move_left(std::size_t i) {
        for (std::size_t t = 0; t < left_.size(); ++t) left_[t] += weighted_[i * left_.size() + t];
        left_weight_ += weight_[i];
    }

    std::size_t numbers_per_level() const { return left_.size() + 1; }
    void put_on_levels(std::span<const float> values, float lowest, std::size_t count) {
        const std::size_t k = left_.size();
        level_.assign(count * numbers_per_level(), 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            double* numbers =
                level_.data() + static_cast<std::size_t>(values[i] - lowest) * numbers_per_level();
            for (std::size_t t = 0; t < k; ++t) numbers[t] += weighted_[i * k + t];
            numbers[k] += weight_[i];
        }
    }
    bool has_level(std::size_t level) const {
        return level_[level * numbers_per_level() + left_.size()] > 0.0;
    }
    void move_level_left(std::size_t level) {
        const double* numbers = level_.data() + level * numbers_per_level();
        for (std::size_t t = 0; t < left_.size(); ++t) left_[t] += numbers[t];
        left_weight_ += numbers[left_.size()];
    }

    double score() const {
        const double right_weight = total_weight_ - left_weight_;
        double left = 0.0, right = 0.0;
        for (std::size_t t = 0; t < left_.size(); ++t) {
            const double r = total_[t] - left_[t];
            left += left_[t] * left_[t];
            right += r * r;
        }
        return (left_weight_ > 0.0 ? left / left_weight_ : 0.0) +
               (right_weight > 0.0 ? right / right_weight : 0.0);
    }

    std::size_t count() const { return weight_.size(); }
    double left_weight() const { return left_weight_; }
    double total_weight() const { return total_weight_; }

   private:
    std::vector<double> weight_, weighted_;  // of each row; weight times each output
    std::vector<double> total_, left_;       // per output
    std::vector<double> level_;              // levels x numbers_per_level()
    double total_weight_ = 0.0, left_weight_ = 0.0;
};

class SquaredLoss {
   public:
    using Targets = Values;
    using Scan = SquaredLossScan;
    static constexpr bool kDistributions = false;

    struct Summary {
        std::vector<double> sum;  // of each output
        double square = 0.0;      // of all outputs
        double weight = 0.0;
        double impurity = 0.0;
        bool pure = true;  // all targets are the same

        bool is_pure() const { return pure; }
        std::size_t values() const { return sum.size(); }

        template <class F>
        void for_each_value(F&& f) const {
            for (std::size_t t = 0; t < sum.size(); ++t)
                f(static_cast<std::int32_t>(t), sum[t] / weight);
        }
    };

    SquaredLoss(Values target, std::size_t n_outputs) : target_(target), n_outputs_(n_outputs) {
        begin();
    }

    void add(std::size_t row, float weight) {
        const std::span<const float> y = target_[row];
        if (!has_first_) first_ = row;
        now_.pure = now_.pure && (!has_first_ || std::ranges::equal(y, target_[first_]));
        has_first_ = true;
        const auto w = static_cast<double>(weight);
        for (std::size_t t = 0; t < n_outputs_; ++t) {
            const auto value = static_cast<double>(y[t]);
            now_.sum[t] += w * value;
            now_.square += w * value * value;
        }
        now_.weight += w;
    }

    Summary take() {
        now_.impurity = now_.pure ? 0.0 : impurity_of(now_.sum, now_.square, now_.weight);
        Summary out = std::move(now_);
        begin();
        return out;
    }

    Sides take_right_of(const Summary& node) {
        left_.resize(n_outputs_);
        for (std::size_t t = 0; t < n_outputs_; ++t) left_[t] = node.sum[t] - now_.sum[t];
        Sides out;
        out.right_weight = now_.weight;
        out.left_weight = std::max(0.0, node.weight - now_.weight);
        out.impurity = impurity_of(now_.sum, now_.square, out.right_weight) +
                       impurity_of(left_, node.square - now_.square, out.left_weight);
        begin();
        return out;
    }

   private:
    void begin() {
        now_ = {};
        now_.sum.assign(n_outputs_, 0.0);
        has_first_ = false;
    }

    static double impurity_of(std::span<const double> sum, double square, double weight) {
        if (!(weight > 0.0)) return 0.0;
        double explained = 0.0;
        for (const double s : sum) explained += s * s;
        return std::max(0.0, square - explained / weight);
    }

    Values target_;
    std::size_t n_outputs_;
    Summary now_;            // of the rows added
    std::size_t first_ = 0;  // of them
    bool has_first_ = false;
    std::vector<double> left_;  // work space
};

}  // namespace co2
