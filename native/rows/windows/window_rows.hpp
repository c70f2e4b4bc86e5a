// SPDX-License-Identifier: BSD-3-Clause
// Windows of images as rows. A row is a place of eight bytes, and its elements stay in the image.
// Where all elements of a window are needed in one piece, it is copied to a small buffer that the
// next one overwrites.
//
// A window goes where the same elements as a row of DenseRows go, to the last bit.
#pragma once

#include <cstring>
#include <limits>

#include "rows/channels.hpp"
#include "rows/missing.hpp"
#include "rows/standardisation.hpp"
#include "rows/windows/block_sums.hpp"

namespace co2 {

template <class T>
class WindowRows {
   public:
    using Element = T;

    struct Space {
        ProjectionSpace bytes;
        BlockPlane plane;
        std::vector<RowId> open;           // rows whose side is not known yet
        std::vector<std::uint32_t> place;  // of these
        std::vector<float> z;              // their projections
    };

    // Blocks may be given where the rows are all windows of some rows of an image, in their order.
    WindowRows(const WindowImages<T>& images, std::span<const Place> places, const float* mean,
               const BlockSums* blocks = nullptr)
        : images_(&images), places_(places), mean_(mean), blocks_(blocks) {}

    std::size_t count() const { return places_.size(); }
    std::size_t features() const { return images_->features(); }

    T element(std::size_t i, std::size_t j) const { return images_->element(places_[i], j); }

    float value(std::size_t i, Feature j) const {
        const auto x = static_cast<float>(element(i, static_cast<std::size_t>(j)));
        return std::isnan(x) ? mean_[j] : x;
    }

    // Row i, copied to `space`.
    const T* in_one_piece(std::size_t i, std::vector<T>& space) const {
        space.resize(features());
        copy(i, space.data());
        return space.data();
    }

    void copy(std::size_t i, T* out) const {
        const std::size_t run = images_->run(), step = images_->step(places_[i].image);
        const T* from = images_->corner(places_[i]);
        for (std::size_t r = 0; r < images_->window(); ++r, from += step, out += run)
            std::memcpy(out, from, run * sizeof(T));
    }

    void prefetch(std::size_t) const {}  // neighbours share most of their elements

    // As DenseRows::project(): on the right side of the threshold, but not exact for bytes.
    void project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                 Space& space, float* z) const {
        if constexpr (sizeof(T) == 1) {
            if (h.is_dense() && blocks_ != nullptr)
                return project_by_blocks(first, ids, h, space, z);
            if (h.is_dense()) return project_bytes(first, ids, h, space.bytes, z);
        }
        project_with_floats(first, ids, h, z);
    }

    void project_exactly(std::span<const RowId> ids, const HyperplaneView& h, float* z) const {
        project_with_floats(0, ids, h, z);
    }

    void standardise(std::span<const RowId> ids, const Standardisation& s, std::size_t stride,
                     float* out) const {
        constexpr RowId first = 0;
        std::vector<T> space;
        for (const RowId id : ids) {
            const T* row = in_one_piece(static_cast<std::size_t>(id), space);
            if constexpr (sizeof(T) == 1)
                kernels().standardise_u8(row, 1, features(), &first, 1, s.map(), stride, out);
            else
                kernels().standardise_f32(row, 1, features(), &first, 1, s.map(), stride, out);
            if (s.centred_channels > 0) centre_channels({out, features()}, s.centred_channels);
            out += stride;
        }
    }

   private:
    void project_with_floats(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                             float* z) const {
        const std::size_t listed = h.feature.size();
        if (listed == 1 || listed == 2) return project_probes(first, ids, h, z);
        std::vector<T> space;
        for (std::size_t t = 0; t < ids.size(); ++t)
            z[t] = dot(first + static_cast<std::size_t>(ids[t]), h, space);
    }

    // One or two features: where they lie in a window is the same for all windows of an image.
    void project_probes(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                        float* z) const {
        std::size_t offset[2] = {};
        std::uint32_t image = std::numeric_limits<std::uint32_t>::max();
        for (std::size_t t = 0; t < ids.size(); ++t) {
            const Place here = place(first, ids[t]);
            if (here.image != image) {
                image = here.image;
                for (std::size_t f = 0; f < h.feature.size(); ++f)
                    offset[f] = images_->offset(image, static_cast<std::size_t>(h.feature[f]));
            }
            const T* corner = images_->corner(here);
            z[t] = listed_dot(features(), h,
                              [&](std::size_t f) { return static_cast<float>(corner[offset[f]]); });
            if (std::isnan(z[t]))
                z[t] = dot_with_missing(*this, first + static_cast<std::size_t>(ids[t]), h);
        }
    }

    // Looking at a plane through blocks, or quantising it, takes as long as this many dot products.
    static constexpr std::size_t kFewForBlocks = 12, kFewForBytes = 12;

    void project_by_blocks(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                           Space& space, float* z) const {
        if (ids.size() < kFewForBlocks) return project_bytes(first, ids, h, space.bytes, z);
        space.plane.look_at(h, *images_, *blocks_);
        project_blocks(first, ids, space.plane, z);
        space.open.clear();
        space.place.clear();
        for (std::size_t t = 0; t < ids.size(); ++t) {
            const float rest = blocks_->rest(first + static_cast<std::size_t>(ids[t]));
            if (std::abs(z[t] - h.threshold) > space.plane.margin(rest)) continue;
            space.open.push_back(ids[t]);
            space.place.push_back(static_cast<std::uint32_t>(t));
        }
        space.z.resize(space.open.size());
        project_bytes(first, space.open, h, space.bytes, space.z.data());
        for (std::size_t t = 0; t < space.open.size(); ++t) z[space.place[t]] = space.z[t];
    }

    void project_blocks(std::size_t first, std::span<const RowId> ids, const BlockPlane& plane,
                        float* z) const {
        const std::int16_t* sums[kMany];
        const std::size_t offset = images_->offset(places_[first].image, plane.feature());
        for (std::size_t begin = 0; begin < ids.size(); begin += kMany) {
            const std::size_t n = std::min(kMany, ids.size() - begin);
            const auto row = [&](std::size_t t) {
                return first + static_cast<std::size_t>(ids[begin + t]);
            };
            for (std::size_t t = 0; t < n; ++t) sums[t] = blocks_->sums(row(t));
            kernels().project_sums(sums, n, blocks_->step(), blocks_->blocks(), blocks_->run(),
                                   plane.quantised(), plane.unit(), z + begin);
            for (std::size_t t = 0; t < n; ++t)
                z[begin + t] +=
                    plane.weight() * static_cast<float>(images_->corner(places_[row(t)])[offset]);
        }
    }

    // As DenseRows::project_bytes, but the weights lie run by run.
    void project_bytes(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                       ProjectionSpace& space, float* z) const {
        if (images_->run() < kLanes || ids.size() < kFewForBytes)
            return project_with_floats(first, ids, h, z);
        const std::size_t p = features(), run = images_->run(), window = images_->window();
        const std::size_t blocks = (run + kLanes - 1) / kLanes, whole = run / kLanes * kLanes;
        const std::size_t stride = window * blocks * kLanes;
        auto& [weight, ones, quantised] = space;
        weight.assign(stride, 0.0f);
        ones.assign(stride, 1.0f);
        quantised.resize(stride);
        for (std::size_t r = 0; r < window; ++r) {
            const Bfloat16* from = h.weight.data() + r * run;
            float* to = weight.data() + r * blocks * kLanes;
            for (std::size_t j = 0; j < whole; ++j) to[j] = widen(from[j]);
            // The last ones at the end of their block, behind zeros: they meet the run's last 16
            // bytes.
            for (std::size_t j = whole; j < run; ++j)
                to[blocks * kLanes - run + j] = widen(from[j]);
        }
        const auto [unit, size] =
            kernels().quantise(weight.data(), ones.data(), stride, weight.data(), quantised.data());
        const float margin = byte_margin(unit, size, p);
        const std::uint8_t* corner[kMany];
        for (std::size_t begin = 0, end; begin < ids.size(); begin = end) {
            const std::uint32_t image = place(first, ids[begin]).image;
            for (end = begin; end < ids.size() && end < begin + kMany; ++end) {
                const Place here = place(first, ids[end]);
                if (here.image != image) break;
                corner[end - begin] = images_->corner(here);
            }
            kernels().project_windows(corner, end - begin, images_->step(image), window, run,
                                      quantised.data(), unit, z + begin);
        }
        for (std::size_t t = 0; t < ids.size(); ++t)
            if (!(std::abs(z[t] - h.threshold) > margin))
                project_with_floats(first, ids.subspan(t, 1), h, z + t);
    }

    static constexpr std::size_t kMany = 256;

    Place place(std::size_t first, RowId id) const {
        return places_[first + static_cast<std::size_t>(id)];
    }

    // The space holds a window in one piece.
    float dot(std::size_t i, const HyperplaneView& h, std::vector<T>& space) const {
        const auto raw = [&](std::size_t t) {
            return static_cast<float>(element(i, static_cast<std::size_t>(h.feature[t])));
        };
        float z = 0.0f;
        if (h.is_dense()) {
            const T* x = in_one_piece(i, space);
            const Bfloat16* w = h.weight.data();
            dense_dots(&x, &w, features(), 1, &z);
        } else {
            z = listed_dot(features(), h, raw);
        }
        return std::isnan(z) ? dot_with_missing(*this, i, h) : z;
    }

    const WindowImages<T>* images_;
    std::span<const Place> places_;
    const float* mean_;
    const BlockSums* blocks_;
};

}  // namespace co2
