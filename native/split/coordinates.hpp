// SPDX-License-Identifier: BSD-3-Clause
// OC1 (Murthy, Kasif, Salzberg 1994) and CART-LC (Breiman et al. 1984): an axis-aligned split is
// improved by exact steps along one weight after the other, until no step helps.
//
// OC1 then tries random directions and goes on if one helps; and it starts again from random
// hyperplanes. Its steps that change nothing are taken with a probability that falls by 0.1 each
// time and is one again after a step that helps. CART-LC has neither; for each feature it also
// tries to turn the hyperplane about two points a quarter of a standard deviation away from the
// mean.
//
// Deviations from the publications: the start is that of the CO2 paper, the best split of q random
// features; the criterion is the information gain; CART-LC does not delete features at the end; a
// gain below 1e-7 bits per row counts as none.
#pragma once

#include <cmath>

#include "loss/log_loss.hpp"
#include "split/axis.hpp"
#include "split/line_search.hpp"
#include "split/oblique.hpp"

namespace co2 {

template <RowKind Rows>
class CoordinateFinder;

struct CoordinateParams {
    std::int64_t max_features = 1;    // of the axis-aligned start
    std::int64_t n_restarts = 1;      // hyperplanes that are improved: the start, then random ones
    std::int64_t n_jumps = 0;         // random directions tried at a local minimum
    bool shifted_directions = false;  // CART-LC: three directions for each feature

    static constexpr const char* kName = "CoordinateParams";
    template <class Field>
    static void for_each(Field&& field) {
        field("max_features", &CoordinateParams::max_features);
        field("n_restarts", &CoordinateParams::n_restarts);
        field("n_jumps", &CoordinateParams::n_jumps);
        field("shifted_directions", &CoordinateParams::shifted_directions);
    }
    template <RowKind Rows, LossKind Loss>
        requires TableKind<Rows> && std::same_as<Loss, LogLoss>
    using Finder = CoordinateFinder<Rows>;
};

template <RowKind Rows>
class CoordinateFinder final : public SplitFinder<LogLoss> {
   public:
    using Node = SplitFinder<LogLoss>::Node;

    CoordinateFinder(const Rows& rows, const Standardisation& standardisation, const LogLoss& loss,
                     const CoordinateParams& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          features_(usable_features(standardisation)), axis_(rows, standardisation),
          threshold_(rows, standardisation), scan_(loss.scan()) {}

    std::optional<FoundSplit> find(const Node& node) override {
        ids_ = node.ids;
        random_ = Random(node.key);
        scan_.gather(node.ids, node.target, node.weight, node.stop);
        const auto axis =
            axis_.find(node, params_.max_features, Random(derive_key(node.key, 2)), scan_);
        if (!axis) return std::nullopt;
        least_gain_ = 1e-7 * scan_.total_weight();
        steps_ = 0;
        ScoredPlane best{axis->plane(), axis->cut.score};
        for (std::int64_t restart = 0; restart < params_.n_restarts; ++restart) {
            if (restart == 0)
                start_from(*axis);
            else
                start_at_random();
            descend(node.stop);
            if (!(score_ > best.score + least_gain_)) continue;
            auto found = threshold_.find(node, features_, weight_, scan_);
            if (found && found->score > best.score) best = std::move(*found);
        }
        return FoundSplit{std::move(best.plane), 0.0, steps_};
    }

   private:
    static constexpr double kMoveDecay = 0.1;
    static constexpr float kShift = 0.25f;  // in standard deviations

    void start_from(const typename ExactAxisSearch<Rows, LogLoss>::Split& axis) {
        weight_.assign(features_.size(), 0.0f);
        for (std::size_t t = 0; t < features_.size(); ++t)
            if (features_[t] == axis.feature) weight_[t] = 1.0f;
        const auto j = static_cast<std::size_t>(axis.feature);
        read_column(axis.feature, 0.0f);
        values_ = slopes_;
        const float offset =
            (axis.cut.threshold - standardisation_.centre[j]) * standardisation_.scale[j];
        for (float& value : values_) value -= offset;
        score_ = score_of_sides<LogLossScan>(values_, scan_);
    }

    void start_at_random() {
        draw_direction();
        weight_ = direction_;
        values_ = slopes_;
        score_ = score_of_sides<LogLossScan>(values_, scan_);
    }

    // Goes on until no weight and no random direction helps.
    void descend(const std::atomic<bool>& stop) {
        move_probability_ = 1.0;
        do {
            while (sweep(stop)) keep_size();
        } while (jump(stop));
    }

    // One step for each weight and the offset; whether any of them helped.
    bool sweep(const std::atomic<bool>& stop) {
        bool helped = false;
        for (std::size_t t = 0; t < features_.size(); ++t) {
            throw_if(stop);
            if (params_.shifted_directions)
                for (const float shift : {-kShift, kShift}) helped |= step_along_feature(t, shift);
            helped |= step_along_feature(t, 0.0f);
        }
        slopes_.assign(ids_.size(), 1.0f);
        return move([](float) {}) || helped;
    }

    bool step_along_feature(std::size_t t, float shift) {
        read_column(features_[t], shift);
        return move([&](float step) { weight_[t] += step; });
    }

    bool jump(const std::atomic<bool>& stop) {
        for (std::int64_t trial = 0; trial < params_.n_jumps; ++trial) {
            throw_if(stop);
            draw_direction();
            const bool helped = move([&](float step) {
                for (std::size_t t = 0; t < weight_.size(); ++t) weight_[t] += step * direction_[t];
            });
            if (helped) return true;
        }
        return false;
    }

    // The best step along the slopes, if it helps, or with some probability if it changes nothing.
    template <class Apply>
    bool move(Apply&& apply) {
        ++steps_;
        const auto best = line_.find(values_, slopes_, scan_);
        if (!best || best->score < score_ - least_gain_ || !std::isfinite(best->step)) return false;
        const bool promises = best->score > score_ + least_gain_;
        if (!promises && !moves_by_chance()) return false;
        moved_.resize(values_.size());
        for (std::size_t i = 0; i < values_.size(); ++i)
            moved_[i] = values_[i] + best->step * slopes_[i];
        // Rounding may put a row near the hyperplane on its other side.
        const double score = score_of_sides<LogLossScan>(moved_, scan_);
        const bool helps = score > score_ + least_gain_;
        if (promises ? !helps : score < score_ - least_gain_) return false;
        values_.swap(moved_);
        score_ = score;
        apply(best->step);
        if (helps) move_probability_ = 1.0;
        return helps;
    }

    bool moves_by_chance() {
        if (params_.n_jumps == 0) return false;  // CART-LC
        const double chance = move_probability_;
        move_probability_ -= kMoveDecay;
        return static_cast<double>(random_.next() >> 11) * 0x1p-53 < chance;
    }

    // A long vector of weights would hide small steps in rounding errors.
    void keep_size() {
        float largest = 0.0f;
        for (const float w : weight_) largest = std::max(largest, std::abs(w));
        if (!(largest > 1e3f)) return;
        for (float& w : weight_) w /= largest;
        for (float& value : values_) value /= largest;
    }

    // The slopes along one weight.
    void read_column(Feature feature, float shift) {
        const auto j = static_cast<std::size_t>(feature);
        const float centre = standardisation_.centre[j], scale = standardisation_.scale[j];
        const float offset = shift * standardisation_.spread[j] * scale;
        slopes_.resize(ids_.size());
        for (std::size_t i = 0; i < ids_.size(); ++i)
            slopes_[i] =
                (rows_.value(static_cast<std::size_t>(ids_[i]), feature) - centre) * scale + offset;
    }

    // A random direction of all weights and the offset, and its slopes.
    void draw_direction() {
        const auto uniform = [&] {
            return static_cast<float>(random_.next() >> 40) * 0x1p-23f - 1.0f;
        };
        direction_.resize(features_.size());
        drawn_slopes_.assign(ids_.size(), uniform());
        for (std::size_t t = 0; t < features_.size(); ++t) {
            direction_[t] = uniform();
            read_column(features_[t], 0.0f);
            for (std::size_t i = 0; i < ids_.size(); ++i)
                drawn_slopes_[i] += direction_[t] * slopes_[i];
        }
        slopes_.swap(drawn_slopes_);
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    CoordinateParams params_;
    std::vector<Feature> features_;

    // State of the node that find() saw last.
    std::span<const RowId> ids_;
    Random random_{0};
    double least_gain_ = 0.0;
    std::int64_t steps_ = 0;

    // The hyperplane that is improved; the offset is in the values alone, because the threshold is
    // searched again at the end.
    std::vector<float> weight_;  // over features_
    std::vector<float> values_;  // of each row
    double score_ = 0.0;
    double move_probability_ = 1.0;

    // Work space.
    std::vector<float> slopes_, drawn_slopes_, moved_, direction_;
    LineSearch<LogLossScan> line_;
    ExactAxisSearch<Rows, LogLoss> axis_;
    ObliqueThreshold<Rows, LogLossScan> threshold_;
    LogLossScan scan_;
};

}  // namespace co2
