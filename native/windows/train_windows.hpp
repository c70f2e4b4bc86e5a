// SPDX-License-Identifier: BSD-3-Clause
// Trains forests on windows of images. Each tree draws its own windows, so that no process ever
// holds more than those of the trees that are growing, eight bytes each.
#pragma once

#include "train.hpp"
#include "windows/draw.hpp"

namespace co2 {

// As train(). params.sampling tells how many windows a tree draws, and whether equally many of each
// class.
template <class T>
Training train_windows(const WindowImages<T>& images, std::span<const LabelMap> maps,
                       std::size_t n_classes, std::vector<float> mean, const TrainParams& params,
                       const Watch& watch);

}  // namespace co2
