// SPDX-License-Identifier: BSD-3-Clause
// Finds the hyperplane of a node: gather its rows, start from an axis-aligned split, optimise.
#pragma once

#include <optional>
#include <tuple>

#include "split/co2/ridge.hpp"

namespace co2 {

// A node's rows and targets, as the grower holds them.
struct NodeRows {
    std::span<const RowId> ids;  // distinct rows of the node
    Labels label;                // of all training rows
    Weights weight;              // of all training rows, in this tree
    std::uint64_t key;           // of the node's random stream
};

struct FoundSplit {
    std::optional<Hyperplane> plane;  // if there is one worth trying
    double axis_decrease = 0.0;       // of impurity in bits, per unit of weight, on the sample:
                                      // prefer the start if it gains more
    std::int64_t steps = 1;           // mini-batches; a ridge regression is one
};

template <class Rows>
class Co2Finder {
   public:
    Co2Finder(const Rows& rows, const Standardisation& standardisation, std::size_t n_classes,
              const SolverParams& params, std::int64_t min_samples_leaf)
        : rows_(rows), standardisation_(standardisation), params_(params),
          min_samples_leaf_(min_samples_leaf), small_below_(small_below(rows, params)),
          bytes_suit_(params.solver == Solver::kAuto && ByteSample::suits(standardisation)),
          local_class_(n_classes, -1) {}

    // Nothing if the rows of the node cannot be parted by a feature.
    std::optional<FoundSplit> find(const NodeRows& node, const std::atomic<bool>& stop) {
        random_ = Random(node.key);
        draw_rows(node);
        describe_targets(node);
        start_exists_.reset();
        min_rows_ = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(min_samples_leaf_) * static_cast<double>(drawn_.size()) /
                      static_cast<double>(node.ids.size())));
        if (!is_small()) group_batches_by_class();
        if constexpr (requires { rows_.visit(0, [](Feature, float) {}); }) {
            const bool dense = find_columns();
            if (!dense) {
                sparse_.gather(rows_, drawn_, standardisation_, columns_, local_column_);
                return split(sparse_, stop);
            }
            dense_.gather(rows_, drawn_, standardisation_, columns_, local_column_);
        } else {
            if constexpr (std::is_same_v<Rows, DenseRows<std::uint8_t>>) {
                if (bytes_suit_ && !is_small()) {
                    bytes_.gather(rows_, drawn_, standardisation_);
                    return split(bytes_, stop);
                }
            }
            dense_.gather(rows_, drawn_, standardisation_);
        }
        return split(dense_, stop);
    }

    // The axis-aligned start of the node that find() saw last, in raw units, its threshold between
    // the rows that it parts. Nothing if these are alike.
    std::optional<Hyperplane> axis_split() {
        if (!find_start(dense_)) return std::nullopt;  // only a small node did without a start
        float left = -std::numeric_limits<float>::infinity(), right = -left;
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            const float x = rows_.value(static_cast<std::size_t>(drawn_[i]), start_feature_);
            if (start_.is_right[i])
                right = std::min(right, x);
            else
                left = std::max(left, x);
        }
        float threshold = left * 0.5f + right * 0.5f;
        if (!(threshold > left && threshold <= right)) threshold = right;
        return Hyperplane{{start_feature_}, {narrow(1.0f)}, threshold};
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
    void draw_rows(const NodeRows& node) {
        const std::size_t n = node.ids.size();
        const std::size_t m = std::min(n, most_rows());
        drawn_.resize(m);
        for (std::size_t i = 0; i < m; ++i) {
            const std::size_t begin = n * i / m, end = n * (i + 1) / m;
            const auto width = static_cast<std::uint32_t>(end - begin);
            drawn_[i] = node.ids[begin + (width > 1 ? random_.below(width) : 0)];
        }
        for (std::size_t i = m; i > 1; --i)
            std::swap(drawn_[i - 1], drawn_[random_.below(static_cast<std::uint32_t>(i))]);
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

    bool is_small() const { return drawn_.size() < small_below_; }

    // Ridge regression suits nodes with fewer rows than this: a hundred, or up to three hundred as
    // long as they are fewer than features and take a megabyte at most. Sparse rows, whose features
    // are many and mostly zero: a hundred. (docs/algorithm.md has the errors of other numbers.)
    static std::size_t small_below(const Rows& rows, const SolverParams& params) {
        if (params.solver != Solver::kAuto) return 0;
        const auto least = static_cast<std::size_t>(params.ridge_rows), p = rows.features();
        if constexpr (requires { rows.visit(0, [](Feature, float) {}); }) return least;
        return std::max(least, std::min({p, 3 * least, (std::size_t{1} << 18) / p}));
    }

    // The order of rows within a mini-batch means nothing to the optimiser but speed. In large ones
    // only stretches are grouped, so that the first rows, which the search of the start looks at,
    // are of all classes.
    void group_batches_by_class() {
        constexpr std::size_t stretch = 250;
        const Batches batches(drawn_.size(), params_.batch_size);
        for (std::size_t batch = 0; batch < batches.count; ++batch) {
            const std::size_t end = batches.begin(batch + 1);
            for (std::size_t i = batches.begin(batch); i < end; i += stretch)
                group_by_class(i, std::min(i + stretch, end));
        }
    }

    void group_by_class(std::size_t begin, std::size_t end) {
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
    std::optional<FoundSplit> split(const Sample& sample, const std::atomic<bool>& stop) {
        if (sample.width() == 0) return std::nullopt;
        FoundSplit found;
        if (!solve_small(sample)) {
            if (!find_start(sample)) return std::nullopt;
            if (targets_.classes < 2) return found;  // the drawn rows are pure, the node is not
            optimiser_.minimise(sample, targets_, start_, params_, stop, plane_);
            found.steps = optimiser_.iterations();
            found.axis_decrease = axis_decrease();
        }
        found.plane = to_raw(sample);
        return found;
    }

    // By ridge regression, if the node is small. Two classes do without a start, the search of
    // which took a quarter of the time of such nodes.
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

    // False if all rows are alike.
    template <class Sample>
    bool find_start(const Sample& sample) {
        if (!start_exists_) {
            start_exists_ = axis_search_.find(sample, targets_, params_.max_features, min_rows_,
                                              random_, start_);
            if (*start_exists_) start_feature_ = sample.feature(start_.column);
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

    // u = w * scale, threshold = <u, centre> - bias: the row stays raw. Rounding u turns the
    // hyperplane about a row of the node, so that it still parts a node far from the centre. Only
    // features with a weight are stored when they are fewer than half of all.
    template <class Sample>
    std::optional<Hyperplane> to_raw(const Sample& sample) {
        constexpr std::int32_t first = 0;
        constexpr float once = 1.0f;
        pivot_.resize(sample.stride());
        sample.gradient(0, {&first, 1}, &once, pivot_);
        const float stretch = stretch_for_rounding(sample);
        double threshold = -static_cast<double>(plane_.bias * stretch);
        std::vector<Bfloat16> weight(sample.width(), 0);
        std::size_t used = 0;
        for (std::size_t t = 0; t < sample.width(); ++t) {
            const auto f = static_cast<std::size_t>(sample.feature(t));
            const float scale = standardisation_.scale[f];
            const float w = plane_.w[t] * stretch, exact = w * scale;
            if (!std::isfinite(exact)) return std::nullopt;
            weight[t] = narrow(exact);
            const float stored = widen(weight[t]);
            if (stored == 0.0f) continue;
            ++used;
            const float turn = stored / scale - w;
            threshold += static_cast<double>(stored) * standardisation_.centre[f] +
                         static_cast<double>(turn) * pivot_[t];
        }
        // A weight too large for its type makes the threshold infinite or NaN.
        if (used == 0 || !std::isfinite(static_cast<float>(threshold))) return std::nullopt;
        Hyperplane h{{}, {}, static_cast<float>(threshold)};
        if (2 * used >= rows_.features())
            store_all(sample, std::move(weight), h);
        else
            store_used(sample, weight, used, h);
        return h;
    }

    // A hyperplane may be stretched: so much here that its largest weight needs no rounding, and a
    // split along one feature does not move.
    template <class Sample>
    float stretch_for_rounding(const Sample& sample) const {
        float largest = 0.0f, exact = 0.0f;  // compared in the space where units mean nothing
        for (std::size_t t = 0; t < sample.width(); ++t) {
            const float scale = standardisation_.scale[static_cast<std::size_t>(sample.feature(t))];
            if (!(std::abs(plane_.w[t]) > largest) || scale == 0.0f) continue;
            largest = std::abs(plane_.w[t]);
            exact = largest * scale;
        }
        return exact > 0.0f ? widen(narrow(exact)) / exact : 1.0f;
    }

    template <class Sample>
    void store_all(const Sample& sample, std::vector<Bfloat16> weight, Hyperplane& h) const {
        if (weight.size() == rows_.features()) {
            h.weight = std::move(weight);
            return;
        }
        h.weight.assign(rows_.features(), 0);
        for (std::size_t t = 0; t < weight.size(); ++t)
            h.weight[static_cast<std::size_t>(sample.feature(t))] = weight[t];
    }

    template <class Sample>
    static void store_used(const Sample& sample, std::span<const Bfloat16> weight, std::size_t used,
                           Hyperplane& h) {
        h.feature.reserve(used);
        h.weight.reserve(used);
        for (std::size_t t = 0; t < weight.size(); ++t) {
            if (widen(weight[t]) == 0.0f) continue;
            h.feature.push_back(sample.feature(t));
            h.weight.push_back(weight[t]);
        }
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    SolverParams params_;
    std::int64_t min_samples_leaf_;
    std::size_t small_below_;
    bool bytes_suit_;  // see ByteSample

    // Of the node that find() saw last.
    Random random_{0};
    std::int64_t min_rows_ = 1;         // of the sample, on each side
    std::optional<bool> start_exists_;  // unknown until it is asked for
    Feature start_feature_ = 0;

    // Work space, kept from node to node.
    std::vector<RowId> drawn_;
    NodeTargets targets_;
    std::vector<std::int32_t> local_class_;  // per class; -1 between nodes
    std::vector<std::size_t> present_;
    std::vector<std::size_t> place_;  // see group_by_class
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
    AlignedFloats pivot_;  // a row of the sample
};

}  // namespace co2
