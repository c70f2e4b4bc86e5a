// SPDX-License-Identifier: BSD-3-Clause
// Rows of a float32 matrix whose features are views of its columns. They go where the same features
// as rows of DenseRows go, to the last bit: a few rows at a time are expanded to a block that stays
// in the cache, and the kernels of dense rows do the rest.
#pragma once

#include <cstring>

#include "rows/dense.hpp"
#include "rows/views/views.hpp"

namespace co2 {

class ViewRows {
   public:
    using Element = float;
    using Space = std::vector<float>;  // a block

    // Folds: one for each row, or null if no view is folded.
    ViewRows(const Views& views, const float* data, const std::uint8_t* folds, std::size_t n,
             const float* mean)
        : views_(&views), data_(data), folds_(folds), n_(n), mean_(mean) {}

    ViewRows with_mean(const float* mean) const { return {*views_, data_, folds_, n_, mean}; }

    std::size_t count() const { return n_; }
    std::size_t features() const { return views_->n_features(); }

    // Rows of two folds are never the same.
    bool same(std::size_t a, std::size_t b) const {
        return fold(a) == fold(b) &&
               std::memcmp(row(a), row(b), views_->n_columns() * sizeof(float)) == 0;
    }

    // That of the features: what is drawn by it is what dense rows draw.
    std::uint64_t hash(std::size_t i) const {
        std::vector<float> space;
        return hash_bytes(in_one_piece(i, space), features() * sizeof(float));
    }

    float element(std::size_t i, std::size_t j) const {
        return views_->element(row(i), fold(i), j);
    }

    float value(std::size_t i, Feature j) const {
        const float x = element(i, static_cast<std::size_t>(j));
        return std::isnan(x) ? mean_[j] : x;
    }

    const float* in_one_piece(std::size_t i, std::vector<float>& space) const {
        space.resize(features());
        views_->expand(row(i), fold(i), nullptr, space.data());
        return space.data();
    }

    // Rows from `first` on as a dense matrix, in `space`; a missing value is its mean, if that is
    // known.
    DenseRows<float> expanded(std::size_t first, std::size_t n, std::vector<float>& space) const {
        space.resize(n * features());
        for (std::size_t t = 0; t < n; ++t)
            views_->expand(row(first + t), fold(first + t), mean_, space.data() + t * features());
        return {space.data(), n, features(), mean_};
    }

    void project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                 Space& space, float* z) const;

    void project_exactly(std::span<const RowId> ids, const HyperplaneView& h, float* z) const {
        Space space;
        project(0, ids, h, space, z);
    }

    template <class WeightsAt, class PlaneAt>
    void dots(std::size_t i, std::size_t n, WeightsAt&& weights_at, PlaneAt&& plane_at,
              float* z) const {
        std::vector<float> space;
        expanded(i, 1, space).dots(0, n, weights_at, plane_at, z);
    }

    void standardise(std::span<const RowId> ids, const Standardisation& s, std::size_t stride,
                     float* out) const;

   private:
    const float* row(std::size_t i) const { return data_ + i * views_->n_columns(); }
    std::size_t fold(std::size_t i) const { return folds_ == nullptr ? 0 : folds_[i]; }

    // Asks for a row that comes soon: they lie anywhere in memory.
    void prefetch(std::size_t first, std::span<const RowId> ids, std::size_t t) const {
        constexpr std::size_t ahead = 4;
        if (t + ahead < ids.size())
            __builtin_prefetch(row(first + static_cast<std::size_t>(ids[t + ahead])));
    }

    const Views* views_;
    const float* data_;          // n x columns, row-major, not owned
    const std::uint8_t* folds_;  // of each row, or null
    std::size_t n_;
    const float* mean_;  // what a missing feature stands for
};

}  // namespace co2
