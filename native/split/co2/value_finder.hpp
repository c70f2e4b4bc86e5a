// SPDX-License-Identifier: BSD-3-Clause
// Finds the hyperplane of a node of a regression, for any convex loss.
//
// Solver::kRidge takes the better one of two candidates, each with its best threshold over all rows
// of the node: the direction of a ridge regression of the responses on a random subset of the
// features, and the best axis-aligned split among q random features. Solver::kWarm goes on from
// there and minimises the paper's bound, in nodes that are not small. Solver::kCccp is the paper's
// algorithm: from the axis-aligned split, in every node.
//
// The bound is minimised on rows that are centred and scaled to total variance one in the node:
// regression trees are deep, and the scale of all rows says nothing about a small region of space
// (a user's own nu is taken as it is).
#pragma once

#include "loss/values_loss.hpp"
#include "split/co2/node_sample.hpp"
#include "split/co2/optimiser.hpp"
#include "split/co2/response_axis.hpp"
#include "split/co2/small_nodes.hpp"
#include "split/co2/value_leaves.hpp"
#include "split/linear/ridge_direction.hpp"
#include "split/node.hpp"
#include "split/oblique.hpp"

namespace co2 {

template <RowKind Rows>
class ValueFinder final : public SplitFinder<ValuesLoss> {
   public:
    using Node = SplitFinder<ValuesLoss>::Node;

    ValueFinder(const Rows& rows, const Standardisation& standardisation, const ValuesLoss& loss,
                const Co2Params& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          bound_from_(bound_of_numbers_from(params)), scores_are_losses_(loss.of_row().of_means()),
          sample_(rows, standardisation, params.max_rows, params.ridge_rows), responses_(loss),
          scan_(loss.scan()), leaves_(loss), threshold_(rows, standardisation) {
        if (params.feature_fractions.empty())
            throw std::invalid_argument("feature_fractions must name at least one part");
    }

    std::optional<FoundSplit> find(const Node& node) override {
        throw_if(node.stop);
        random_ = Random(node.key);
        sample_.draw_if_many(node.ids, kFewRowsOfNumbers, random_);
        const Node judged = judged_on(node);
        scan_.gather(judged.ids, node.target, node.weight, node.stop);
        if (judged.ids.data() == sample_.drawn().data() || node.ids.size() < kFewRowsOfNumbers)
            responses_.read(scan_, node.stop);
        else
            responses_.gather(sample_.drawn(), node.target, node.weight, node.stop);
        auto found = sample_.gather([&](auto& sample) { return split(judged, sample); });
        if (found && judged.ids.size() < node.ids.size()) found->projections = {};
        return found;
    }

    // The start of the optimisation.
    std::optional<Hyperplane> fallback() override { return std::move(start_); }

   private:
    // With fewer rows the axis-aligned candidate is not looked for if there is a ridge direction:
    // validation errors are the same within half a percent, and most nodes are that small.
    static constexpr std::size_t kAxisRows = 12;

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
    std::optional<FoundSplit> split(const Node& node, Sample& sample) {
        start_.reset();
        if (sample.width() == 0) return std::nullopt;
        centre(sample);
        auto best = params_.solver == Solver::kCccp ? std::nullopt : along_a_ridge(node, sample);
        std::span<const float> projections = threshold_.projections();
        if (!best || sample.count() >= kAxisRows)
            if (auto axis = along_a_feature(node, sample))
                if (!best || axis->score > best->score) {
                    best = std::move(axis);
                    projections = values_;
                }
        if (!best) return std::nullopt;
        FoundSplit found;
        if (sample.count() >= bound_from_ && minimise(node, sample, best->plane)) {
            found.steps = optimiser_.iterations();
            found.plane = as_stored(sample);
            found.fallback_decrease = decrease(best->score);
            start_ = std::move(best->plane);
        } else {
            found.plane = std::move(best->plane);
            found.projections = projections;
        }
        return found;
    }

    // Moves the origin to the middle of the node, where single precision tells its rows apart best.
    template <class Sample>
    void centre(Sample& sample) {
        order_.resize(sample.count());
        std::iota(order_.begin(), order_.end(), 0);
        const auto weight = responses_.weights();
        centre_.resize(sample.stride());
        sample.gradient(0, order_, weight.data(), centre_);
        double total = 0.0;
        for (const float w : weight) total += static_cast<double>(w);
        kernels().scale(centre_.data(), static_cast<float>(1.0 / total), centre_.size());
        sample.subtract(centre_);
        mean_weight_ = total / static_cast<double>(sample.count());
        variance_ = 0.0;
        for (std::size_t i = 0; i < sample.count(); ++i)
            variance_ += static_cast<double>(weight[i]) * sample.squared_length(i) / total;
    }

    template <class Sample>
    std::optional<ScoredPlane> along_a_ridge(const Node& node, const Sample& sample) {
        if (!choose_features(sample.width())) return std::nullopt;
        if (!ridge_.fit(sample, responses_.main_component(node.stop), responses_.weights(), used_,
                        params_.ridge * variance_ * mean_weight_, plane_.w))
            return std::nullopt;
        return threshold_.find(node, sample.features(), {plane_.w.data(), sample.width()}, scan_,
                               static_cast<std::size_t>(params_.threshold_bins));
    }

    // Draws a subset of the features, at least one. False if the node is to start along a feature.
    bool choose_features(std::size_t width) {
        used_.clear();
        const double part = params_.feature_fractions[random_.below(
            static_cast<std::uint32_t>(params_.feature_fractions.size()))];
        if (part >= 1.0) return true;
        if (part <= 0.0) return false;
        auto left = std::max<std::size_t>(
            1, static_cast<std::size_t>(part * static_cast<double>(width) + 0.5));
        used_.assign(width, 0.0f);
        for (std::size_t t = 0; t < width && left > 0; ++t)
            if (random_.below(static_cast<std::uint32_t>(width - t)) < left) {
                used_[t] = 1.0f;
                --left;
            }
        return true;
    }

    template <class Sample>
    std::optional<ScoredPlane> along_a_feature(const Node& node, const Sample& sample) {
        const auto column =
            axis_.find(sample, responses_, params_.max_features,
                       static_cast<std::size_t>(params_.axis_rows), random_, node.stop);
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

    // Starts from a stored plane. False if the sample lies on one side of it, or has one target.
    template <class Sample>
    bool minimise(const Node& node, const Sample& sample, const Hyperplane& start) {
        if (!to_local(sample, start)) return false;
        if (!leaves_.start(sample_.drawn(), node.target, node.weight, is_right_, params_,
                           node.stop))
            return false;
        Co2Params params = params_;
        const double unit = variance_ > 0.0 ? variance_ : 1.0;
        if (!params.nu_in_user_units) params.nu /= unit;
        if (!params.rate_in_user_units) params.rate_weights /= unit;
        params.offset *= std::sqrt(unit);
        stretch_to_bound(plane_, params);
        optimiser_.minimise(sample, leaves_, is_right_, params, node.stop, plane_);
        return true;
    }

    // The start in the coordinates of the sample, with its threshold between the sampled rows that
    // it separates.
    template <class Sample>
    bool to_local(const Sample& sample, const Hyperplane& start) {
        const std::size_t n = sample.count();
        projections_.resize(n);
        rows_.project_exactly(sample_.drawn(), start, projections_.data());
        is_right_.resize(n);
        for (std::size_t i = 0; i < n; ++i) is_right_[i] = projections_[i] >= start.threshold;
        plane_.w.assign(sample.stride(), 0.0f);
        for (std::size_t t = 0, e = 0; t < sample.width(); ++t) {
            const Feature feature = feature_at(sample.features(), t);
            const float scale = standardisation_.scale[static_cast<std::size_t>(feature)];
            float weight = 0.0f;
            if (start.is_dense()) {
                weight = widen(start.weight[static_cast<std::size_t>(feature)]);
            } else {
                while (e < start.feature.size() && start.feature[e] < feature) ++e;
                if (e < start.feature.size() && start.feature[e] == feature)
                    weight = widen(start.weight[e]);
            }
            plane_.w[t] = scale > 0.0f ? weight / scale : 0.0f;
        }
        sample.scores(0, n, plane_.w.data(), 0.0f, projections_.data());
        float left = -std::numeric_limits<float>::infinity(), right = -left;
        for (std::size_t i = 0; i < n; ++i)
            if (is_right_[i])
                right = std::min(right, projections_[i]);
            else
                left = std::max(left, projections_[i]);
        plane_.bias = -(left * 0.5f + right * 0.5f);
        return std::isfinite(plane_.bias);
    }

    // The decrease of impurity per unit of weight. Unknown for a loss of rows, whose scores are
    // those of another loss.
    double decrease(double score) {
        if (!scores_are_losses_) return 0.0;
        scan_.rewind();
        return (score - scan_.score()) / scan_.total_weight();
    }

    // Rounding turns the plane about the middle of the node.
    template <class Sample>
    std::optional<Hyperplane> as_stored(const Sample& sample) {
        const float shift = kernels().dot_f32(plane_.w.data(), centre_.data(), centre_.size());
        const StandardPlane plane{
            sample.features(), {plane_.w.data(), sample.width()}, plane_.bias - shift};
        return to_raw(plane, centre_, standardisation_);
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    Co2Params params_;
    std::size_t bound_from_;  // rows; see small_nodes.hpp
    bool scores_are_losses_;

    // State of the node that find() saw last.
    Random random_{0};
    double variance_ = 1.0;     // total, of the sample
    double mean_weight_ = 1.0;  // of its rows
    std::optional<Hyperplane> start_;

    // Work space, kept from node to node.
    NodeSample<Rows> sample_;
    Responses responses_;  // of the sample
    ValuesScan scan_;      // of all rows
    ValueLeaves leaves_;
    RidgeDirection ridge_;
    ResponseAxisSearch axis_;
    SurrogateOptimiser optimiser_;
    ObliqueThreshold<Rows, ValuesScan> threshold_;
    ThresholdSearch<ValuesScan> axis_threshold_;
    LocalPlane plane_;
    AlignedFloats centre_, used_;
    std::vector<std::int32_t> order_;  // 0, 1, ..., n - 1
    std::vector<std::uint8_t> is_right_;
    std::vector<float> values_, projections_;
};

}  // namespace co2
