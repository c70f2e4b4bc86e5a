// SPDX-License-Identifier: BSD-3-Clause
// Finds the hyperplane of a node: gather its rows, start from an axis-aligned split, optimise.
#pragma once

#include <optional>
#include <tuple>

#include "split/co2/ridge.hpp"

namespace co2 {

// A node's rows and targets, as the grower holds them.
struct NodeRows {
    std::span<const RowId> ids;     // distinct rows of the node
    std::span<const Label> label;   // of all training rows
    std::span<const float> weight;  // of all training rows, in this tree
    std::uint64_t key;              // of the node's random stream
};

struct FoundSplit {
    std::optional<Hyperplane> oblique;  // the optimised one, if it is worth trying
    Hyperplane axis;                    // the start: always parts the sampled rows
    bool prefer_gain = false;           // keep `axis` if it gains more
    double axis_decrease = 0.0;         // of impurity in bits, per unit of weight, on the sample
    std::int64_t steps = 1;             // mini-batches; a closed form is one step
};

template <class Rows>
class Co2Finder {
   public:
    Co2Finder(const Rows& rows, const Standardisation& standardisation, std::size_t n_classes,
              const SolverParams& params, std::int64_t min_samples_leaf)
        : rows_(rows), standardisation_(standardisation), params_(params),
          min_samples_leaf_(min_samples_leaf),
          bytes_suit_(params.solver == Solver::kAuto && ByteSample::suits(standardisation)),
          local_class_(n_classes, -1) {}

    // Nothing if all rows of the node are alike.
    std::optional<FoundSplit> find(const NodeRows& node, const std::atomic<bool>& stop) {
        Random random(node.key);
        draw_rows(node, random);
        describe_targets(node);
        if (!in_closed_form()) group_batches_by_class();
        if constexpr (requires { rows_.visit(0, [](Feature, float) {}); }) {
            const bool dense = find_columns();
            if (!dense) {
                sparse_.gather(rows_, drawn_, standardisation_, columns_, local_column_);
                return split(sparse_, node, random, stop);
            }
            dense_.gather(rows_, drawn_, standardisation_, columns_, local_column_);
        } else {
            if constexpr (std::is_same_v<Rows, DenseRows<std::uint8_t>>) {
                if (bytes_suit_ && !in_closed_form()) {
                    bytes_.gather(rows_, drawn_, standardisation_);
                    return split(bytes_, node, random, stop);
                }
            }
            dense_.gather(rows_, drawn_, standardisation_);
        }
        return split(dense_, node, random, stop);
    }

   private:
    // Of wide rows fewer than max_rows, so that the block of a sample stays below 16 MB, but no
    // fewer than a thousand. Sparse rows are stored without their zeros.
    std::size_t most_rows() const {
        constexpr std::size_t cells = std::size_t{1} << 22, enough = 1000;
        const auto most = static_cast<std::size_t>(params_.max_rows);
        if constexpr (requires { rows_.visit(0, [](Feature, float) {}); }) return most;
        return std::min(most, std::max(enough, cells / std::max(rows_.features(), kLanes)));
    }

    // At most most_rows() rows of the node, one from each of as many equal stretches, shuffled.
    void draw_rows(const NodeRows& node, Random& random) {
        const std::size_t n = node.ids.size();
        const std::size_t m = std::min(n, most_rows());
        drawn_.resize(m);
        for (std::size_t i = 0; i < m; ++i) {
            const std::size_t begin = n * i / m, end = n * (i + 1) / m;
            const auto width = static_cast<std::uint32_t>(end - begin);
            drawn_[i] = node.ids[begin + (width > 1 ? random.below(width) : 0)];
        }
        for (std::size_t i = m; i > 1; --i)
            std::swap(drawn_[i - 1], drawn_[random.below(static_cast<std::uint32_t>(i))]);
    }

    void describe_targets(const NodeRows& node) {
        targets_.label.resize(drawn_.size());
        targets_.weight.resize(drawn_.size());
        present_.clear();
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            const auto row = static_cast<std::size_t>(drawn_[i]);
            const auto y = static_cast<std::size_t>(node.label[row]);
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

    bool in_closed_form() const {
        return params_.solver == Solver::kAuto &&
               drawn_.size() < static_cast<std::size_t>(params_.ridge_rows);
    }

    // The order of rows within a mini-batch means nothing to the optimiser but speed.
    void group_batches_by_class() {
        const Batches batches(drawn_.size(), params_.batch_size);
        for (std::size_t batch = 0; batch < batches.count; ++batch) {
            const std::size_t begin = batches.begin(batch), end = batches.begin(batch + 1);
            place_.assign(targets_.classes + 1, 0);
            for (std::size_t i = begin; i < end; ++i)
                ++place_[static_cast<std::size_t>(targets_.label[i]) + 1];
            for (std::size_t y = 0; y < targets_.classes; ++y) place_[y + 1] += place_[y];
            grouped_.resize(end - begin);
            for (std::size_t i = begin; i < end; ++i)
                grouped_[place_[static_cast<std::size_t>(targets_.label[i])]++] = {
                    drawn_[i], targets_.label[i], targets_.weight[i]};
            for (std::size_t i = begin; i < end; ++i)
                std::tie(drawn_[i], targets_.label[i], targets_.weight[i]) = grouped_[i - begin];
        }
    }

    // The columns that occur in the drawn rows; true if a dense block of them is not much larger
    // than the stored elements (or small anyway).
    bool find_columns() {
        for (const Feature j : columns_) local_column_[static_cast<std::size_t>(j)] = -1;
        local_column_.resize(rows_.features(), -1);
        columns_.clear();
        std::size_t stored = 0;
        for (const RowId id : drawn_)
            rows_.visit(static_cast<std::size_t>(id), [&](Feature j, float) {
                ++stored;
                auto& local = local_column_[static_cast<std::size_t>(j)];
                if (local >= 0 || standardisation_.scale[static_cast<std::size_t>(j)] == 0.0f)
                    return;
                local = 0;
                columns_.push_back(j);
            });
        std::sort(columns_.begin(), columns_.end());
        for (std::size_t t = 0; t < columns_.size(); ++t)
            local_column_[static_cast<std::size_t>(columns_[t])] = static_cast<std::int32_t>(t);
        const std::size_t cells = drawn_.size() * columns_.size();
        return cells <= 4 * stored || drawn_.size() < static_cast<std::size_t>(params_.ridge_rows);
    }

    template <class Sample>
    std::optional<FoundSplit> split(const Sample& sample, const NodeRows& node, Random& random,
                                    const std::atomic<bool>& stop) {
        if (sample.width() == 0) return std::nullopt;
        const auto min_rows = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(min_samples_leaf_) * static_cast<double>(drawn_.size()) /
                      static_cast<double>(node.ids.size())));
        if (!axis_search_.find(sample, targets_, params_.max_features, min_rows, random, start_))
            return std::nullopt;
        FoundSplit found;
        found.axis = axis_hyperplane(sample.feature(start_.column));
        if (targets_.classes < 2) return found;  // the drawn rows are pure although the node is not
        bool solved = false;
        if constexpr (std::is_same_v<Sample, DenseSample>)
            solved = in_closed_form() && ridge_.fit(sample, targets_, start_, params_, plane_);
        if (!solved) {
            optimiser_.minimise(sample, targets_, start_, params_, stop, plane_);
            found.steps = optimiser_.iterations();
            found.prefer_gain = true;
            found.axis_decrease = axis_decrease();
        }
        found.oblique = to_raw(sample);
        return found;
    }

    double axis_decrease() {
        whole_.assign(start_.left.size(), 0.0);
        double weight = 0.0;
        for (std::size_t y = 0; y < whole_.size(); ++y)
            weight += whole_[y] = start_.left[y] + start_.right[y];
        return (entropy_bits(whole_) - entropy_bits(start_.left) - entropy_bits(start_.right)) /
               weight;
    }

    // The start in raw units, its threshold between the rows that it parts.
    Hyperplane axis_hyperplane(Feature feature) const {
        float left = -std::numeric_limits<float>::infinity(), right = -left;
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            const float x = rows_.value(static_cast<std::size_t>(drawn_[i]), feature);
            if (start_.is_right[i])
                right = std::min(right, x);
            else
                left = std::max(left, x);
        }
        float threshold = left * 0.5f + right * 0.5f;
        if (!(threshold > left && threshold <= right)) threshold = right;
        return {{feature}, {1.0f}, threshold};
    }

    // u = w * scale, threshold = <u, centre> - bias: the row stays raw. Only features with a weight
    // are stored when they are fewer than half of all.
    template <class Sample>
    std::optional<Hyperplane> to_raw(const Sample& sample) const {
        Hyperplane h;
        double threshold = -static_cast<double>(plane_.bias);
        bool finite = true;
        for (std::size_t t = 0; t < sample.width(); ++t) {
            const Feature j = sample.feature(t);
            const auto f = static_cast<std::size_t>(j);
            const float u = plane_.w[t] * standardisation_.scale[f];
            if (u == 0.0f) continue;
            finite = finite && std::isfinite(u);
            threshold += static_cast<double>(u) * standardisation_.centre[f];
            h.feature.push_back(j);
            h.weight.push_back(u);
        }
        h.threshold = static_cast<float>(threshold);
        if (h.weight.empty() || !finite || !std::isfinite(h.threshold)) return std::nullopt;
        if (2 * h.weight.size() >= rows_.features()) {
            std::vector<float> all(rows_.features(), 0.0f);
            for (std::size_t t = 0; t < h.weight.size(); ++t)
                all[static_cast<std::size_t>(h.feature[t])] = h.weight[t];
            h = {{}, std::move(all), h.threshold};
        }
        return h;
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    SolverParams params_;
    std::int64_t min_samples_leaf_;
    bool bytes_suit_;  // see ByteSample

    // Work space, kept from node to node.
    std::vector<RowId> drawn_;
    NodeTargets targets_;
    std::vector<std::int32_t> local_class_;  // per class; -1 between nodes
    std::vector<std::size_t> present_;
    std::vector<std::size_t> place_;  // see group_batches_by_class
    std::vector<std::tuple<RowId, std::int32_t, float>> grouped_;
    std::vector<Feature> columns_;            // sparse rows: of the sample
    std::vector<std::int32_t> local_column_;  // sparse rows: inverse of columns_, -1 elsewhere
    DenseSample dense_;
    ByteSample bytes_;
    SparseSample sparse_;
    AxisSearch axis_search_;
    AxisStart start_;
    std::vector<double> whole_;  // class weights of the sample
    SurrogateOptimiser optimiser_;
    RidgeSplit ridge_;
    LocalPlane plane_;
};

}  // namespace co2
