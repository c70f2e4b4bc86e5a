// SPDX-License-Identifier: BSD-3-Clause
// Finds the hyperplane of a node: gather its rows, start from an axis-aligned split, optimise.
#pragma once

#include <optional>
#include <tuple>

#include "split/co2/node_sample.hpp"
#include "split/co2/ridge.hpp"
#include "split/co2/small_nodes.hpp"
#include "split/linear/raw_plane.hpp"
#include "split/threshold.hpp"

namespace co2 {

template <RowKind Rows>
class Co2Finder final : public SplitFinder<LogLoss> {
   public:
    using Node = SplitFinder<LogLoss>::Node;

    Co2Finder(const Rows& rows, const Standardisation& standardisation, const LogLoss& loss,
              const Co2Params& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          bound_from_(bound_of_classes_from(rows, params)),
          sample_(rows, standardisation, params.max_rows, params.ridge_rows),
          local_class_(loss.outputs(), -1) {}

    std::optional<FoundSplit> find(const Node& node) override {
        random_ = Random(node.key);
        sample_.draw(node.ids, random_);
        describe_targets(node);
        start_exists_.reset();
        min_rows_ = static_cast<std::int64_t>(std::ceil(
            static_cast<double>(node.min_samples_leaf) *
            static_cast<double>(sample_.drawn().size()) / static_cast<double>(node.ids.size())));
        if (!is_small()) group_batches_by_class();
        const auto find_in = [&](const auto& sample) { return split(sample, node.stop); };
        const bool paper = params_.solver == Solver::kCccp;
        return paper || is_small() ? sample_.gather(find_in) : sample_.gather_bytes(find_in);
    }

    // The axis-aligned start in raw units, with its threshold between the rows that it separates.
    // Nothing if these are duplicates.
    std::optional<Hyperplane> fallback() override {
        if (!find_start(sample_.dense()))
            return std::nullopt;  // only a small node did without a start
        if (standardisation_.centred_channels > 0) return start_without_means();
        const std::vector<RowId>& drawn = sample_.drawn();
        float left = -std::numeric_limits<float>::infinity(), right = -left;
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const float x = rows_.value(static_cast<std::size_t>(drawn[i]), start_feature_);
            if (start_.is_right[i])
                right = std::min(right, x);
            else
                left = std::max(left, x);
        }
        return Hyperplane{{start_feature_}, {narrow(1.0f)}, between(left, right)};
    }

   private:
    // If rows lose the means of their channels, the start is not a raw feature.
    std::optional<Hyperplane> start_without_means() {
        pivot_.assign(rows_.features(), 0.0f);
        std::vector<float> w(rows_.features(), 0.0f);
        w[start_.column] = 1.0f;
        auto plane = to_raw({{}, w, -start_.cut}, pivot_, standardisation_);
        if (plane && !plane->is_dense())
            list_all(*plane);  // projections are faster, none is larger
        return plane;
    }

    void list_all(Hyperplane& plane) const {
        std::vector<Bfloat16> all(rows_.features(), 0);
        for (std::size_t t = 0; t < plane.feature.size(); ++t)
            all[static_cast<std::size_t>(plane.feature[t])] = plane.weight[t];
        plane = {{}, std::move(all), plane.threshold};
    }

    void describe_targets(const Node& node) {
        const std::vector<RowId>& drawn = sample_.drawn();
        targets_.label.resize(drawn.size());
        targets_.weight.resize(drawn.size());
        present_.clear();
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const auto row = static_cast<std::size_t>(drawn[i]);
            const auto y = static_cast<std::size_t>(node.target[row]);
            if (local_class_[y] < 0) {
                local_class_[y] = static_cast<std::int32_t>(present_.size());
                present_.push_back(y);
            }
            targets_.label[i] = local_class_[y];
            targets_.weight[i] = node.weight[row];
        }
        targets_.classes = present_.size();
        for (const std::size_t y : present_) local_class_[y] = -1;
    }

    bool is_small() { return sample_.drawn().size() < bound_from_; }

    // The order of rows within a mini-batch changes nothing but the optimiser's speed. Large
    // batches are grouped in stretches, so that the first rows, which the search of the start looks
    // at, are of all classes.
    void group_batches_by_class() {
        constexpr std::size_t stretch = 250;
        const Batches batches(sample_.drawn().size(), params_.batch_size);
        for (std::size_t batch = 0; batch < batches.count; ++batch) {
            const std::size_t end = batches.begin(batch + 1);
            for (std::size_t i = batches.begin(batch); i < end; i += stretch)
                group_by_class(i, std::min(i + stretch, end));
        }
    }

    void group_by_class(std::size_t begin, std::size_t end) {
        std::vector<RowId>& drawn = sample_.drawn();
        place_.assign(targets_.classes + 1, 0);
        for (std::size_t i = begin; i < end; ++i)
            ++place_[static_cast<std::size_t>(targets_.label[i]) + 1];
        for (std::size_t y = 0; y < targets_.classes; ++y) place_[y + 1] += place_[y];
        grouped_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i)
            grouped_[place_[static_cast<std::size_t>(targets_.label[i])]++] = {
                drawn[i], targets_.label[i], targets_.weight[i]};
        for (std::size_t i = begin; i < end; ++i)
            std::tie(drawn[i], targets_.label[i], targets_.weight[i]) = grouped_[i - begin];
    }

    template <class Sample>
    std::optional<FoundSplit> split(const Sample& sample, const std::atomic<bool>& stop) {
        if (sample.width() == 0) return std::nullopt;
        FoundSplit found;
        if (!solve_small(sample)) {
            if (!find_start(sample)) return std::nullopt;
            if (targets_.classes < 2) return found;  // the drawn rows are pure, the node is not
            leaves_.start(targets_, start_.left, start_.right, params_);
            start_.to_plane(sample.stride(), params_, plane_);
            sample.prepare_weights(plane_.w);
            optimiser_.minimise(sample, leaves_, start_.is_right, params_, stop, plane_);
            found.steps = optimiser_.iterations();
            found.fallback_decrease = axis_decrease();
        }
        found.plane = as_stored(sample);
        return found;
    }

    // Solves a small node by ridge regression. Two classes do without a start, whose search took a
    // quarter of the time of such nodes.
    template <class Sample>
    bool solve_small(const Sample& sample) {
        if constexpr (std::is_same_v<Sample, DenseSample>) {
            if (!is_small() || targets_.classes < 2) return false;
            if (targets_.classes == 2)
                return ridge_.fit_two_classes(sample, targets_, params_, plane_);
            return find_start(sample) && ridge_.fit(sample, targets_, start_, params_, plane_);
        }
        return false;
    }

    // False if all rows are duplicates.
    template <class Sample>
    bool find_start(const Sample& sample) {
        if (!start_exists_) {
            start_exists_ = axis_search_.find(sample, targets_, params_.max_features, min_rows_,
                                              random_, start_);
            if (*start_exists_) start_feature_ = feature_at(sample.features(), start_.column);
        }
        return *start_exists_;
    }

    double axis_decrease() {
        whole_.assign(start_.left.size(), 0.0);
        double weight = 0.0;
        for (std::size_t y = 0; y < whole_.size(); ++y)
            weight += whole_[y] = start_.left[y] + start_.right[y];
        return (entropy_bits(whole_) - entropy_bits(start_.left) - entropy_bits(start_.right)) /
               weight;
    }

    // Rounding turns the plane about the first row of the sample.
    template <class Sample>
    std::optional<Hyperplane> as_stored(const Sample& sample) {
        constexpr std::int32_t first = 0;
        constexpr float once = 1.0f;
        pivot_.resize(sample.stride());
        sample.gradient(0, {&first, 1}, &once, pivot_);
        const StandardPlane plane{
            sample.features(), {plane_.w.data(), sample.width()}, plane_.bias};
        return to_raw(plane, pivot_, standardisation_);
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    Co2Params params_;
    std::size_t bound_from_;  // rows; see small_nodes.hpp

    // State of the node that find() saw last.
    Random random_{0};
    std::int64_t min_rows_ = 1;         // of the sample, on each side
    std::optional<bool> start_exists_;  // unknown until it is asked for
    Feature start_feature_ = 0;

    // Work space, kept from node to node.
    NodeSample<Rows> sample_;
    NodeTargets targets_;
    std::vector<std::int32_t> local_class_;  // per class; -1 between nodes
    std::vector<std::size_t> present_;
    std::vector<std::size_t> place_;  // see group_by_class
    std::vector<std::tuple<RowId, std::int32_t, float>> grouped_;
    AxisSearch axis_search_;
    AxisStart start_;
    std::vector<double> whole_;  // class weights of the sample
    ClassLeaves leaves_;
    SurrogateOptimiser optimiser_;
    RidgeSplit ridge_;
    LocalPlane plane_;
    AlignedFloats pivot_;  // a row of the sample
};

}  // namespace co2
