// SPDX-License-Identifier: BSD-3-Clause
// The loss of numbers while a tree grows, for any ValueLoss.
#pragma once

#include <memory>
#include <utility>

#include "base/stop.hpp"
#include "loss/loss.hpp"
#include "loss/targets.hpp"
#include "loss/value_loss.hpp"
#include "rows/weights.hpp"

namespace co2 {

// Sums of some rows' targets, and the loss at the best leaf.
struct ValueSums {
    std::vector<double> sum;  // of each output
    double own = 0.0;         // for losses of means: sum_i w_i f(y_i)
    double weight = 0.0;

    void clear(std::size_t n_outputs) {
        sum.assign(n_outputs, 0.0);
        own = weight = 0.0;
    }
    void add(std::span<const float> y, double w, double f_of_y) {
        for (std::size_t t = 0; t < y.size(); ++t) sum[t] += w * static_cast<double>(y[t]);
        own += w * f_of_y;
        weight += w;
    }
    double impurity(const ValueLoss& loss) const {
        return std::max(0.0, own - loss.explained(sum, weight));
    }
};

// Like LogLossScan. score() is minus the impurity of the two sides, up to a constant. For a loss of
// rows it is that of the squared loss of the responses.
class ValuesScan {
   public:
    ValuesScan(std::shared_ptr<const ValueLoss> loss, std::size_t n_outputs)
        : loss_(std::move(loss)), of_squares_(loss_->of_squares()), total_(n_outputs),
          left_(n_outputs), right_(n_outputs), theta_(n_outputs), gradient_(n_outputs) {}

    void gather(std::span<const RowId> ids, Values target, Weights weight,
                const std::atomic<bool>& stop) {
        const std::size_t k = total_.size();
        weight_.resize(ids.size());
        weighted_.resize(ids.size() * k);
        const bool of_means = loss_->of_means();
        if (!of_means) find_leaf(ids, target, weight, stop);
        std::fill(total_.begin(), total_.end(), 0.0);
        total_weight_ = 0.0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            throw_if(stop, i);
            const auto row = static_cast<std::size_t>(ids[i]);
            const auto w = static_cast<double>(weight[row]);
            const std::span<const float> y = target[row];
            weight_[i] = w;
            total_weight_ += w;
            if (loss_->has_terms()) {
                loss_->terms(y, gradient_);
                for (std::size_t t = 0; t < k; ++t) weighted_[i * k + t] = w * gradient_[t];
            } else if (of_means) {
                for (std::size_t t = 0; t < k; ++t)
                    weighted_[i * k + t] = w * static_cast<double>(y[t]);
            } else {
                loss_->gradient(theta_, y, gradient_);
                for (std::size_t t = 0; t < k; ++t) weighted_[i * k + t] = -w * gradient_[t];
            }
            for (std::size_t t = 0; t < k; ++t) total_[t] += weighted_[i * k + t];
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
    void put_on_levels(std::span<const RowId> ids, const std::uint8_t* bins, std::size_t count,
                       std::span<const std::int32_t> rows, std::span<std::int64_t> counts) {
        const std::size_t k = left_.size();
        if (k == 1) return put_one_output_on_levels(ids, bins, count, rows, counts);
        level_.assign(count * (k + 1), 0.0);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::size_t bin = bins[ids[i]];
            if (!counts.empty()) counts[bin] += rows.empty() ? 1 : rows[ids[i]];
            double* const numbers = level_.data() + bin * (k + 1);
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
        if (of_squares_) return score_of_squares(right_weight);
        for (std::size_t t = 0; t < left_.size(); ++t) right_[t] = total_[t] - left_[t];
        return loss_->explained_by_terms(left_, left_weight_) +
               loss_->explained_by_terms(right_, right_weight);
    }

    std::size_t count() const { return weight_.size(); }
    double left_weight() const { return left_weight_; }
    double total_weight() const { return total_weight_; }
    double weight(std::size_t i) const { return weight_[i]; }
    std::size_t outputs() const { return total_.size(); }
    // The response of a row less their mean: minus the gradient at the best leaf of the node, up to
    // a factor for each output.
    double response(std::size_t i, std::size_t t) const {
        return weighted_[i * total_.size() + t] / weight_[i] - total_[t] / total_weight_;
    }

   private:
    // Most rows may be on one level, where a sum has to wait for the sum before it. So rows of even
    // and odd places are added up apart: a fit of boosting to Adult takes a quarter less time.
    void put_one_output_on_levels(std::span<const RowId> ids, const std::uint8_t* bins,
                                  std::size_t count, std::span<const std::int32_t> rows,
                                  std::span<std::int64_t> counts) {
        apart_.assign(2 * count, {});
        Level* const even = apart_.data();
        Level* const odd = even + count;
        const auto add = [&](Level& level, std::size_t i, std::int64_t n) {
            level.value += weighted_[i];
            level.weight += weight_[i];
            level.rows += n;
        };
        const auto add_all = [&](auto&& rows_of) {
            std::size_t i = 0;
            for (; i + 1 < ids.size(); i += 2) {
                add(even[bins[ids[i]]], i, rows_of(i));
                add(odd[bins[ids[i + 1]]], i + 1, rows_of(i + 1));
            }
            if (i < ids.size()) add(even[bins[ids[i]]], i, rows_of(i));
        };
        if (counts.empty())
            add_all([](std::size_t) { return std::int64_t{0}; });
        else if (rows.empty())
            add_all([](std::size_t) { return std::int64_t{1}; });
        else
            add_all([&](std::size_t i) { return std::int64_t{rows[ids[i]]}; });
        level_.resize(2 * count);
        for (std::size_t j = 0; j < count; ++j) {
            level_[2 * j] = even[j].value + odd[j].value;
            level_[2 * j + 1] = even[j].weight + odd[j].weight;
            if (!counts.empty()) counts[j] = even[j].rows + odd[j].rows;
        }
    }

    void find_leaf(std::span<const RowId> ids, const Values& target, Weights weight,
                   const std::atomic<bool>& stop) {
        const std::size_t k = total_.size();
        targets_.resize(ids.size() * k);
        weights_.resize(ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            throw_if(stop, i);
            const auto row = static_cast<std::size_t>(ids[i]);
            std::ranges::copy(target[row], targets_.begin() + static_cast<std::ptrdiff_t>(i * k));
            weights_[i] = weight[row];
        }
        loss_->leaf_of_rows(targets_, weights_, theta_);
    }

    double score_of_squares(double right_weight) const {
        double left = 0.0, right = 0.0;
        for (std::size_t t = 0; t < left_.size(); ++t) {
            const double rest = total_[t] - left_[t];
            left += left_[t] * left_[t];
            right += rest * rest;
        }
        return (left_weight_ > 0.0 ? left / left_weight_ : 0.0) +
               (right_weight > 0.0 ? right / right_weight : 0.0);
    }

    std::shared_ptr<const ValueLoss> loss_;
    bool of_squares_;
    std::vector<double> weight_, weighted_;  // of each row; weight times terms, or response
    std::vector<double> total_, left_;       // per output
    mutable std::vector<double> right_;      // the same, work space of score()
    std::vector<double> level_;              // levels x numbers_per_level()
    struct Level {
        double value = 0.0, weight = 0.0;
        std::int64_t rows = 0;
    };
    std::vector<Level> apart_;  // of even places, then of odd ones
    double total_weight_ = 0.0, left_weight_ = 0.0;
    std::vector<double> theta_, gradient_;  // of a loss of rows: best leaf of the node
    std::vector<float> targets_, weights_;  // the same: what it is found from
};

class ValuesLoss {
   public:
    using Targets = Values;
    using Scan = ValuesScan;

    struct Summary {
        ValueSums sums;
        std::vector<double> leaf;  // of a loss of rows; else the mean is what a leaf stores
        double weight = 0.0;
        double impurity = 0.0;
        bool pure = true;            // all targets are the same
        bool distributions = false;  // zeros need not be stored

        bool is_pure() const { return pure; }
        std::size_t values() const { return sums.sum.size(); }

        template <class F>
        void for_each_value(F&& f) const {
            for (std::size_t t = 0; t < sums.sum.size(); ++t) {
                const double value = leaf.empty() ? sums.sum[t] / weight : leaf[t];
                if (!distributions || value > 0.0) f(static_cast<std::int32_t>(t), value);
            }
        }
    };

    ValuesLoss(Values target, std::size_t n_outputs, std::shared_ptr<const ValueLoss> loss)
        : target_(target), n_outputs_(n_outputs), loss_(std::move(loss)),
          of_means_(loss_->of_means()),
          one_squared_(n_outputs == 1 && of_means_ && loss_->of_squares()) {
        begin();
    }

    Scan scan() const { return {loss_, n_outputs_}; }
    const ValueLoss& of_row() const { return *loss_; }
    std::size_t outputs() const { return n_outputs_; }
    bool distributions() const { return loss_->distributions(); }
    bool needs_left() const { return !of_means_; }

    void add(std::size_t row, float weight) { add_to(right_, row, weight); }

    // For the rows on the left side, if needs_left().
    void add_left(std::size_t row, float weight) { add_to(left_, row, weight); }

    Summary take() {
        Summary out;
        out.pure = right_.pure;
        out.weight = right_.sums.weight;
        out.distributions = distributions();
        if (!of_means_) out.leaf.resize(n_outputs_);
        out.impurity = right_.pure && of_means_ ? 0.0 : impurity(right_, out.leaf);
        out.sums = std::move(right_.sums);
        begin();
        return out;
    }

    Sides take_right_of(const Summary& node) {
        Sides out;
        out.right_weight = right_.sums.weight;
        out.left_weight = std::max(0.0, node.weight - right_.sums.weight);
        if (of_means_) {
            ValueSums& left = left_.sums;
            for (std::size_t t = 0; t < n_outputs_; ++t)
                left.sum[t] = node.sums.sum[t] - right_.sums.sum[t];
            left.own = node.sums.own - right_.sums.own;
            left.weight = out.left_weight;
            out.impurity = left.impurity(*loss_) + right_.sums.impurity(*loss_);
        } else {
            theta_.resize(n_outputs_);
            out.impurity = impurity(left_, theta_) + impurity(right_, theta_);
        }
        begin();
        return out;
    }

   private:
    struct Side {
        ValueSums sums;
        std::vector<float> targets, weights;  // of a loss of rows
        std::size_t first = 0;                // row
        bool empty = true, pure = true;

        void clear(std::size_t n_outputs) {
            sums.clear(n_outputs);
            targets.clear();
            weights.clear();
            empty = pure = true;
        }
    };

    void add_to(Side& side, std::size_t row, float weight) {
        const std::span<const float> y = target_[row];
        if (side.empty) side.first = row;
        if (one_squared_) {  // the most frequent case
            const auto w = static_cast<double>(weight), v = static_cast<double>(y[0]);
            side.pure = side.pure && y[0] == target_[side.first][0];
            side.empty = false;
            side.sums.sum[0] += w * v;
            side.sums.own += w * v * v;
            side.sums.weight += w;
            return;
        }
        side.pure = side.pure && (side.empty || std::ranges::equal(y, target_[side.first]));
        side.empty = false;
        side.sums.add(y, static_cast<double>(weight), loss_->own(y));
        if (of_means_) return;
        side.targets.insert(side.targets.end(), y.begin(), y.end());
        side.weights.push_back(weight);
    }

    double impurity(const Side& side, std::span<double> theta) const {
        if (of_means_) return side.sums.impurity(*loss_);
        if (side.empty) return 0.0;
        loss_->leaf_of_rows(side.targets, side.weights, theta);
        double sum = 0.0;
        for (std::size_t i = 0; i < side.weights.size(); ++i)
            sum += static_cast<double>(side.weights[i]) *
                   loss_->value(theta, {side.targets.data() + i * n_outputs_, n_outputs_});
        return sum;
    }

    void begin() {
        left_.clear(n_outputs_);
        right_.clear(n_outputs_);
    }

    Values target_;
    std::size_t n_outputs_;
    std::shared_ptr<const ValueLoss> loss_;
    bool of_means_;
    bool one_squared_;           // the squared loss of one output
    Side left_, right_;          // rows added
    std::vector<double> theta_;  // work space
};

}  // namespace co2
