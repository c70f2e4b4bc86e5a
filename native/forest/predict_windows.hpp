// SPDX-License-Identifier: BSD-3-Clause
// Predicts every pixel of some rows of an image.
#pragma once

#include <numeric>
#include <optional>

#include "forest/predict.hpp"
#include "rows/windows/window_rows.hpp"

namespace co2 {

// All windows whose centres lie in the rows [first, last) of centres of an image.
template <class T>
class WindowsOfImage {
   public:
    WindowsOfImage(const WindowImages<T>& images, std::size_t image, std::size_t first,
                   std::size_t last, const float* mean)
        : places_(all_places(images, image, first, last)),
          blocks_(make_blocks(images, image, first, last)),
          rows_(images, places_, mean, blocks_ ? &*blocks_ : nullptr) {}
    WindowsOfImage(WindowsOfImage&&) = delete;  // the rows look into the other members

    const WindowRows<T>& rows() const { return rows_; }

    // Calls use(begin, end, descent, stop) for blocks of the windows, on several threads.
    template <class Use>
    void for_parts(const Forest& forest, std::size_t n_threads, const Watch& watch,
                   Use&& use) const {
        // Large blocks, because the more windows are at a node, the less time each takes.
        constexpr std::size_t most = 65536;
        const std::size_t n = rows_.count();
        const std::size_t part = std::min(n / std::max<std::size_t>(1, n_threads) + 1, most);
        parallel_for((n + part - 1) / part, n_threads, watch,
                     [&](std::size_t p, std::size_t, const std::atomic<bool>& stop) {
                         Descent<WindowRows<T>> descent(forest, rows_);
                         use(p * part, std::min(n, (p + 1) * part), descent, stop);
                     });
    }

   private:
    static std::vector<Place> all_places(const WindowImages<T>& images, std::size_t image,
                                         std::size_t first, std::size_t last) {
        const std::size_t columns = images.centre_columns(image);
        std::vector<Place> places;
        places.reserve((last - first) * columns);
        for (std::size_t row = first; row < last; ++row)
            for (std::size_t column = 0; column < columns; ++column)
                places.push_back({static_cast<std::uint32_t>(image),
                                  static_cast<std::uint32_t>(row * images[image].width + column)});
        return places;
    }

    static std::optional<BlockSums> make_blocks(const WindowImages<T>& images, std::size_t image,
                                                std::size_t first, std::size_t last) {
        if constexpr (sizeof(T) == 1)
            if (BlockSums::suit(images, image, last - first))
                return BlockSums(images, image, first, last);
        return std::nullopt;
    }

    std::vector<Place> places_;
    std::optional<BlockSums> blocks_;
    WindowRows<T> rows_;
};

// out (windows x outputs) = the mean of the leaves' values, as predict() gives it for the windows
// in one piece.
template <class T>
void predict_windows(const Forest& forest, const WindowsOfImage<T>& windows, std::size_t n_threads,
                     const Watch& watch, double* out) {
    const std::size_t k = forest.n_outputs(), n = windows.rows().count();
    std::fill_n(out, n * k, 0.0);
    windows.for_parts(forest, n_threads, watch,
                      [&](std::size_t begin, std::size_t end, auto& descent, const auto& stop) {
                          for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                              const auto leaf =
                                  descent.leaves_of_rows(begin, end - begin, tree, stop);
                              for (std::size_t i = begin; i < end; ++i)
                                  forest.add_leaf(leaf[i - begin], out + i * k);
                          }
                      });
    const auto trees = static_cast<double>(forest.n_trees());
    for (std::size_t t = 0; t < n * k; ++t) out[t] /= trees;
}

// Adds up the votes of trees for the classes of windows, and tells when no more are needed.
class Vote {
   public:
    Vote(const Forest& forest, std::size_t n_windows)
        : forest_(forest), k_(forest.n_outputs()), sum_(n_windows * k_) {}

    void add(std::size_t window, std::size_t leaf) {
        forest_.add_leaf(leaf, sum_.data() + window * k_);
    }

    // Whether the other trees cannot change the winner: each adds one at most to another class.
    bool is_settled(std::size_t window, std::size_t trees_left) const {
        constexpr double enough = 1.0 + 1e-9;  // for rounding
        double best = 0.0, second = 0.0;
        for (const double sum : sums_of(window)) {
            second = std::max(second, std::min(best, sum));
            best = std::max(best, sum);
        }
        return best > (second + static_cast<double>(trees_left)) * enough;
    }

    // Ties go to the first class. Means are compared as predict() rounds them.
    std::uint8_t winner(std::size_t window) const {
        const auto sum = sums_of(window);
        const auto trees = static_cast<double>(forest_.n_trees());
        std::size_t best = 0;
        for (std::size_t y = 1; y < k_; ++y)
            if (sum[y] / trees > sum[best] / trees) best = y;
        return static_cast<std::uint8_t>(best);
    }

   private:
    std::span<const double> sums_of(std::size_t window) const {
        return {sum_.data() + window * k_, k_};
    }

    const Forest& forest_;
    std::size_t k_;
    std::vector<double> sum_;
};

// out = for each window the class with the largest mean probability. Trees that cannot change it
// any more are not asked: this takes about three quarters of the time of predict_windows().
template <class T>
void label_windows(const Forest& forest, const WindowsOfImage<T>& windows, std::size_t n_threads,
                   const Watch& watch, std::uint8_t* out) {
    const std::size_t n_trees = forest.n_trees();
    windows.for_parts(forest, n_threads, watch,
                      [&](std::size_t begin, std::size_t end, auto& descent, const auto& stop) {
                          Vote vote(forest, end - begin);
                          std::vector<RowId> open(end - begin);
                          std::iota(open.begin(), open.end(), RowId{0});
                          for (std::size_t tree = 0; tree < n_trees && !open.empty(); ++tree) {
                              const auto leaf =
                                  descent.leaves_of_some(begin, end - begin, open, tree, stop);
                              std::size_t kept = 0;
                              for (const RowId id : open) {
                                  const auto i = static_cast<std::size_t>(id);
                                  vote.add(i, leaf[i]);
                                  open[kept] = id;
                                  kept += !vote.is_settled(i, n_trees - tree - 1);
                              }
                              open.resize(kept);
                          }
                          for (std::size_t i = begin; i < end; ++i) out[i] = vote.winner(i - begin);
                      });
}

}  // namespace co2
