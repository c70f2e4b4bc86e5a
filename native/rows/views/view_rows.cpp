// SPDX-License-Identifier: BSD-3-Clause
#include "rows/views/view_rows.hpp"

#include <array>
#include <numeric>

namespace co2 {
namespace {

// Rows of a block: at most as many as fit half of the fastest cache, but several for each load of
// the weights.
constexpr std::size_t kMost = 64, kLeast = 4, kElements = 4096;

constexpr auto kPlaces = [] {
    std::array<RowId, kMost> places{};
    std::iota(places.begin(), places.end(), 0);
    return places;
}();

}  // namespace

void ViewRows::project(std::size_t first, std::span<const RowId> ids, const HyperplaneView& h,
                       Space& space, float* z) const {
    const std::size_t p = features();
    const auto place = [&](std::size_t t) { return first + static_cast<std::size_t>(ids[t]); };
    if (!h.is_dense()) {
        for (std::size_t t = 0; t < ids.size(); ++t)
            z[t] = listed_dot(p, h, [&](std::size_t f) { return value(place(t), h.feature[f]); });
        return;
    }
    const std::size_t block = std::min(std::clamp(kElements / p, kLeast, kMost), ids.size());
    if (space.size() < block * p) space.resize(block * p);
    for (std::size_t begin = 0; begin < ids.size(); begin += block) {
        const std::size_t n = std::min(block, ids.size() - begin);
        for (std::size_t t = 0; t < n; ++t) {
            prefetch(first, ids, begin + t);
            const std::size_t i = place(begin + t);
            views_->expand(row(i), fold(i), mean_, space.data() + t * p);
        }
        DenseRows<float>(space.data(), n, p, mean_)
            .project_exactly({kPlaces.data(), n}, h, z + begin);
    }
}

// Most features of a row are codes that it does not have. So every row begins as one that has none,
// and only what it has is standardised; as in the kernel, to the last bit.
void ViewRows::standardise(std::span<const RowId> ids, const Standardisation& s, std::size_t stride,
                           float* out) const {
    const std::size_t p = features(), width = round_up_to_lanes(p);
    const FeatureMap map = s.map();
    std::vector<float> raw(2 * p, 0.0f), standard(2 * width);
    std::fill_n(raw.data() + p, p, 1.0f);
    kernels().standardise_f32(raw.data(), 2, p, kPlaces.data(), 2, map, width, standard.data());
    const float *const none = standard.data(), *const all = none + width;
    for (std::size_t t = 0; t < ids.size(); ++t, out += stride) {
        prefetch(0, ids, t);
        const auto i = static_cast<std::size_t>(ids[t]);
        std::memcpy(out, none, width * sizeof(float));
        views_->visit(
            row(i), fold(i),
            [&](Feature j, float x) {
                if (std::isnan(x)) x = map.mean[j];
                if (map.low != nullptr) x = x < map.low[j] ? map.low[j] : x;
                if (map.high != nullptr) x = x > map.high[j] ? map.high[j] : x;
                out[j] = (x - map.centre[j]) * map.scale[j];
            },
            [&](Feature j) { out[j] = all[j]; });
    }
}

}  // namespace co2
