// SPDX-License-Identifier: BSD-3-Clause
// Turns the votes of a node's rows into a hyperplane, as it is stored.
#pragma once

#include <optional>
#include <type_traits>

#include "base/random.hpp"
#include "grow/refine/linear_fit.hpp"
#include "rows/columns.hpp"
#include "split/linear/raw_plane.hpp"

namespace co2 {

template <RowKind Rows>
class VoteSplit {
   public:
    VoteSplit(const Rows& rows, const Standardisation& standardisation, const RefineParams& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          bytes_suit_(ByteSample::suits(standardisation)) {}

    // A plane that suits the votes better than the current one. `grown`: the current one is as it
    // was grown, so that its size says nothing.
    std::optional<Hyperplane> find(const Votes& votes, const Hyperplane& current, bool grown,
                                   std::uint64_t key, const std::atomic<bool>& stop) {
        const std::size_t most = most_rows();
        const Votes& some = votes.size() > most ? draw(votes, most, key) : votes;
        if constexpr (ListedRows<Rows>) {
            columns_.find(rows_, some.row, standardisation_);
            const std::size_t cells = some.size() * columns_.columns().size();
            if (cells > 4 * columns_.stored() && some.size() >= kFewRows) {
                sparse_.gather(rows_, some.row, standardisation_, columns_.columns(),
                               columns_.local());
                return fit(sparse_, some, current, grown, stop);
            }
            dense_.gather(rows_, some.row, standardisation_, columns_.columns(), columns_.local());
        } else {
            if constexpr (ByteRows<Rows> && TableKind<Rows>) {
                if (bytes_suit_ && some.size() >= kFewBytes) {
                    bytes_.gather(rows_, some.row, standardisation_);
                    return fit(bytes_, some, current, grown, stop);
                }
            }
            dense_.gather(rows_, some.row, standardisation_);
        }
        return fit(dense_, some, current, grown, stop);
    }

    // The plane half-way between the one that was found, or the last half-way one, and the old one.
    std::optional<Hyperplane> half_way() {
        kernels().combine(0.5f, start_.w.data(), 0.5f, plane_.w.data(), plane_.w.size());
        plane_.bias = 0.5f * (plane_.bias + start_.bias);
        return stored();
    }

   private:
    // Floats are faster for fewer rows.
    static constexpr std::size_t kFewRows = 100, kFewBytes = 24;

    // Wide rows are fewer, so that their block stays below 16 MB; see NodeSample.
    std::size_t most_rows() const {
        constexpr std::size_t cells = std::size_t{1} << 22, enough = 1000;
        const auto most = static_cast<std::size_t>(params_.max_rows);
        if constexpr (ListedRows<Rows>) return most;
        return std::min(most, std::max(enough, cells / std::max(rows_.features(), kLanes)));
    }

    // One vote from each of `count` equal stretches.
    const Votes& draw(const Votes& votes, std::size_t count, std::uint64_t key) {
        Random random(key);
        drawn_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t begin = votes.size() * i / count,
                              end = votes.size() * (i + 1) / count;
            const std::size_t t = begin + random.below(static_cast<std::uint32_t>(end - begin));
            drawn_.add(votes.row[t], votes.target[t], votes.weight[t]);
        }
        return drawn_;
    }

    template <class Sample>
    std::optional<Hyperplane> fit(const Sample& sample, const Votes& votes,
                                  const Hyperplane& current, bool grown,
                                  const std::atomic<bool>& stop) {
        if (sample.width() == 0) return std::nullopt;
        load(sample.stride(), current);
        if (!fit_.improve(sample, votes, params_, grown, stop, start_, plane_)) return std::nullopt;
        // Rounding turns the plane about a row.
        constexpr std::int32_t first = 0;
        constexpr float once = 1.0f;
        pivot_.resize(sample.stride());
        sample.gradient(0, {&first, 1}, &once, pivot_);
        features_ = sample.features();
        width_ = sample.width();
        return stored();
    }

    // Turns raw weights into standardised ones: the inverse of to_raw.
    void load(std::size_t stride, const Hyperplane& h) {
        start_.w.assign(stride, 0.0f);
        double bias = -static_cast<double>(h.threshold);
        for (std::size_t t = 0; t < h.weight.size(); ++t) {
            const auto f = static_cast<std::size_t>(feature_at(h.feature, t));
            std::size_t column = f;
            if constexpr (ListedRows<Rows>) {
                if (columns_.local()[f] < 0) continue;  // zero in all rows
                column = static_cast<std::size_t>(columns_.local()[f]);
            }
            if (standardisation_.scale[f] == 0.0f) continue;
            const float u = widen(h.weight[t]);
            start_.w[column] = u / standardisation_.scale[f];
            bias += static_cast<double>(u) * static_cast<double>(standardisation_.centre[f]);
        }
        start_.bias = static_cast<float>(bias);
    }

    std::optional<Hyperplane> stored() const {
        return to_raw({features_, {plane_.w.data(), width_}, plane_.bias}, pivot_,
                      standardisation_);
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    RefineParams params_;
    bool bytes_suit_;  // see ByteSample

    LinearFit fit_;
    LocalPlane start_, plane_;           // the current plane and the new one
    std::span<const Feature> features_;  // of their columns; empty: all
    std::size_t width_ = 0;
    AlignedFloats pivot_;  // a row of the sample

    // Work space.
    Votes drawn_;
    OccurringColumns columns_;
    DenseSample dense_;
    ByteSample bytes_;
    SparseSample sparse_;
};

}  // namespace co2
