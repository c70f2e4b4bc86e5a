// SPDX-License-Identifier: BSD-3-Clause
// The direction along which numbers change most linearly: a ridge regression of one number per row,
//   w = argmin sum_i c_i (t_i - <w, x_i - m>)^2 + penalty |w|^2,
// with m the mean row, over some of the features. By a few steps of
// conjugate gradients, which need neither the matrix nor its factors.
#pragma once

#include <cmath>
#include <numeric>

#include "rows/sample.hpp"

namespace co2 {

class RidgeDirection {
   public:
    // `used` says for each column whether it may have a weight: 1 or 0; empty: all. Targets have
    // mean zero. False if there is no direction: rows that are alike, or targets that are.
    template <class Sample>
    bool fit(const Sample& sample, std::span<const float> target, std::span<const float> weight,
             std::span<const float> used, double penalty, AlignedFloats& w) {
        n_ = sample.count();
        used_ = used;
        total_ = std::accumulate(weight.begin(), weight.end(), 0.0f);
        w.assign(sample.stride(), 0.0f);
        residual_.assign(sample.stride(), 0.0f);
        along_.resize(round_up_to_lanes(n_));
        weighted_.resize(n_);
        order_.resize(n_);
        std::iota(order_.begin(), order_.end(), 0);
        if (!(penalty > 0.0)) return false;
        for (std::size_t i = 0; i < n_; ++i) weighted_[i] = weight[i] * target[i];
        add_rows(sample);
        return descend(sample, weight, static_cast<float>(penalty), w);
    }

   private:
    // Fewer than convergence takes, which regularises too.
    static constexpr int kSteps = 6;
    static constexpr float kTolerance = 1e-5f;  // of the residual: rounding errors are left

    template <class Sample>
    bool descend(const Sample& sample, std::span<const float> weight, float penalty,
                 AlignedFloats& w) {
        const Kernels& k = kernels();
        const std::size_t stride = w.size();
        direction_ = residual_;
        float square = k.dot_f32(residual_.data(), residual_.data(), stride);
        if (!(square > 0.0f) || !std::isfinite(square)) return false;
        const float enough = square * kTolerance * kTolerance;
        for (int step = 0; step < kSteps && square > enough; ++step) {
            sample.scores(0, n_, direction_.data(), 0.0f, along_.data());
            const float mean = k.dot_f32(weight.data(), along_.data(), n_) / total_;
            float curvature = penalty * k.dot_f32(direction_.data(), direction_.data(), stride);
            for (std::size_t i = 0; i < n_; ++i) {
                along_[i] -= mean;
                weighted_[i] = weight[i] * along_[i];
                curvature += weighted_[i] * along_[i];
            }
            if (!(curvature > 0.0f)) break;
            const float length = square / curvature;
            for (std::size_t i = 0; i < n_; ++i) weighted_[i] *= -length;
            k.combine(length, direction_.data(), 1.0f, w.data(), stride);
            k.combine(-length * penalty, direction_.data(), 1.0f, residual_.data(), stride);
            add_rows(sample);
            const float before = square;
            square = k.dot_f32(residual_.data(), residual_.data(), stride);
            k.combine(1.0f, residual_.data(), square / before, direction_.data(), stride);
        }
        return std::isfinite(k.dot_f32(w.data(), w.data(), stride));
    }

    // residual_ += the rows times weighted_, in the columns used.
    template <class Sample>
    void add_rows(const Sample& sample) {
        sum_.resize(residual_.size());
        sample.gradient(0, order_, weighted_.data(), sum_);
        if (!used_.empty())
            for (std::size_t t = 0; t < used_.size(); ++t) sum_[t] *= used_[t];
        kernels().combine(1.0f, sum_.data(), 1.0f, residual_.data(), residual_.size());
    }

    std::size_t n_ = 0;
    std::span<const float> used_;
    float total_ = 0.0f;               // weight of the rows
    std::vector<std::int32_t> order_;  // 0, 1, ..., n - 1
    AlignedFloats residual_, direction_, sum_;
    AlignedFloats along_, weighted_;
};

}  // namespace co2
