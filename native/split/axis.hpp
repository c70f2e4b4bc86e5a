// SPDX-License-Identifier: BSD-3-Clause
// The split of Breiman's random forest: the best threshold among q random features. As in
// scikit-learn, a feature that is constant in the node counts as one of the q, but the search goes
// on until one of them splits the rows. Or that of extra trees: the best of one random threshold
// for each of q features.
#pragma once

#include <numeric>

#include "base/stop.hpp"
#include "split/features.hpp"
#include "split/threshold.hpp"

namespace co2 {

template <RowKind Rows, LossKind Loss>
class AxisFinder;

struct AxisParams {
    std::int64_t max_features = 1;  // random features whose thresholds are searched
    // Thresholds of large nodes need not be exact: those of features lie between the bins of all
    // rows, if there are such bins, and others between this many of equal width; 0: anywhere.
    std::int64_t threshold_bins = 0;
    bool random_thresholds = false;  // one for each feature, in the place of the best one

    static constexpr const char* kName = "AxisParams";
    template <class Field>
    static void for_each(Field&& field) {
        field("max_features", &AxisParams::max_features);
        field("threshold_bins", &AxisParams::threshold_bins);
        field("random_thresholds", &AxisParams::random_thresholds);
    }
    template <RowKind Rows, LossKind Loss>
    using Finder = AxisFinder<Rows, Loss>;
};

template <RowKind Rows, LossKind Loss>
class ExactAxisSearch {
   public:
    using Scan = typename Loss::Scan;

    struct Split {
        Feature feature;
        Cut cut;

        Hyperplane plane() const { return {{feature}, {narrow(1.0f)}, cut.threshold}; }
    };

    ExactAxisSearch(const Rows& rows, const Standardisation& standardisation,
                    const BinnedColumns* binned = nullptr)
        : rows_(rows), binned_(binned), draw_(offered_features(rows, standardisation)) {}

    // The scan has gathered the node's rows.
    template <class Node>
    std::optional<Split> find(const Node& node, std::int64_t candidates, Random random, Scan& scan,
                              std::int64_t bins = 0) {
        if (binned_ != nullptr && node.ids.size() >= kLeastRowsOfBins)
            return find_by(node, candidates, random, [&](std::size_t g) {
                return threshold_.find_between(*binned_, group_[g], node, scan);
            });
        return find_by(node, candidates, random, reading(node, [&](std::span<const float> values) {
                           return threshold_.find(values, node, scan,
                                                  static_cast<std::size_t>(bins));
                       }));
    }

    template <class Node>
    std::optional<Split> find_random(const Node& node, std::int64_t candidates, Random random,
                                     Scan& scan) {
        Random thresholds(derive_key(random.next(), 1));
        return find_by(node, candidates, random, reading(node, [&](std::span<const float> values) {
                           return threshold_.find_random(values, node, scan, thresholds);
                       }));
    }

    // The features that the last search found thresholds of, and their best scores.
    std::span<std::pair<double, Feature>> scores() { return scores_; }

   private:
    // In smaller nodes exact thresholds are as fast.
    static constexpr std::size_t kLeastRowsOfBins = 64;

    // find_cut(g) for a function of the values of feature g of the group.
    template <class Node, class FindCut>
    auto reading(const Node& node, FindCut&& find_cut) {
        return [this, &node, find_cut](std::size_t g) {
            if (g == 0) read_group(node.ids);
            return find_cut(values_of(g, node.ids.size()));
        };
    }

    template <class Node, class FindCut>
    std::optional<Split> find_by(const Node& node, std::int64_t candidates, Random random,
                                 FindCut&& find_cut) {
        std::optional<Split> best;
        std::int64_t looked_at = 0;
        draw_.restart(random);
        scores_.clear();
        while (looked_at < candidates || !best) {
            // After the q features one by one, until there is a split.
            draw_group(std::max<std::int64_t>(1, candidates - looked_at));
            if (group_.empty()) break;
            looked_at += static_cast<std::int64_t>(group_.size());
            for (std::size_t g = 0; g < group_.size(); ++g) {
                throw_if(node.stop);
                const auto cut = find_cut(g);
                if (cut) scores_.emplace_back(cut->score, group_[g]);
                if (cut && (!best || cut->score > best->cut.score)) best = Split{group_[g], *cut};
            }
        }
        return best;
    }

    static std::vector<Feature> offered_features(const Rows& rows,
                                                 const Standardisation& standardisation) {
        if (!standardisation.offered.empty()) return standardisation.offered;
        std::vector<Feature> all(rows.features());
        std::iota(all.begin(), all.end(), Feature{0});
        return all;
    }

    // Features are read in groups of this size: a pass over the rows of a large node is limited by
    // memory, however many features it reads. A tree on MNIST takes 7 % less time than with
    // features read one by one.
    static constexpr std::int64_t kGroup = 16;

    void draw_group(std::int64_t most) {
        group_.clear();
        for (std::int64_t t = 0; t < std::min(most, kGroup); ++t)
            if (const auto feature = draw_.next()) group_.push_back(*feature);
    }

    void read_group(std::span<const RowId> ids) {
        const std::size_t n = ids.size(), width = group_.size();
        values_.resize(n * width);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t g = 0; g < width; ++g)
                values_[g * n + i] = rows_.value(static_cast<std::size_t>(ids[i]), group_[g]);
    }

    std::span<const float> values_of(std::size_t g, std::size_t n) const {
        return {values_.data() + g * n, n};
    }

    const Rows& rows_;
    const BinnedColumns* binned_;  // or null
    FeatureDraw draw_;
    std::vector<Feature> group_;                      // features read together
    std::vector<float> values_;                       // group x rows
    std::vector<std::pair<double, Feature>> scores_;  // of features that split the rows
    ThresholdSearch<Scan> threshold_;
};

template <RowKind Rows, LossKind Loss>
class AxisFinder final : public SplitFinder<Loss> {
   public:
    AxisFinder(const Rows& rows, const Standardisation& standardisation, const Loss& loss,
               const AxisParams& params, const BinnedColumns* binned)
        : params_(params), search_(rows, standardisation, binned), scan_(loss.scan()) {}

    std::optional<FoundSplit> find(const typename SplitFinder<Loss>::Node& node) override {
        scan_.gather(node.ids, node.target, node.weight, node.stop);
        const Random random(node.key);
        const auto split =
            params_.random_thresholds
                ? search_.find_random(node, params_.max_features, random, scan_)
                : search_.find(node, params_.max_features, random, scan_, params_.threshold_bins);
        if (!split) return std::nullopt;
        return FoundSplit{split->plane()};
    }

   private:
    AxisParams params_;
    ExactAxisSearch<Rows, Loss> search_;
    typename Loss::Scan scan_;
};

}  // namespace co2
