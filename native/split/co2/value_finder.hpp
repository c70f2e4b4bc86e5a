// SPDX-License-Identifier: BSD-3-Clause
// Finds the hyperplane of a node of a regression, for any convex loss.
//
// Solver::kAuto: the better one of two candidates, each with its best threshold over all rows of
// the node: the direction of a ridge regression of the responses on a random part of the features,
// and the best axis-aligned split among q random features.
#pragma once

#include "loss/values_loss.hpp"
#include "split/co2/node_sample.hpp"
#include "split/co2/params.hpp"
#include "split/co2/response_axis.hpp"
#include "split/co2/ridge_direction.hpp"
#include "split/node.hpp"
#include "split/oblique.hpp"

namespace co2 {

template <class Rows>
class ValueFinder final : public SplitFinder<ValuesLoss> {
   public:
    using Node = SplitFinder<ValuesLoss>::Node;

    ValueFinder(const Rows& rows, const Standardisation& standardisation, const ValuesLoss& loss,
                const Co2Params& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          sample_(rows, standardisation, params.max_rows, params.ridge_rows), responses_(loss),
          scan_(loss.scan()), threshold_(rows, standardisation) {}

    std::optional<FoundSplit> find(const Node& node, const std::atomic<bool>& stop) override {
        throw_if(stop);
        random_ = Random(node.key);
        sample_.draw(node.ids, random_);
        responses_.gather(sample_.drawn(), node.target, node.weight);
        const Node judged = judged_on(node);
        scan_.gather(judged.ids, node.target, node.weight);
        auto found = sample_.gather([&](const auto& sample) { return split(judged, sample); });
        if (found && judged.ids.size() < node.ids.size()) found->projections = {};
        return found;
    }

   private:
    // The rows that thresholds are searched on: all, or, of a large node whose thresholds need not
    // be exact, the sample.
    Node judged_on(const Node& node) {
        const std::size_t n = node.ids.size(), m = sample_.drawn().size();
        if (params_.threshold_bins == 0 || n < kLargeNode * m) return node;
        Node out = node;
        out.ids = sample_.drawn();
        const double part = static_cast<double>(m) / static_cast<double>(n);
        out.min_samples_leaf =
            static_cast<std::int64_t>(std::ceil(part * static_cast<double>(node.min_samples_leaf)));
        out.min_weight_leaf *= part;
        return out;
    }

    static constexpr std::size_t kLargeNode = 4;  // times the rows of its sample

    template <class Sample>
    std::optional<FoundSplit> split(const Node& node, const Sample& sample) {
        if (sample.width() == 0) return std::nullopt;
        std::optional<ScoredPlane> best;
        choose_features(sample.width());
        if (ridge_.fit(sample, responses_.main_component(), responses_.weights(), used_,
                       params_.ridge, w_))
            best = threshold_.find(node, sample.features(), {w_.data(), sample.width()}, scan_,
                                   static_cast<std::size_t>(params_.threshold_bins));
        std::span<const float> projections = threshold_.projections();
        if (auto axis = along_a_feature(node, sample))
            if (!best || axis->score > best->score) {
                best = std::move(axis);
                projections = values_;
            }
        if (!best) return std::nullopt;
        return FoundSplit{std::move(best->plane), 0.0, 1, projections};
    }

    // Each with the same chance, at least one.
    void choose_features(std::size_t width) {
        used_.clear();
        const double part = params_.feature_parts[random_.below(
            static_cast<std::uint32_t>(params_.feature_parts.size()))];
        if (part >= 1.0) return;
        const auto wanted = std::max<std::size_t>(
            1, static_cast<std::size_t>(part * static_cast<double>(width) + 0.5));
        used_.assign(width, 0.0f);
        std::size_t left = wanted;
        for (std::size_t t = 0; t < width && left > 0; ++t)
            if (random_.below(static_cast<std::uint32_t>(width - t)) < left) {
                used_[t] = 1.0f;
                --left;
            }
    }

    template <class Sample>
    std::optional<ScoredPlane> along_a_feature(const Node& node, const Sample& sample) {
        const auto column = axis_.find(sample, responses_, params_.max_features,
                                       static_cast<std::size_t>(params_.axis_rows), random_);
        if (!column) return std::nullopt;
        const Feature feature = feature_at(sample.features(), *column);
        values_.resize(node.ids.size());
        for (std::size_t i = 0; i < node.ids.size(); ++i)
            values_[i] = rows_.value(static_cast<std::size_t>(node.ids[i]), feature);
        const auto cut = axis_threshold_.find(values_, node, scan_,
                                              static_cast<std::size_t>(params_.threshold_bins));
        if (!cut) return std::nullopt;
        return ScoredPlane{{{feature}, {narrow(1.0f)}, cut->threshold}, cut->score};
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    Co2Params params_;
    Random random_{0};

    // Work space, kept from node to node.
    NodeSample<Rows> sample_;
    Responses responses_;  // of the sample
    ValuesScan scan_;      // of all rows
    RidgeDirection ridge_;
    ResponseAxisSearch axis_;
    ObliqueThreshold<Rows, ValuesScan> threshold_;
    ThresholdSearch<ValuesScan> axis_threshold_;
    AlignedFloats w_, used_;
    std::vector<float> values_;
};

}  // namespace co2
