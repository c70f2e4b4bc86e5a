// SPDX-License-Identifier: BSD-3-Clause
// Moves a hyperplane so that it separates rows by their votes: logistic regression,
//   min over w, b of  sum_i c_i log(1 + exp(-t_i z_i)) + penalty |w|^2 / 2,  z_i = <w, x_i> + b,
// by a few Newton steps, each solved by a few steps of conjugate gradients. To stop early
// regularises too.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/stop.hpp"
#include "grow/refine/params.hpp"
#include "rows/sample.hpp"
#include "split/linear/conjugate_gradients.hpp"
#include "split/linear/local_plane.hpp"

namespace co2 {

// Rows that want to go left (target -1) or right (+1), and how much.
struct Votes {
    std::vector<RowId> row;
    std::vector<float> target, weight;  // weight > 0

    std::size_t size() const { return row.size(); }
    void clear() {
        row.clear();
        target.clear();
        weight.clear();
    }
    void add(RowId id, float side, float importance) {
        row.push_back(id);
        target.push_back(side);
        weight.push_back(importance);
    }
};

// 1 / (1 + exp(x)) within 1e-5, by operations that round the same on all machines; a C library has
// its own exp for each of them.
inline float falling_sigmoid(float x) {
    const float limited = std::min(std::max(x, -30.0f), 30.0f) * 1.44269504f;  // log2 e
    constexpr float to_whole = 0x1.8p23f;
    const float whole = (limited + to_whole) - to_whole, f = limited - whole;
    const float fraction =
        1.0f + f * (0.69314718f + f * (0.24022651f + f * (0.05550411f + f * 0.00961813f)));
    const auto power = std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
    return 1.0f / (1.0f + fraction * power);
}

class LinearFit {
   public:
    // Moves from one plane to a better one; false if there is none. `rescale`: the size of the
    // start says nothing, and is changed.
    template <class Sample>
    bool improve(const Sample& sample, const Votes& votes, const RefineParams& params, bool rescale,
                 const std::atomic<bool>& stop, LocalPlane& start, LocalPlane& plane) {
        prepare(sample.count(), sample.stride(), votes);
        penalty_ = static_cast<float>(params.penalty);
        sample.scores(0, n_, start.w.data(), start.bias, z_.data());
        if (rescale && !resize(static_cast<float>(params.start_size), start)) return false;
        plane = start;
        linearise(votes);
        for (std::int64_t step = 0; step < params.newton_steps; ++step) {
            throw_if(stop);
            if (!solve(sample, params.gradient_steps, plane)) break;
            walk(votes, plane);
        }
        return std::isfinite(plane.bias);
    }

   private:
    void prepare(std::size_t n, std::size_t stride, const Votes& votes) {
        n_ = n;
        const std::size_t padded = round_up_to_lanes(n);
        for (auto* v : {&c_, &z_, &along_, &step_z_, &slope_, &curvature_, &weighted_})
            v->assign(padded, 0.0f);
        for (auto* v : {&gradient_, &residual_, &step_}) v->assign(stride, 0.0f);
        for (std::size_t i = order_.size(); i < n; ++i)
            order_.push_back(static_cast<std::int32_t>(i));
        float total = 0.0f;
        for (std::size_t i = 0; i < n; ++i) total += votes.weight[i];
        const float one_on_average = static_cast<float>(n) / total;
        for (std::size_t i = 0; i < n; ++i) c_[i] = votes.weight[i] * one_on_average;
    }

    // Scales the plane so that the rows' mean distance from it is `size`.
    bool resize(float size, LocalPlane& plane) {
        float sum = 0.0f;
        for (std::size_t i = 0; i < n_; ++i) sum += c_[i] * std::abs(z_[i]);
        const float factor = size * static_cast<float>(n_) / sum;
        if (!std::isfinite(factor)) return false;
        kernels().scale(plane.w.data(), factor, plane.w.size());
        kernels().scale(z_.data(), factor, z_.size());
        plane.bias *= factor;
        return true;
    }

    // Slope and curvature of each row's loss at z_.
    void linearise(const Votes& votes) {
        constexpr float least = 1e-3f;  // of the curvature, so that no row is forgotten
        for (std::size_t i = 0; i < n_; ++i) {
            const float p = falling_sigmoid(votes.target[i] * z_[i]);
            slope_[i] = -votes.target[i] * c_[i] * p;
            curvature_[i] = c_[i] * (p * (1.0f - p) + least);
        }
    }

    // The Newton step into step_, step_bias_ and step_z_, what it does to z. The offset, which has
    // no penalty, is eliminated: the curvature-weighted mean of a step is known.
    template <class Sample>
    bool solve(const Sample& sample, std::int64_t steps, const LocalPlane& plane) {
        float slope = 0.0f, curvature = 0.0f;
        for (std::size_t i = 0; i < n_; ++i) {
            slope += slope_[i];
            curvature += curvature_[i];
        }
        const float centre = slope / curvature;
        for (std::size_t i = 0; i < n_; ++i) weighted_[i] = curvature_[i] * centre - slope_[i];
        sample.gradient(0, {order_.data(), n_}, weighted_.data(), residual_);
        kernels().combine(-penalty_, plane.w.data(), 1.0f, residual_.data(), residual_.size());
        std::fill(step_.begin(), step_.end(), 0.0f);
        std::fill(step_z_.begin(), step_z_.end(), -centre);
        step_bias_ = -centre;
        return gradients_.solve(Hessian<Sample>{*this, sample, curvature}, steps, residual_, step_);
    }

    template <class Sample>
    struct Hessian {
        LinearFit& f;
        const Sample& sample;
        float total_curvature;
        float mean = 0.0f;  // of the projections on the direction

        float curvature(const AlignedFloats& direction) {
            const Kernels& k = kernels();
            sample.scores(0, f.n_, direction.data(), 0.0f, f.along_.data());
            mean = k.dot_f32(f.curvature_.data(), f.along_.data(), f.n_) / total_curvature;
            for (std::size_t i = 0; i < f.n_; ++i) {
                f.along_[i] -= mean;
                f.weighted_[i] = f.curvature_[i] * f.along_[i];
            }
            return f.penalty_ * k.dot_f32(direction.data(), direction.data(), direction.size()) +
                   k.dot_f32(f.weighted_.data(), f.along_.data(), f.n_);
        }
        void moved(float length) {
            f.step_bias_ -= length * mean;
            kernels().combine(length, f.along_.data(), 1.0f, f.step_z_.data(), f.step_z_.size());
        }
        void reduce(AlignedFloats& residual, const AlignedFloats& direction, float length) {
            const Kernels& k = kernels();
            sample.gradient(0, {f.order_.data(), f.n_}, f.weighted_.data(), f.gradient_);
            k.combine(-length, f.gradient_.data(), 1.0f, residual.data(), residual.size());
            k.combine(-length * f.penalty_, direction.data(), 1.0f, residual.data(),
                      residual.size());
        }
    };

    // Along the step: all of it unless the loss rises again at its end, else to where a straight
    // line between the slopes at both ends is zero.
    void walk(const Votes& votes, LocalPlane& plane) {
        const Kernels& k = kernels();
        const std::size_t stride = plane.w.size();
        const float penalised = penalty_ * k.dot_f32(plane.w.data(), step_.data(), stride);
        const float begin = k.dot_f32(slope_.data(), step_z_.data(), n_) + penalised;
        k.combine(1.0f, step_z_.data(), 1.0f, z_.data(), z_.size());
        linearise(votes);
        const float end = k.dot_f32(slope_.data(), step_z_.data(), n_) + penalised +
                          penalty_ * k.dot_f32(step_.data(), step_.data(), stride);
        float length = 1.0f;
        if (begin < 0.0f && end > 0.0f) {
            length = begin / (begin - end);
            k.combine(length - 1.0f, step_z_.data(), 1.0f, z_.data(), z_.size());
            linearise(votes);
        }
        k.combine(length, step_.data(), 1.0f, plane.w.data(), stride);
        plane.bias += length * step_bias_;
    }

    std::size_t n_ = 0;
    float penalty_ = 0.0f, step_bias_ = 0.0f;
    std::vector<std::int32_t> order_;  // 0, 1, 2, ...
    AlignedFloats c_;                  // weight of each row, one on average
    AlignedFloats z_, slope_, curvature_, step_z_, along_, weighted_;  // per row
    AlignedFloats gradient_, residual_, step_;                         // per column
    ConjugateGradients gradients_;
};

}  // namespace co2
