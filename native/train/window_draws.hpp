// SPDX-License-Identifier: BSD-3-Clause
// Draws the windows that a tree is trained on.
#pragma once

#include "base/random.hpp"
#include "base/stop.hpp"
#include "loss/targets.hpp"
#include "rows/windows/images.hpp"

namespace co2 {

// The classes of the centres of an image's windows; a code beyond the classes is to be ignored.
struct LabelMap {
    const std::uint8_t* data;
    std::size_t rows, columns, step;  // rows begin `step` bytes apart

    std::uint8_t operator()(std::size_t row, std::size_t column) const {
        return data[row * step + column];
    }
};

// Windows in the order of images and pixels.
struct WindowDraw {
    std::vector<Place> place;
    std::vector<std::uint8_t> label;
    std::vector<float> weight;  // how often the window was drawn
};

// How many centres of each class there are.
std::vector<std::uint64_t> count_labels(std::span<const LabelMap> maps, std::size_t n_classes,
                                        const Watch& watch);

// Draws `n_draws` windows: of all, or equally many of each class. If a class has fewer pixels than
// that, each is drawn equally often, or once more.
WindowDraw draw_windows(std::span<const LabelMap> maps, std::span<const std::size_t> image_width,
                        std::span<const std::uint64_t> counts, std::uint64_t n_draws, bool balance,
                        std::uint64_t key, const Watch& watch);

}  // namespace co2
