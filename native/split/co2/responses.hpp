// SPDX-License-Identifier: BSD-3-Clause
// What the finder of a regression sees of the targets of a node's sample: the responses of its
// rows, which are the targets less their mean, or for a loss of rows minus the gradients at the
// best leaf, and the one number of each row that a direction is fitted to.
#pragma once

#include <algorithm>
#include <cmath>

#include "loss/values_loss.hpp"

namespace co2 {

class Responses {
   public:
    explicit Responses(const ValuesLoss& loss) : scan_(loss.scan()), k_(loss.outputs()) {}

    // Reads a sample of the node.
    void gather(std::span<const RowId> ids, const Values& target, Weights weight,
                const std::atomic<bool>& stop) {
        scan_.gather(ids, target, weight, stop);
        read(scan_, stop);
    }

    // Reads all rows of the node, which a scan has gathered.
    void read(const ValuesScan& scan, const std::atomic<bool>& stop) {
        n_ = scan.count();
        response_.resize(n_ * k_);
        weight_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            throw_if(stop, i);
            weight_[i] = static_cast<float>(scan.weight(i));
            for (std::size_t t = 0; t < k_; ++t)
                response_[i * k_ + t] = static_cast<float>(scan.response(i, t));
        }
    }

    std::size_t count() const { return n_; }
    std::size_t outputs() const { return k_; }
    const float* of_row(std::size_t i) const { return response_.data() + i * k_; }
    std::span<const float> weights() const { return weight_; }

    // One number per row: the response, or for several outputs their first principal component,
    // about which a split can do most.
    std::span<const float> main_component(const std::atomic<bool>& stop) {
        if (k_ == 1) return {response_.data(), n_};
        find_axis(stop);
        component_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (std::size_t t = 0; t < k_; ++t) sum += axis_[t] * of_row(i)[t];
            component_[i] = static_cast<float>(sum);
        }
        return component_;
    }

   private:
    // Power iteration on the covariance of the outputs, from the output that varies most. If there
    // are many outputs, the matrix is never formed: it would take longer than all else.
    void find_axis(const std::atomic<bool>& stop) {
        if (k_ <= kFewOutputs) find_covariance(stop);
        variance_.assign(k_, 0.0);
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t t = 0; t < k_; ++t)
                variance_[t] += static_cast<double>(weight_[i]) * of_row(i)[t] * of_row(i)[t];
        axis_.assign(k_, 0.0);
        axis_[static_cast<std::size_t>(std::ranges::max_element(variance_) - variance_.begin())] =
            1.0;
        for (int step = 0; normalise(axis_) && step < kSteps; ++step) {
            multiply(stop);
            axis_.swap(next_);
        }
    }

    void find_covariance(const std::atomic<bool>& stop) {
        covariance_.assign(k_ * k_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            throw_if(stop, i);
            const float* r = of_row(i);
            for (std::size_t a = 0; a < k_; ++a) {
                const double weighted = static_cast<double>(weight_[i]) * r[a];
                for (std::size_t b = 0; b <= a; ++b) covariance_[a * k_ + b] += weighted * r[b];
            }
        }
        for (std::size_t a = 0; a < k_; ++a)
            for (std::size_t b = a + 1; b < k_; ++b)
                covariance_[a * k_ + b] = covariance_[b * k_ + a];
    }

    // next_ = covariance * axis_.
    void multiply(const std::atomic<bool>& stop) {
        next_.assign(k_, 0.0);
        if (k_ <= kFewOutputs) {
            for (std::size_t a = 0; a < k_; ++a)
                for (std::size_t b = 0; b < k_; ++b) next_[a] += covariance_[a * k_ + b] * axis_[b];
            return;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            throw_if(stop, i);
            const float* r = of_row(i);
            double along = 0.0;
            for (std::size_t t = 0; t < k_; ++t) along += axis_[t] * r[t];
            along *= static_cast<double>(weight_[i]);
            for (std::size_t t = 0; t < k_; ++t) next_[t] += along * r[t];
        }
    }

    static bool normalise(std::vector<double>& x) {
        double square = 0.0;
        for (const double v : x) square += v * v;
        if (!(square > 0.0)) return false;
        for (double& v : x) v /= std::sqrt(square);
        return true;
    }

    static constexpr int kSteps = 8;
    static constexpr std::size_t kFewOutputs = 32;

    ValuesScan scan_;
    std::size_t k_, n_ = 0;
    AlignedFloats response_, weight_, component_;  // n x k, n, n
    std::vector<double> covariance_, variance_, axis_, next_;
};

}  // namespace co2
