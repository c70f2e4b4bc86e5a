// SPDX-License-Identifier: BSD-3-Clause
#include "train/windows.hpp"

#include <limits>
#include <numeric>

#include "base/heap.hpp"
#include "loss/log_loss.hpp"
#include "rows/windows/window_rows.hpp"
#include "split/make_finder.hpp"
#include "train/tree.hpp"

namespace co2 {
namespace {

// Means and scales come from at most this many windows, drawn like those of a tree.
constexpr std::uint64_t kNormalisingWindows = 32000;
constexpr std::int64_t kNoTree = -1;  // in place of a tree, for their random numbers

template <class T>
Standardisation normalisation_of(const WindowImages<T>& images, const WindowDraw& windows,
                                 std::vector<float> mean, Scaling scaling, const Watch& watch,
                                 double& unit) {
    const std::size_t n = windows.place.size(), judged = std::min<std::size_t>(n, 1000);
    std::vector<RowId> typical(judged);
    for (std::size_t t = 0; t < judged; ++t) typical[t] = static_cast<RowId>(t * n / judged);
    return standardisation_of(WindowRows<T>(images, windows.place, nullptr), windows.weight,
                              typical, std::move(mean), scaling, watch, unit);
}

// Lets rows lose the means of their channels. All pixels of a channel then have one scale: what is
// added to all of them must cancel.
void centre(Standardisation& s, std::size_t channels) {
    s.centred_channels = channels;
    for (std::size_t c = 0; c < channels; ++c) {
        float sum = 0.0f, used = 0.0f;
        for (std::size_t j = c; j < s.scale.size(); j += channels) {
            sum += s.scale[j];
            used += s.scale[j] > 0.0f ? 1.0f : 0.0f;
        }
        for (std::size_t j = c; j < s.scale.size(); j += channels)
            s.scale[j] = used > 0.0f ? sum / used : 0.0f;
    }
}

// How much more frequent the classes are among all windows than among those that a tree draws.
std::vector<double> frequency_factors(std::span<const std::uint64_t> counts, bool balance) {
    std::vector<double> factors(counts.size(), 1.0);
    if (!balance) return factors;
    double total = 0.0;
    for (const std::uint64_t count : counts) total += static_cast<double>(count);
    for (std::size_t y = 0; y < counts.size(); ++y)
        factors[y] = static_cast<double>(counts[y]) * static_cast<double>(counts.size()) / total;
    return factors;
}

// Gives the classes in each leaf the probabilities that they would have if windows had been drawn
// without regard to their class.
void undo_balance(ForestArrays& tree, std::span<const double> factors) {
    for (std::size_t node = 0; node < tree.left.size(); ++node) {
        const auto begin = static_cast<std::size_t>(tree.value_begin[node]),
                   end = static_cast<std::size_t>(tree.value_begin[node + 1]);
        const auto weighted = [&](std::size_t t) {
            return static_cast<double>(tree.value[t]) *
                   factors[static_cast<std::size_t>(tree.value_output[t])];
        };
        double total = 0.0;
        for (std::size_t t = begin; t < end; ++t) total += weighted(t);
        for (std::size_t t = begin; t < end; ++t)
            tree.value[t] = static_cast<float>(weighted(t) / total);
    }
}

}  // namespace

template <class T>
Training train_windows(const WindowImages<T>& images, std::span<const LabelMap> maps,
                       std::size_t n_classes, std::vector<float> mean, const TrainParams& params,
                       const Watch& watch) {
    using Rows = WindowRows<T>;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < images.count(); ++i) widths.push_back(images[i].width);
    const auto counts = count_labels(maps, n_classes, watch);
    const auto factors = frequency_factors(counts, params.sampling.balance);
    const auto draw = [&](std::uint64_t most, std::uint64_t key, const Watch& watched) {
        const auto wanted = static_cast<std::uint64_t>(params.sampling.n_draws);
        return draw_windows(maps, widths, counts, std::min(wanted, most), params.sampling.balance,
                            key, watched);
    };

    GrowParams grow = params.grow;
    double unit = 1.0;
    Standardisation standardisation = normalisation_of(
        images, draw(kNormalisingWindows, tree_key(params.seed, kNoTree, kDraw), watch),
        std::move(mean), params.scaling, watch, unit);
    to_unit_variance(grow.split, unit);
    // A window of one pixel has nothing but its means.
    if (params.centre && images.window() > 1 && std::holds_alternative<Co2Params>(grow.split))
        centre(standardisation, images.channels());

    const auto n_trees = static_cast<std::size_t>(params.n_trees);
    const auto n_threads = static_cast<std::size_t>(std::max<std::int64_t>(1, params.n_threads));
    std::vector<ForestArrays> trees(n_trees);
    Training out;
    out.statistics.resize(n_trees);
    FreedMemory freed;
    parallel_for(n_trees, std::min(n_threads, n_trees), watch,
                 [&](std::size_t t, std::size_t, const std::atomic<bool>& stop) {
                     const std::int64_t tree = params.first_tree + static_cast<std::int64_t>(t);
                     const Watch watched = [&](std::size_t) { throw_if(stop); };
                     const WindowDraw drawn = draw(std::numeric_limits<std::uint64_t>::max(),
                                                   tree_key(params.seed, tree, kDraw), watched);
                     const Rows rows(images, drawn.place, standardisation.mean.data());
                     const Labels label(drawn.label, n_classes);
                     TreeRows<Labels> sample{
                         std::vector<RowId>(drawn.place.size()), label, Weights(drawn.weight), {}};
                     std::iota(sample.ids.begin(), sample.ids.end(), RowId{0});
                     const LogLoss own(label, n_classes);
                     TreeGrower<Rows, LogLoss> grower(
                         rows, own, grow,
                         make_finder<Rows, LogLoss>(rows, standardisation, own, grow.split));
                     trees[t] = train_tree(grower, sample, rows, standardisation, own, grow, params,
                                           tree, stop, out.statistics[t]);
                     undo_balance(trees[t], factors);
                     freed.add(bytes_of(trees[t]) + drawn.place.size() * sizeof(Place));
                 });
    out.forest = concatenate(std::move(trees));
    return out;
}

template Training train_windows(const WindowImages<float>&, std::span<const LabelMap>, std::size_t,
                                std::vector<float>, const TrainParams&, const Watch&);
template Training train_windows(const WindowImages<std::uint8_t>&, std::span<const LabelMap>,
                                std::size_t, std::vector<float>, const TrainParams&, const Watch&);

}  // namespace co2
