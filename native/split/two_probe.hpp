// SPDX-License-Identifier: BSD-3-Clause
// Splits that compare two features: the best threshold of the difference of their scaled values,
// among many random pairs. If as many pairs are asked for as there are, or more, all are searched.
#pragma once

#include "base/random.hpp"
#include "base/stop.hpp"
#include "split/axis.hpp"
#include "split/features.hpp"
#include "split/threshold.hpp"

namespace co2 {

template <RowKind Rows, LossKind Loss>
class TwoProbeFinder;

struct TwoProbeParams {
    std::int64_t n_pairs = 1;         // random pairs whose thresholds are searched
    std::int64_t threshold_bins = 0;  // as in AxisParams

    static constexpr const char* kName = "TwoProbeParams";
    template <class Field>
    static void for_each(Field&& field) {
        field("n_pairs", &TwoProbeParams::n_pairs);
        field("threshold_bins", &TwoProbeParams::threshold_bins);
    }
    template <RowKind Rows, LossKind Loss>
    using Finder = TwoProbeFinder<Rows, Loss>;
};

template <RowKind Rows, LossKind Loss>
class TwoProbeFinder final : public SplitFinder<Loss> {
   public:
    TwoProbeFinder(const Rows& rows, const Standardisation& standardisation, const Loss& loss,
                   const TwoProbeParams& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          axis_(rows, standardisation), features_(usable_features(standardisation)),
          scan_(loss.scan()) {}

    std::optional<FoundSplit> find(const typename SplitFinder<Loss>::Node& node) override {
        scan_.gather(node.ids, node.target, node.weight, node.stop);
        values_.resize(node.ids.size());
        best_.reset();
        const std::size_t p = features_.size(), all = p * (p - 1) / 2;  // 0 if there is no feature
        Random random(node.key);
        if (static_cast<std::size_t>(params_.n_pairs) < all) {
            for (std::int64_t t = 0; t < params_.n_pairs; ++t) {
                const auto a = random.below(static_cast<std::uint32_t>(p));
                const auto b = random.below(static_cast<std::uint32_t>(p - 1));
                search(node, a, b + (b >= a));
            }
        } else {
            for (std::size_t b = 1; b < p; ++b)
                for (std::size_t a = 0; a < b; ++a) search(node, a, b);
        }
        if (best_) return FoundSplit{std::move(best_->plane)};
        // No drawn pair splits the rows, but a single feature may.
        const auto split = axis_.find(node, 1, random, scan_);
        if (!split) return std::nullopt;
        return FoundSplit{split->plane()};
    }

   private:
    struct Best {
        Hyperplane plane;
        double score;
    };

    void search(const typename SplitFinder<Loss>::Node& node, std::size_t a, std::size_t b) {
        throw_if(node.stop);
        const auto [low, high] = std::minmax(features_[a], features_[b]);
        const auto weight = [&](Feature j) {
            return narrow(standardisation_.scale[static_cast<std::size_t>(j)] * unit_);
        };
        Hyperplane plane{{low, high}, {weight(low), static_cast<Bfloat16>(weight(high) | kMinus)}};
        if (widen(plane.weight[0]) == 0.0f || widen(plane.weight[1]) == 0.0f) return;
        rows_.project_exactly(node.ids, plane, values_.data());
        const auto cut =
            threshold_.find(values_, node, scan_, static_cast<std::size_t>(params_.threshold_bins));
        if (!cut || (best_ && !(cut->score > best_->score))) return;
        plane.threshold = cut->threshold;
        best_ = Best{std::move(plane), cut->score};
    }

    static constexpr Bfloat16 kMinus = 0x8000;

    // Features of one scale get the weights 1 and -1.
    static float largest_scale(const Standardisation& s) {
        float largest = 0.0f;
        for (const float scale : s.scale) largest = std::max(largest, scale);
        return largest;
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    TwoProbeParams params_;
    float unit_ = 1.0f / largest_scale(standardisation_);
    ExactAxisSearch<Rows, Loss> axis_;
    std::vector<Feature> features_;
    typename Loss::Scan scan_;
    std::vector<float> values_;  // of a pair
    std::optional<Best> best_;
    ThresholdSearch<typename Loss::Scan> threshold_;
};

}  // namespace co2
