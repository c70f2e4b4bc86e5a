// SPDX-License-Identifier: BSD-3-Clause
// The two leaves of a stump for numbers and any convex loss, as the node optimiser asks for them.
//
// The loss is divided by its mean at the best leaf of the node, so that a node whose targets hardly
// differ is optimised like one whose targets differ much, and nu and eta keep their meaning. For
// the same reason a step on theta is divided by half the mean squared gradient over that loss,
// which for the squared loss is its second derivative and exists for every loss.
#pragma once

#include "loss/values_loss.hpp"
#include "split/co2/batches.hpp"
#include "split/co2/params.hpp"

namespace co2 {

class ValueLeaves {
   public:
    explicit ValueLeaves(const ValuesLoss& loss)
        : loss_(loss), of_row_(loss.of_row()), k_(loss.outputs()), mean_(k_), gradient_(k_),
          curvature_(k_) {
        for (auto* sides : {theta_, velocity_, slope_})
            for (std::size_t side = 0; side < 2; ++side) sides[side].resize(k_);
    }

    // Starts from the sampled rows and their sides. False if the best leaf of all rows has no loss.
    bool start(std::span<const RowId> ids, const Values& target, Weights weight,
               std::span<const std::uint8_t> is_right, const Co2Params& params,
               const std::atomic<bool>& stop) {
        params_ = &params;
        y_.resize(ids.size() * k_);
        weight_.resize(ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto row = static_cast<std::size_t>(ids[i]);
            std::ranges::copy(target[row], y_.begin() + static_cast<std::ptrdiff_t>(i * k_));
            weight_[i] = weight[row];
        }
        if (!measure(stop)) return false;
        for (std::size_t side = 0; side < 2; ++side) {
            std::fill(velocity_[side].begin(), velocity_[side].end(), 0.0);
            best_leaf([&](std::size_t i) { return is_right[i] == side; }, theta_[side], stop);
        }
        return true;
    }

    std::span<const float> weights() const { return weight_; }

    double loss(std::size_t side, std::size_t i) const {
        return of_row_.value(theta_[side], targets(i)) * unit_;
    }

    void charge(std::size_t batch, std::size_t begin, const float* z, const float* frozen,
                Violators& out) {
        for (auto& slope : slope_) std::fill(slope.begin(), slope.end(), 0.0);
        const std::size_t end = Batches(weight_.size(), params_->batch_size).begin(batch + 1);
        const std::size_t n = end - begin;
        const std::span<const float> y{y_.data() + begin * k_, n * k_}, weight{&weight_[begin], n};
        gap_.resize(n);
        right_.resize(n);
        of_row_.gaps(theta_[0], theta_[1], y, gap_);
        const auto unit = static_cast<float>(unit_);
        out.count = 0;
        batch_weight_ = 0.0f;
        for (std::size_t i = 0; i < n; ++i) {
            right_[i] = z[begin + i] > gap_[i] * unit;
            out.rows[out.count] = static_cast<std::int32_t>(i);
            out.violation[out.count] = frozen[begin + i];
            out.count += (right_[i] != 0) != (frozen[begin + i] > 0.0f);
            batch_weight_ += weight[i];
        }
        of_row_.add_slopes(theta_[0], theta_[1], y, weight, right_, slope_[0], slope_[1]);
        out.batch_weight = batch_weight_;
    }

    void step(double rate) {
        const double factor = kRate * params_->rate_leaves * rate / batch_weight_;
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t t = 0; t < k_; ++t) {
                if (!(curvature_[t] > 0.0)) continue;
                double& v = velocity_[side][t];
                v = params_->momentum * v - factor * slope_[side][t] / curvature_[t];
                theta_[side][t] += v;
            }
    }

   private:
    // A factor of the eta of classes, whose theta are log-probabilities.
    static constexpr double kRate = 0.6;

    std::span<const float> targets(std::size_t i) const { return {y_.data() + i * k_, k_}; }

    // The unit of the loss and the curvature of each output, at the best leaf of all rows.
    bool measure(const std::atomic<bool>& stop) {
        best_leaf([](std::size_t) { return true; }, theta_[0], stop);
        double loss = 0.0, weight = 0.0;
        std::fill(curvature_.begin(), curvature_.end(), 0.0);
        for (std::size_t i = 0; i < weight_.size(); ++i) {
            throw_if(stop, i);
            const double w = weight_[i];
            loss += w * of_row_.value(theta_[0], targets(i));
            of_row_.gradient(theta_[0], targets(i), gradient_);
            for (std::size_t t = 0; t < k_; ++t) curvature_[t] += w * gradient_[t] * gradient_[t];
            weight += w;
        }
        if (!(loss > 0.0)) return false;
        unit_ = weight / loss;
        const double outputs = static_cast<double>(k_);
        for (double& c : curvature_) c *= outputs / (2.0 * loss);
        return std::isfinite(unit_);
    }

    template <class Belongs>
    void best_leaf(Belongs&& belongs, std::vector<double>& theta, const std::atomic<bool>& stop) {
        side_y_.clear();
        side_weight_.clear();
        std::fill(mean_.begin(), mean_.end(), 0.0);
        double weight = 0.0;
        for (std::size_t i = 0; i < weight_.size(); ++i) {
            throw_if(stop, i);
            if (!belongs(i)) continue;
            const auto y = targets(i);
            side_y_.insert(side_y_.end(), y.begin(), y.end());
            side_weight_.push_back(weight_[i]);
            for (std::size_t t = 0; t < k_; ++t) mean_[t] += static_cast<double>(weight_[i]) * y[t];
            weight += weight_[i];
        }
        if (!(weight > 0.0)) return;
        for (double& m : mean_) m /= weight;
        if (of_row_.of_means())
            of_row_.leaf_of_mean(mean_, theta);
        else
            of_row_.leaf_of_rows(side_y_, side_weight_, theta);
    }

    ValuesLoss loss_;  // keeps of_row_
    const ValueLoss& of_row_;
    std::size_t k_;
    const Co2Params* params_ = nullptr;
    std::vector<float> y_, weight_;  // of the sample: rows x outputs, rows
    double unit_ = 1.0;              // one over the loss at the best leaf
    std::vector<double> mean_, gradient_, curvature_;
    std::vector<double> theta_[2], velocity_[2];
    std::vector<double> slope_[2];  // of the rows charged to each side
    float batch_weight_ = 0.0f;
    std::vector<float> gap_;                   // of the rows of a batch
    std::vector<std::uint8_t> right_;          // the same: charged to leaf 1
    std::vector<float> side_y_, side_weight_;  // work space
};

}  // namespace co2
