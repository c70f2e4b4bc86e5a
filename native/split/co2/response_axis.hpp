// SPDX-License-Identifier: BSD-3-Clause
// The best axis-aligned split of a regression's node, among q random features: by the squared loss
// of the responses, on a histogram of at most 32 equal bins and of some rows of the sample.
#pragma once

#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "base/random.hpp"
#include "rows/sample.hpp"
#include "split/co2/responses.hpp"

namespace co2 {

class ResponseAxisSearch {
   public:
    // A column of the sample; nothing if all are constant on the rows looked at.
    template <class Sample>
    std::optional<std::size_t> find(const Sample& sample, const Responses& responses,
                                    std::int64_t candidates, std::size_t rows, Random random,
                                    const std::atomic<bool>& stop) {
        n_ = std::min(sample.count(), rows);
        width_ = responses.outputs() + 1;
        values_.resize(n_);
        weigh(responses);
        permutation_.resize(sample.width());
        std::iota(permutation_.begin(), permutation_.end(), 0);
        std::optional<std::size_t> best;
        double best_score = -1.0;
        std::int64_t looked_at = 0;
        for (std::size_t t = 0; t < permutation_.size() && (looked_at < candidates || !best); ++t) {
            throw_if(stop);
            const auto rest = static_cast<std::uint32_t>(permutation_.size() - t);
            std::swap(permutation_[t], permutation_[t + random.below(rest)]);
            const auto column = static_cast<std::size_t>(permutation_[t]);
            sample.column(column, n_, values_.data());
            const double score = scan();
            if (score < 0.0) continue;  // constant
            ++looked_at;
            if (score > best_score) {
                best_score = score;
                best = column;
            }
        }
        return best;
    }

   private:
    static constexpr std::size_t kMostBins = 32;

    // What a row adds to its bin: its weight times its responses, and its weight.
    void weigh(const Responses& responses) {
        terms_.resize(n_ * width_);
        for (std::size_t i = 0; i < n_; ++i) {
            const float w = responses.weights()[i];
            const float* r = responses.of_row(i);
            for (std::size_t t = 0; t + 1 < width_; ++t) terms_[i * width_ + t] = w * r[t];
            terms_[i * width_ + width_ - 1] = w;
        }
    }

    // The highest score of a boundary between bins; -1 if the column is constant.
    double scan() {
        float low, high;
        kernels().range(values_.data(), n_, &low, &high);
        const std::size_t bins = std::min(kMostBins, std::max<std::size_t>(n_, 4));
        const float step = static_cast<float>(bins) / (high - low);
        if (!(low < high) || !(step < std::numeric_limits<float>::max())) return -1.0;
        bin_.resize(n_);
        const auto last = static_cast<std::int32_t>(bins - 1);
        for (std::size_t i = 0; i < n_; ++i)
            bin_[i] = std::min(last, static_cast<std::int32_t>((values_[i] - low) * step));
        histogram_.assign(bins * width_, 0.0f);
        if (width_ == 2) {
            add_terms(std::integral_constant<std::size_t, 2>{});
            return best_boundary_of_one(bins);
        }
        add_terms(width_);
        return best_boundary(bins);
    }

    template <class Width>
    void add_terms(Width width) {
        for (std::size_t i = 0; i < n_; ++i) {
            float* sums = histogram_.data() + static_cast<std::size_t>(bin_[i]) * width;
            for (std::size_t t = 0; t < width; ++t) sums[t] += terms_[i * width + t];
        }
    }

    // The same for one output, without vectors.
    double best_boundary_of_one(std::size_t bins) const {
        double total = 0.0, total_weight = 0.0, left = 0.0, weight = 0.0, best = 0.0;
        for (std::size_t b = 0; b < bins; ++b) {
            total += static_cast<double>(histogram_[2 * b]);
            total_weight += static_cast<double>(histogram_[2 * b + 1]);
        }
        for (std::size_t b = 0; b + 1 < bins; ++b) {
            if (histogram_[2 * b + 1] == 0.0f) continue;
            left += static_cast<double>(histogram_[2 * b]);
            weight += static_cast<double>(histogram_[2 * b + 1]);
            const double rest = total_weight - weight, right = total - left;
            if (rest > 0.0)
                best =
                    std::max(best, (left * left * rest + right * right * weight) / (weight * rest));
        }
        return best;
    }

    double best_boundary(std::size_t bins) {
        total_.assign(width_, 0.0);
        for (std::size_t b = 0; b < bins; ++b)
            for (std::size_t t = 0; t < width_; ++t) total_[t] += histogram_[b * width_ + t];
        left_.assign(width_, 0.0);
        double best = 0.0;
        for (std::size_t b = 0; b + 1 < bins; ++b) {
            const float* sums = histogram_.data() + b * width_;
            if (sums[width_ - 1] == 0.0f) continue;
            for (std::size_t t = 0; t < width_; ++t) left_[t] += sums[t];
            best = std::max(best, score());
        }
        return best;
    }

    double score() const {
        double left = 0.0, right = 0.0;
        for (std::size_t t = 0; t + 1 < width_; ++t) {
            const double r = total_[t] - left_[t];
            left += left_[t] * left_[t];
            right += r * r;
        }
        const double w = left_.back(), rest = total_.back() - w;
        return (w > 0.0 ? left / w : 0.0) + (rest > 0.0 ? right / rest : 0.0);
    }

    std::size_t n_ = 0, width_ = 0;  // rows looked at; outputs and the weight
    AlignedFloats values_, terms_, histogram_;
    std::vector<std::int32_t> bin_;
    std::vector<double> total_, left_;
    std::vector<std::int32_t> permutation_;
};

}  // namespace co2
