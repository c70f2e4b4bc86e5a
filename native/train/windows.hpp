// SPDX-License-Identifier: BSD-3-Clause
// Trains forests on windows of images. Each tree draws its own windows, so that no process ever
// holds more than those of the trees that are growing, eight bytes each.
#pragma once

#include "train/forest.hpp"
#include "train/window_draws.hpp"

namespace co2 {

// Like train(). params.sampling says how many windows a tree draws, and whether equally many of
// each class. The probabilities in the leaves are those of all windows nevertheless: each class's
// is divided by the factor by which it was drawn more often than it occurs. Leaf by leaf, not in
// the mean over trees: a leaf that knows one class only stays certain. Multiplied into the mean,
// the factors of rare classes, often below 1/20, would outvote nearly all trees.
template <class T>
Training train_windows(const WindowImages<T>& images, std::span<const LabelMap> maps,
                       std::size_t n_classes, std::vector<float> mean, const TrainParams& params,
                       const Watch& watch);

}  // namespace co2
