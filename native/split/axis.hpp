// SPDX-License-Identifier: BSD-3-Clause
// The split of Breiman's random forest: of q random features the best threshold. As in
// scikit-learn, a feature that is constant in the node counts as one of the q, but the search goes
// on until one of them parts the rows.
#pragma once

#include <numeric>

#include "split/features.hpp"
#include "split/params.hpp"
#include "split/threshold.hpp"
#include "stop.hpp"

namespace co2 {

template <class Rows, class Loss>
class ExactAxisSearch {
   public:
    using Scan = typename Loss::Scan;

    struct Split {
        Feature feature;
        Cut cut;

        Hyperplane plane() const { return {{feature}, {narrow(1.0f)}, cut.threshold}; }
    };

    explicit ExactAxisSearch(const Rows& rows) : rows_(rows), features_(rows.features()) {
        std::iota(features_.begin(), features_.end(), Feature{0});
    }

    // The scan has gathered the node's rows.
    template <class Node>
    std::optional<Split> find(const Node& node, std::int64_t candidates, Random random, Scan& scan,
                              const std::atomic<bool>& stop) {
        std::optional<Split> best;
        values_.resize(node.ids.size());
        std::int64_t looked_at = 0;
        FeatureDraw draw(features_, random);
        while (auto feature = draw.next()) {
            throw_if(stop);
            read(node.ids, *feature);
            const auto cut = threshold_.find(values_, node, scan);
            if (cut && (!best || cut->score > best->cut.score)) best = Split{*feature, *cut};
            if (++looked_at >= candidates && best) break;
        }
        return best;
    }

   private:
    void read(std::span<const RowId> ids, Feature feature) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            values_[i] = rows_.value(static_cast<std::size_t>(ids[i]), feature);
    }

    const Rows& rows_;
    std::vector<Feature> features_;  // all
    std::vector<float> values_;      // of a feature
    ThresholdSearch<Scan> threshold_;
};

template <class Rows, class Loss>
class AxisFinder final : public SplitFinder<Loss> {
   public:
    AxisFinder(const Rows& rows, const Standardisation&, std::size_t n_outputs,
               const AxisParams& params)
        : params_(params), search_(rows), scan_(n_outputs) {}

    std::optional<FoundSplit> find(const typename SplitFinder<Loss>::Node& node,
                                   const std::atomic<bool>& stop) override {
        scan_.gather(node.ids, node.target, node.weight);
        const auto split = search_.find(node, params_.max_features, Random(node.key), scan_, stop);
        if (!split) return std::nullopt;
        return FoundSplit{split->plane()};
    }

   private:
    AxisParams params_;
    ExactAxisSearch<Rows, Loss> search_;
    typename Loss::Scan scan_;
};

}  // namespace co2
