// SPDX-License-Identifier: BSD-3-Clause
#include "train/window_draws.hpp"

namespace co2 {
namespace {

// Draws `wanted` of `left` pixels that come one after the other: every pixel `wanted / left` times,
// and of the rest each set is equally likely (Knuth's Algorithm S).
class Quota {
   public:
    Quota(std::uint64_t wanted, std::uint64_t pixels)
        : each_(pixels > 0 ? wanted / pixels : 0), wanted_(pixels > 0 ? wanted % pixels : 0),
          left_(pixels) {}

    // How often the next pixel is drawn.
    std::uint64_t next(Random& random) {
        // More than 2^32 pixels of a class are drawn from in their upper bits.
        const auto spin = static_cast<double>(random.next() >> 11) * 0x1p-53;
        const bool drawn =
            wanted_ > 0 && spin * static_cast<double>(left_) < static_cast<double>(wanted_);
        if (left_ > 0) --left_;
        if (drawn) --wanted_;
        return each_ + (drawn ? 1 : 0);
    }

    std::uint64_t distinct() const { return each_ > 0 ? left_ : wanted_; }

   private:
    std::uint64_t each_, wanted_, left_;
};

}  // namespace

std::vector<std::uint64_t> count_labels(std::span<const LabelMap> maps, std::size_t n_classes,
                                        const Watch& watch) {
    std::vector<std::uint64_t> counts(256, 0);
    for (const LabelMap& map : maps)
        for (std::size_t row = 0; row < map.rows; ++row) {
            watch_row(watch, row);
            for (std::size_t column = 0; column < map.columns; ++column) ++counts[map(row, column)];
        }
    counts.resize(n_classes);
    return counts;
}

WindowDraw draw_windows(std::span<const LabelMap> maps, std::span<const std::size_t> image_width,
                        std::span<const std::uint64_t> counts, std::uint64_t n_draws, bool balance,
                        std::uint64_t key, const Watch& watch) {
    std::vector<Quota> quotas;
    if (balance) {
        for (const std::uint64_t count : counts)
            quotas.emplace_back(n_draws / counts.size(), count);
    } else {
        std::uint64_t pixels = 0;
        for (const std::uint64_t count : counts) pixels += count;
        quotas.emplace_back(std::min(n_draws, pixels), pixels);
    }
    WindowDraw out;
    std::uint64_t distinct = 0;
    for (const Quota& quota : quotas) distinct += quota.distinct();
    out.place.reserve(distinct);
    out.label.reserve(distinct);
    out.weight.reserve(distinct);
    Random random(key);
    for (std::size_t image = 0; image < maps.size(); ++image)
        for (std::size_t row = 0; row < maps[image].rows; ++row) {
            watch_row(watch, row);
            for (std::size_t column = 0; column < maps[image].columns; ++column) {
                const std::uint8_t y = maps[image](row, column);
                if (y >= counts.size()) continue;
                const std::uint64_t times = quotas[balance ? y : 0].next(random);
                if (times == 0) continue;
                out.place.push_back(
                    {static_cast<std::uint32_t>(image),
                     static_cast<std::uint32_t>(row * image_width[image] + column)});
                out.label.push_back(y);
                out.weight.push_back(static_cast<float>(times));
            }
        }
    return out;
}

}  // namespace co2
