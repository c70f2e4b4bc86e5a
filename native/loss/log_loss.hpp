// SPDX-License-Identifier: BSD-3-Clause
// The log loss of the paper: leaf parameters theta are unnormalised log-probabilities,
//   l(theta, y) = -theta_y + log sum_a exp theta_a.
// Its smallest value over theta, summed over a set of rows, is the set's weight times its entropy
// (in nats), so the decrease that a split brings is the information gain.
#pragma once

#include <cmath>
#include <utility>

#include "base/stop.hpp"
#include "loss/loss.hpp"
#include "loss/targets.hpp"
#include "rows/weights.hpp"

namespace co2 {

inline double x_log2_x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

// Weight times entropy in bits: the impurity of scikit-learn's criterion="entropy", summed over
// rows.
inline double entropy_bits(std::span<const double> class_weight) {
    double total = 0.0, sum = 0.0;
    for (const double c : class_weight) {
        total += c;
        sum += x_log2_x(c);
    }
    return std::max(0.0, x_log2_x(total) - sum);
}

// x log2 x, from a table if x is a whole number, as it is for a bootstrap of rows without weights.
// On Letter, with its 26 classes, an axis-aligned tree takes 80 % of the time.
class XLog2X {
   public:
    void reserve(double largest) {
        constexpr double most = 1 << 20;  // 8 MB
        const auto size = static_cast<std::size_t>(std::min(largest, most)) + 1;
        for (std::size_t x = table_.size(); x < size; ++x)
            table_.push_back(x_log2_x(static_cast<double>(x)));
    }

    double operator()(double x, bool whole) const {
        if (whole && x < static_cast<double>(table_.size())) {
            return table_[static_cast<std::size_t>(x)];
        }
        return x_log2_x(x);
    }

   private:
    std::vector<double> table_;
};

// Rows of a node go from the right side to the left one by one; score() is minus the impurity of
// the two sides, in bits.
class LogLossScan {
   public:
    explicit LogLossScan(std::size_t n_classes) : local_class_(n_classes, -1) {}

    void gather(std::span<const RowId> ids, Labels label, Weights weight,
                const std::atomic<bool>& stop) {
        label_.resize(ids.size());
        weight_.resize(ids.size());
        total_.clear();
        present_.clear();
        total_weight_ = 0.0;
        whole_ = true;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            throw_if(stop, i);
            const auto row = static_cast<std::size_t>(ids[i]);
            const auto y = static_cast<std::size_t>(label[row]);
            if (local_class_[y] < 0) {
                local_class_[y] = static_cast<std::int32_t>(present_.size());
                present_.push_back(y);
                total_.push_back(0.0);
            }
            const auto w = static_cast<double>(weight[row]);
            label_[i] = local_class_[y];
            weight_[i] = w;
            total_[static_cast<std::size_t>(label_[i])] += w;
            total_weight_ += w;
            whole_ = whole_ && w == std::floor(w);
        }
        for (const std::size_t y : present_) local_class_[y] = -1;
        whole_ = whole_ && total_weight_ <= 0x1p53;  // else differences are not exact
        if (whole_) f_.reserve(total_weight_);
        sum_of_all_ = 0.0;
        for (const double c : total_) sum_of_all_ += f_(c, whole_);
    }

    void rewind() {
        right_ = total_;
        left_.assign(total_.size(), 0.0);
        sum_ = sum_of_all_;
        left_weight_ = 0.0;
    }

    void move_left(std::size_t i) { move(label_[i], weight_[i]); }
    void move_right(std::size_t i) { move(label_[i], -weight_[i]); }

    // Rows of equal value go together: each is put on the level of its value, a whole number, and
    // then levels are moved.
    std::size_t numbers_per_level() const { return total_.size(); }
    void put_on_levels(std::span<const float> values, float lowest, std::size_t count) {
        level_.assign(count * total_.size(), 0.0);
        double* const level = level_.data();
        const auto width = static_cast<std::int32_t>(total_.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            level[static_cast<std::int32_t>(values[i] - lowest) * width + label_[i]] += weight_[i];
    }
    void put_on_levels(std::span<const RowId> ids, const std::uint8_t* bins, std::size_t count,
                       std::span<const std::int32_t> rows, std::span<std::int64_t> counts) {
        const std::size_t width = total_.size();
        level_.assign(count * width, 0.0);
        const auto put = [&](std::size_t i) {
            const std::size_t bin = bins[ids[i]];
            level_[bin * width + static_cast<std::size_t>(label_[i])] += weight_[i];
            return bin;
        };
        if (counts.empty())
            for (std::size_t i = 0; i < ids.size(); ++i) put(i);
        else if (rows.empty())
            for (std::size_t i = 0; i < ids.size(); ++i) ++counts[put(i)];
        else
            for (std::size_t i = 0; i < ids.size(); ++i) counts[put(i)] += rows[ids[i]];
    }
    bool has_level(std::size_t level) const {
        const double* weights = level_.data() + level * total_.size();
        return std::any_of(weights, weights + total_.size(), [](double w) { return w > 0.0; });
    }
    void move_level_left(std::size_t level) {
        const double* weights = level_.data() + level * total_.size();
        for (std::size_t y = 0; y < total_.size(); ++y)
            if (weights[y] > 0.0) move(static_cast<std::int32_t>(y), weights[y]);
    }

    double score() const {
        return sum_ - f_(left_weight_, whole_) - f_(total_weight_ - left_weight_, whole_);
    }

    std::size_t count() const { return label_.size(); }
    std::size_t classes() const { return total_.size(); }
    std::int32_t label(std::size_t i) const { return label_[i]; }  // in [0, classes())
    double weight(std::size_t i) const { return weight_[i]; }
    double left_weight() const { return left_weight_; }
    double total_weight() const { return total_weight_; }

   private:
    void move(std::int32_t label, double w) {
        const auto y = static_cast<std::size_t>(label);
        double &left = left_[y], &right = right_[y];
        sum_ -= f_(left, whole_) + f_(right, whole_);
        left += w;
        right -= w;
        sum_ += f_(left, whole_) + f_(right, whole_);
        left_weight_ += w;
    }

    std::vector<std::int32_t> local_class_;     // per class; -1 between nodes
    std::vector<std::size_t> present_;          // classes of the node
    std::vector<std::int32_t> label_;           // local, of each row
    std::vector<double> weight_;                // of each row
    std::vector<double> total_, left_, right_;  // per local class
    double total_weight_ = 0.0, left_weight_ = 0.0;
    double sum_of_all_ = 0.0, sum_ = 0.0;  // of x log2 x over classes (and sides)
    std::vector<double> level_;            // levels x local classes
    bool whole_ = true;                    // all sums of weights are whole numbers
    XLog2X f_;
};

// The loss of a set of rows as a tree grows.
class LogLoss {
   public:
    using Targets = Labels;
    using Scan = LogLossScan;

    struct Summary {
        std::vector<std::pair<std::int32_t, double>> classes;  // class, weight; increasing
        double weight = 0.0;
        double impurity = 0.0;  // weight times entropy, in bits

        bool is_pure() const { return classes.size() < 2; }
        std::size_t values() const { return classes.size(); }

        // Calls f(output, value) for what a leaf stores.
        template <class F>
        void for_each_value(F&& f) const {
            for (const auto& [y, c] : classes) f(y, c / weight);
        }
    };

    LogLoss(Labels label, std::size_t n_classes) : label_(label), counts_(n_classes, 0.0) {}

    Scan scan() const { return Scan(outputs()); }
    std::size_t outputs() const { return counts_.size(); }
    bool distributions() const { return true; }  // leaves hold probabilities
    bool needs_left() const { return false; }
    void add_left(std::size_t, float) {}

    void add(std::size_t row, float weight) {
        const auto y = static_cast<std::size_t>(label_[row]);
        if (counts_[y] == 0.0) present_.push_back(static_cast<std::int32_t>(y));
        counts_[y] += static_cast<double>(weight);
    }

    // Describes the rows added since the last call, and starts afresh.
    Summary take() {
        std::sort(present_.begin(), present_.end());
        Summary out;
        weights_.clear();
        for (const std::int32_t y : present_) {
            double& c = counts_[static_cast<std::size_t>(y)];
            out.classes.emplace_back(y, c);
            weights_.push_back(c);
            out.weight += c;
            c = 0.0;
        }
        present_.clear();
        out.impurity = entropy_bits(weights_);
        return out;
    }

    // The same if the rows added are the right side of a node.
    Sides take_right_of(const Summary& node) {
        Sides out;
        double sum = 0.0;
        for (const auto& [y, c] : node.classes) {
            double& right = counts_[static_cast<std::size_t>(y)];
            const double left = std::max(0.0, c - right);
            out.left_weight += left;
            out.right_weight += right;
            sum += x_log2_x(left) + x_log2_x(right);
            right = 0.0;
        }
        present_.clear();
        out.impurity = x_log2_x(out.left_weight) + x_log2_x(out.right_weight) - sum;
        return out;
    }

   private:
    Labels label_;
    std::vector<double> counts_;         // per class, zero between uses
    std::vector<std::int32_t> present_;  // classes added
    std::vector<double> weights_;        // work space
};

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
