// SPDX-License-Identifier: BSD-3-Clause
// Gives a direction, over standardised features, its best threshold in a node. The threshold is
// searched after the weights were rounded, on the projections that prediction will see.
#pragma once

#include "rows/rows.hpp"
#include "split/linear/raw_plane.hpp"
#include "split/threshold.hpp"

namespace co2 {

struct ScoredPlane {
    Hyperplane plane;
    double score;
};

template <RowKind Rows, class Scan>
class ObliqueThreshold {
   public:
    ObliqueThreshold(const Rows& rows, const Standardisation& standardisation)
        : rows_(rows), standardisation_(standardisation) {}

    // The scan has gathered the node's rows; `bins` as in ThresholdSearch.
    template <class Node>
    std::optional<ScoredPlane> find(const Node& node, std::span<const Feature> features,
                                    std::span<const float> w, Scan& scan, std::size_t bins = 0) {
        origin_.assign(w.size(), 0.0f);
        auto plane = to_raw({features, w, 0.0f}, origin_, standardisation_);
        if (!plane) return std::nullopt;
        values_.resize(node.ids.size());
        rows_.project_exactly(node.ids, *plane, values_.data());
        const auto cut = search_.find(values_, node, scan, bins);
        if (!cut) return std::nullopt;
        plane->threshold = cut->threshold;
        return ScoredPlane{std::move(*plane), cut->score};
    }

    // Projections of the node's rows on the plane that was found last.
    std::span<const float> projections() const { return values_; }

   private:
    const Rows& rows_;
    const Standardisation& standardisation_;
    std::vector<float> origin_, values_;
    ThresholdSearch<Scan> search_;
};

}  // namespace co2
