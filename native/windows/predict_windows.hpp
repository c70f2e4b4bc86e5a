// SPDX-License-Identifier: BSD-3-Clause
// Predicts every pixel of some rows of an image.
#pragma once

#include "predict.hpp"
#include "windows/rows.hpp"

namespace co2 {

// out = for each centre in the rows [first, last) of an image the mean of the leaves' values, as
// predict() gives it for the window in one piece.
template <class T>
void predict_windows(const Forest& forest, const WindowImages<T>& images, std::size_t image,
                     std::size_t first, std::size_t last, std::size_t n_threads, const Watch& watch,
                     double* out) {
    const std::size_t columns = images.centre_columns(image), n = (last - first) * columns;
    const std::size_t k = forest.n_outputs();
    std::vector<Place> places;
    places.reserve(n);
    for (std::size_t row = first; row < last; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            places.push_back({static_cast<std::uint32_t>(image),
                              static_cast<std::uint32_t>(row * images[image].width + column)});
    const WindowRows<T> rows(images, places, forest.arrays().mean.data());
    std::fill_n(out, n * k, 0.0);
    constexpr std::size_t most = 16384;  // windows that go through a tree together
    const std::size_t block = std::min(n / std::max<std::size_t>(1, n_threads) + 1, most);
    parallel_for((n + block - 1) / block, n_threads, watch,
                 [&](std::size_t b, std::size_t, const std::atomic<bool>& stop) {
                     const std::size_t begin = b * block, end = std::min(n, begin + block);
                     Descent<WindowRows<T>> descent(forest, rows);
                     for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                         const auto leaf = descent.leaves_of_rows(begin, end - begin, tree, stop);
                         for (std::size_t i = begin; i < end; ++i)
                             forest.add_leaf(leaf[i - begin], out + i * k);
                     }
                 });
    const auto trees = static_cast<double>(forest.n_trees());
    for (std::size_t t = 0; t < n * k; ++t) out[t] /= trees;
}

}  // namespace co2
