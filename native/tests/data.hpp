// SPDX-License-Identifier: BSD-3-Clause
// Rows and forests for the tests.
#pragma once

#include "base/random.hpp"
#include "forest/forest.hpp"
#include "forest/predict.hpp"
#include "rows/kinds.hpp"
#include "train/forest.hpp"

namespace co2 {

// 400 rows of three classes, in all kinds of rows: whole numbers, many of them zero. Views add
// features.
struct Data {
    static constexpr std::size_t n = 400, p = 70, classes = 3;
    std::vector<std::uint8_t> bytes;
    std::vector<float> floats;
    std::vector<std::int64_t> begin{0};
    std::vector<Feature> feature;
    std::vector<float> value;
    std::vector<std::uint8_t> label;
    Views views = some_views();

    Data() {
        Random random(1);
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t sum = 0;
            for (std::size_t j = 0; j < p; ++j) {
                const auto x =
                    static_cast<std::uint8_t>(random.below(2) == 0 ? 0 : random.below(256));
                if (j < 6) sum += x;
                bytes.push_back(x);
                floats.push_back(x);
                if (x == 0) continue;
                feature.push_back(static_cast<Feature>(j));
                value.push_back(x);
            }
            begin.push_back(static_cast<std::int64_t>(feature.size()));
            label.push_back(static_cast<std::uint8_t>(std::min(2u, sum / 260)));
        }
    }

    DenseRows<float> dense() const { return {floats.data(), n, p, nullptr}; }
    DenseRows<std::uint8_t> dense_bytes() const { return {bytes.data(), n, p, nullptr}; }
    SparseRows sparse() const {
        return {begin.data(), feature.data(), value.data(), n, p, nullptr};
    }
    ViewRows seen() const { return {views, floats.data(), nullptr, n, nullptr}; }

    // For each column: the number, whether it is missing, whether it is zero, and sixteenths of it
    // from a table.
    static Views some_views() {
        ViewArrays a;
        for (int code = 0; code < 256 + 2; ++code)
            a.values.push_back(static_cast<float>(code / 16));
        for (std::int32_t j = 0; j < static_cast<std::int32_t>(p); ++j)
            for (const ViewKind kind :
                 {ViewKind::kNumber, ViewKind::kMissing, ViewKind::kEquals, ViewKind::kTable}) {
                a.column.push_back(j);
                a.kind.push_back(static_cast<std::uint8_t>(kind));
                a.argument.push_back(0);
                a.size.push_back(kind == ViewKind::kTable ? 256 : 0);
            }
        return Views(std::move(a), p, 0);
    }
};

template <class Rows>
ForestArrays trained(const Data& data, const Rows& rows, std::uint64_t seed,
                     std::int64_t n_threads) {
    TrainParams params;
    params.seed = seed;
    params.n_trees = 5;
    params.n_threads = n_threads;
    params.sampling.bootstrap = true;
    params.sampling.n_draws = Data::n;
    Co2Params co2;
    co2.max_features = 8;
    params.grow.split = co2;
    return train(rows, Labels(std::span<const std::uint8_t>(data.label), Data::classes),
                 Weights({}), Data::classes, {}, params, {})
        .forest;
}

template <class Rows>
std::vector<double> predicted(const Forest& forest, const Rows& rows, std::size_t n_threads) {
    std::vector<double> out(rows.count() * forest.n_outputs());
    predict(forest, rows.with_mean(forest.arrays().mean.data()), n_threads, {}, out.data());
    return out;
}

}  // namespace co2
