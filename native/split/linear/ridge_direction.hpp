// SPDX-License-Identifier: BSD-3-Clause
// The direction along which numbers change most linearly: a ridge regression of one number per row,
//   w = argmin sum_i c_i (t_i - <w, x_i - m>)^2 + penalty |w|^2,
// with m the mean row, over some of the features, by a few steps of conjugate gradients.
#pragma once

#include <cmath>
#include <numeric>

#include "rows/sample.hpp"
#include "split/linear/conjugate_gradients.hpp"

namespace co2 {

class RidgeDirection {
   public:
    // `used` says for each column whether it may have a weight: 1 or 0; empty: all. Targets have
    // mean zero. False if there is no direction because all rows, or all targets, are the same.
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
        const float square = kernels().dot_f32(residual_.data(), residual_.data(), w.size());
        if (!(square > 0.0f) || !std::isfinite(square)) return false;
        gradients_.solve(Matrix<Sample>{*this, sample, weight, static_cast<float>(penalty)}, kSteps,
                         residual_, w);
        return std::isfinite(kernels().dot_f32(w.data(), w.data(), w.size()));
    }

   private:
    // Fewer than convergence takes, which regularises too.
    static constexpr int kSteps = 6;

    // (X - m)^T C (X - m) + penalty I, on the columns used.
    template <class Sample>
    struct Matrix {
        RidgeDirection& r;
        const Sample& sample;
        std::span<const float> weight;
        float penalty;

        float curvature(const AlignedFloats& direction) {
            const Kernels& k = kernels();
            sample.scores(0, r.n_, direction.data(), 0.0f, r.along_.data());
            const float mean = k.dot_f32(weight.data(), r.along_.data(), r.n_) / r.total_;
            float sum = penalty * k.dot_f32(direction.data(), direction.data(), direction.size());
            for (std::size_t i = 0; i < r.n_; ++i) {
                r.along_[i] -= mean;
                r.weighted_[i] = weight[i] * r.along_[i];
                sum += r.weighted_[i] * r.along_[i];
            }
            return sum;
        }
        void moved(float) {}
        void reduce(AlignedFloats& residual, const AlignedFloats& direction, float length) {
            for (std::size_t i = 0; i < r.n_; ++i) r.weighted_[i] *= -length;
            kernels().combine(-length * penalty, direction.data(), 1.0f, residual.data(),
                              residual.size());
            r.add_rows(sample);
        }
    };

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
    ConjugateGradients gradients_;
    AlignedFloats residual_, sum_;
    AlignedFloats along_, weighted_;
};

}  // namespace co2
