// SPDX-License-Identifier: BSD-3-Clause
#include "train/boost.hpp"

#include "forest/predict.hpp"
#include "loss/instantiations.hpp"
#include "split/make_finder.hpp"
#include "train/bins.hpp"
#include "train/boost_objective.hpp"
#include "train/duplicates.hpp"
#include "train/early_stopping.hpp"

namespace co2 {
namespace {

// Keys of the random streams of a round.
enum Purpose : std::uint64_t { kDraw = 0, kGrow = 1 };

// Calls use() with the type of the objective.
template <class Use>
auto with_objective(const Values&, const BoostParams&, Use&& use) {
    return use(std::type_identity<ValueObjective>{});
}
template <class Use>
auto with_objective(const Labels&, const BoostParams& params, Use&& use) {
    return params.on_gradients ? use(std::type_identity<GradientObjective>{})
                               : use(std::type_identity<LabelObjective>{});
}

// The rows of a fold that are trained on and those that are held out. Duplicates among the training
// rows are one, with their weight.
struct RowSets {
    std::vector<float> weight;        // of all rows
    std::vector<std::int32_t> count;  // of all rows: how many of the caller's it is; empty: one
    std::vector<RowId> training, validation;
};

RowSets row_sets_of(std::size_t fold, std::size_t n, Weights weight,
                    std::span<const std::uint8_t> held_out, std::span<const RowId> first) {
    RowSets out{std::vector<float>(n, 0.0f), {}, {}, {}};
    // The first of its kind may be held out while others are trained on.
    std::vector<RowId> first_trained(first.empty() ? 0 : n, -1);
    if (!first.empty()) out.count.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        if (!(weight[i] > 0.0f)) continue;
        if (!held_out.empty() && held_out[i] == fold + 1) {
            out.weight[i] = weight[i];
            out.validation.push_back(static_cast<RowId>(i));
            continue;
        }
        std::size_t row = i;
        if (!first.empty()) {
            RowId& known = first_trained[static_cast<std::size_t>(first[i])];
            if (known < 0) known = static_cast<RowId>(i);
            row = static_cast<std::size_t>(known);
            ++out.count[row];
        }
        if (row == i) out.training.push_back(static_cast<RowId>(i));
        out.weight[row] += weight[i];
    }
    return out;
}

// A tree that has no Forest yet, for a Router.
struct NewTree {
    const ForestArrays& a;

    std::int64_t left(std::size_t node) const { return a.left[node]; }
    HyperplaneView plane(std::size_t node) const {
        const auto slice = [node](const auto& items, const std::vector<std::int64_t>& begin) {
            return std::span(items.data() + begin[node], items.data() + begin[node + 1]);
        };
        return {slice(a.feature, a.feature_begin), slice(a.weight, a.weight_begin),
                a.threshold[node]};
    }
};

template <TableKind Rows, class Objective>
class Booster {
   public:
    using Loss = typename Objective::Loss;

    Booster(std::uint64_t seed, const Rows& rows, const Standardisation& standardisation,
            RowSets sets, Objective objective, std::size_t n_outputs, const BoostParams& params,
            const BinnedColumns* binned)
        : seed_(seed), standardisation_(standardisation), sets_(std::move(sets)),
          objective_(std::move(objective)), k_(n_outputs), params_(params),
          scores_(rows.count() * n_outputs),
          grower_(rows, objective_.tree_loss(), params.grow,
                  make_finder<Rows, Loss>(rows, standardisation, objective_.tree_loss(),
                                          params.grow.split, binned)),
          router_(rows) {
        for (const RowId id : sets_.validation)
            validation_weight_ += static_cast<double>(sets_.weight[static_cast<std::size_t>(id)]);
    }

    void begin(const Rows& rows, std::span<const double> start,
               const std::optional<BoostedBefore>& before, const std::atomic<bool>& stop) {
        for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] = start[i % k_];
        if (!before) return;
        const Forest& forest = before->forest;
        first_round_ = forest.n_trees();
        visit_leaves(forest, rows, 0, forest.n_trees(), 1, {},
                     [&](std::size_t i, std::size_t, std::size_t leaf) {
                         forest.add_leaf(leaf, scores_.data() + i * k_);
                     });
        throw_if(stop);
    }

    // Grows so many more trees.
    void advance(std::size_t n_rounds, const std::atomic<bool>& stop,
                 std::atomic<std::size_t>& rounds_done) {
        for (std::size_t i = 0; i < n_rounds; ++i) {
            throw_if(stop);
            if (out_.trees.empty()) objective_.refresh(sets_.training, scores_);
            add_tree(first_round_ + out_.trees.size(), stop);
            out_.training.push_back(objective_.refresh(sets_.training, scores_));
            if (!sets_.validation.empty()) validation_.push_back(validate());
            ++rounds_done;
        }
    }

    // The loss of the rows held out, and their weight.
    BoostLoss validate() { return objective_.loss(sets_.validation, scores_); }
    double validation_weight() const { return validation_weight_; }
    const std::vector<BoostLoss>& validation() const { return validation_; }

    // Drops the rounds after these.
    void keep(std::size_t n_rounds, const std::atomic<bool>& stop) {
        for (std::size_t round = n_rounds; round < out_.trees.size(); ++round) {
            route(out_.trees[round], sets_.validation, stop);
            add_values(out_.trees[round], sets_.validation, leaves_, -1.0);
        }
        n_rounds = std::min(n_rounds, out_.trees.size());
        out_.trees.resize(n_rounds);
        out_.statistics.resize(n_rounds);
        out_.training.resize(n_rounds);
    }

    BoostedFold take() {
        std::ranges::sort(sets_.validation);
        for (const RowId id : sets_.validation) {
            const double* scores = scores_.data() + static_cast<std::size_t>(id) * k_;
            out_.held_out_scores.insert(out_.held_out_scores.end(), scores, scores + k_);
        }
        out_.held_out = std::move(sets_.validation);
        return std::move(out_);
    }

   private:
    void add_tree(std::size_t round, const std::atomic<bool>& stop) {
        const std::uint64_t key = derive_key(seed_, round);
        TreeRows<typename Loss::Targets> sample{draw(key), objective_.tree_targets(),
                                                objective_.tree_weights(), sets_.count};
        const bool all = sample.ids.size() == sets_.training.size();
        ForestArrays tree = flatten<Loss>(grower_.grow(sample, derive_key(key, kGrow), stop),
                                          standardisation_, objective_.tree_loss());
        make_room_for_values(tree);
        if (all) {
            set_values(tree, sample.ids, grower_.leaves());
            add_values(tree, sample.ids, grower_.leaves());
        } else {  // leaves also take their values from rows that the tree was not grown on
            route(tree, sets_.training, stop);
            set_values(tree, sets_.training, leaves_);
            add_values(tree, sets_.training, leaves_);
            std::ranges::sort(sets_.training);
        }
        if (!sets_.validation.empty()) {
            route(tree, sets_.validation, stop);
            add_values(tree, sets_.validation, leaves_);
            std::ranges::sort(sets_.validation);
        }
        out_.trees.push_back(std::move(tree));
        out_.statistics.push_back(grower_.statistics());
    }

    // Groups rows by the leaves that they reach, into leaves_.
    void route(const ForestArrays& tree, std::span<RowId> ids, const std::atomic<bool>& stop) {
        leaves_.clear();
        router_.route(NewTree{tree}, 0, 0, ids, stop,
                      [&](const NodeRange& leaf) { leaves_.push_back(leaf); });
    }

    // Each set of this many rows has the same chance (Knuth, Algorithm S).
    std::vector<RowId> draw(std::uint64_t key) const {
        const std::size_t n = sets_.training.size();
        if (params_.subsample >= 1.0) return sets_.training;
        auto wanted = static_cast<std::size_t>(
            std::max(1.0, std::round(params_.subsample * static_cast<double>(n))));
        Random random(derive_key(key, kDraw));
        std::vector<RowId> ids;
        ids.reserve(wanted);
        for (std::size_t i = 0; i < n && wanted > 0; ++i) {
            if (random.below(static_cast<std::uint32_t>(n - i)) >= wanted) continue;
            ids.push_back(sets_.training[i]);
            --wanted;
        }
        return ids;
    }

    // Replaces what the loss of the tree has left in its leaves.
    void make_room_for_values(ForestArrays& tree) const {
        tree.distributions = false;
        tree.n_outputs = static_cast<std::int64_t>(k_);
        tree.value_output.clear();
        for (std::size_t node = 0; node < tree.left.size(); ++node) {
            if (tree.left[node] < 0)
                for (std::size_t t = 0; t < k_; ++t)
                    tree.value_output.push_back(static_cast<std::int32_t>(t));
            tree.value_begin[node + 1] = static_cast<std::int64_t>(tree.value_output.size());
        }
        tree.value.assign(tree.value_output.size(), 0.0f);
    }

    void set_values(ForestArrays& tree, std::span<const RowId> ids,
                    std::span<const NodeRange> leaves) {
        value_.resize(k_);
        for (const NodeRange& leaf : leaves) {
            objective_.leaf(ids.subspan(leaf.begin, leaf.end - leaf.begin), scores_, value_);
            float* stored = tree.value.data() + tree.value_begin[leaf.node];
            for (std::size_t t = 0; t < k_; ++t)
                stored[t] = static_cast<float>(params_.shrinkage * value_[t]);
        }
    }

    void add_values(const ForestArrays& tree, std::span<const RowId> ids,
                    std::span<const NodeRange> leaves, double times = 1.0) {
        for (const NodeRange& leaf : leaves) {
            const float* stored = tree.value.data() + tree.value_begin[leaf.node];
            for (const RowId id : ids.subspan(leaf.begin, leaf.end - leaf.begin)) {
                double* scores = scores_.data() + static_cast<std::size_t>(id) * k_;
                for (std::size_t t = 0; t < k_; ++t)
                    scores[t] += times * static_cast<double>(stored[t]);
            }
        }
    }

    std::uint64_t seed_;
    const Standardisation& standardisation_;
    RowSets sets_;
    Objective objective_;
    std::size_t k_;
    const BoostParams& params_;
    std::vector<double> scores_;  // rows x outputs
    TreeGrower<Rows, Loss> grower_;
    Router<Rows> router_;
    double validation_weight_ = 0.0;
    std::vector<BoostLoss> validation_;  // after each round
    std::size_t first_round_ = 0;
    BoostedFold out_;
    std::vector<double> value_;  // of a leaf
    std::vector<NodeRange> leaves_;
};

// After so many rounds it is seen whether to stop.
constexpr std::size_t kRoundsAtOnce = 10;

// More rows bear a tenth more rounds.
std::size_t rounds_of_all_rows(std::size_t kept, std::size_t most) {
    const auto more = static_cast<std::size_t>(std::lround(1.1 * static_cast<double>(kept)));
    return std::clamp<std::size_t>(more, 1, most);
}

// The loss of the rows that all folds hold out.
template <class Boosters>
BoostLoss mean_loss(const Boosters& folds, std::size_t round) {
    BoostLoss sum;
    double total = 0.0;
    for (const auto& fold : folds) {
        const double w = fold->validation_weight();
        sum.loss += w * fold->validation()[round].loss;
        sum.second += w * fold->validation()[round].second;
        total += w;
    }
    return {sum.loss / total, sum.second / total};
}

// Works on several boosters at once. Even one booster has a thread of its own, so that the calling
// one can handle signals.
class Runner {
   public:
    Runner(std::size_t n_threads, std::size_t n_boosters, const Watch& watch)
        : n_threads_(n_threads), rounds_done_(n_boosters) {
        if (!watch) return;
        watch_ = [this, &watch](std::size_t) {
            std::size_t done = 0;
            for (const auto& of_booster : rounds_done_) done += of_booster;
            watch(done);
        };
    }

    // Calls work(i, stop, rounds_done) for boosters from `begin` to `end`.
    template <class Work>
    void each(std::size_t begin, std::size_t end, Work&& work) {
        parallel_for(end - begin, n_threads_, watch_,
                     [&](std::size_t i, std::size_t, const std::atomic<bool>& stop) {
                         work(begin + i, stop, rounds_done_[begin + i]);
                     });
        if (watch_) watch_(0);
    }

   private:
    std::size_t n_threads_;
    std::vector<std::atomic<std::size_t>> rounds_done_;
    Watch watch_;
};

}  // namespace

template <TableKind Rows, class Targets>
Boosting boost(const Rows& raw_rows, const Targets& target, Weights weight,
               std::span<const std::uint8_t> held_out, std::size_t n_outputs,
               std::vector<float> mean, const BoostParams& params,
               const std::optional<BoostedBefore>& before, const Watch& watch) {
    const DistinctRows distinct = find_distinct(raw_rows, target, weight, watch);
    double unit = 1.0;
    const Standardisation standardisation =
        standardisation_of(raw_rows, ExplicitWeights(target.size(), weight).all, distinct.typical,
                           std::move(mean), params.scaling, watch, unit)
            .of(params.grow.features);
    const Rows rows = raw_rows.with_mean(standardisation.mean.data());
    const auto n_threads = static_cast<std::size_t>(std::max<std::int64_t>(1, params.n_threads));
    const auto binned =
        bins_for(std::span(&params.grow, 1), rows, weight, distinct.first, n_threads, watch);
    return with_objective(target, params, [&]<class Objective>(std::type_identity<Objective>) {
        Boosting out;
        if (before) {
            out.start.assign(before->start.begin(), before->start.end());
        } else {
            std::vector<RowId> all;
            for (std::size_t i = 0; i < target.size(); ++i)
                if (weight[i] > 0.0f) all.push_back(static_cast<RowId>(i));
            out.start = Objective(target, weight, params, n_outputs).start(all);
        }
        // The folds, and after them all rows.
        const auto n_folds = static_cast<std::size_t>(params.n_folds);
        const std::size_t n_boosters = n_folds + (params.refit ? 1 : 0);
        std::vector<std::optional<Booster<Rows, Objective>>> boosters(n_boosters);
        Runner runner(n_threads, n_boosters, watch);
        runner.each(0, n_boosters, [&](std::size_t i, const std::atomic<bool>& stop, auto&) {
            const auto none = std::span<const std::uint8_t>();
            RowSets sets = row_sets_of(i, target.size(), weight, i < n_folds ? held_out : none,
                                       distinct.first);
            if (sets.training.empty())
                throw std::invalid_argument("no row with a positive weight is left to train on");
            // A moved vector keeps its place, so the objective may go on to read the weights.
            Objective objective(target, Weights(sets.weight), params, n_outputs);
            const std::uint64_t seed = mix(params.seed);
            // The model, which comes last, has the trees that it would have without folds.
            boosters[i].emplace(i + 1 == n_boosters ? seed : derive_key(seed, ~i), rows,
                                standardisation, std::move(sets), std::move(objective), n_outputs,
                                params, binned ? &*binned : nullptr);
            boosters[i]->begin(rows, out.start, before, stop);
        });
        const std::span folds(boosters.data(), n_folds);
        const auto advance = [&](std::size_t begin, std::size_t end, std::size_t n_rounds) {
            runner.each(begin, end, [&](std::size_t i, const auto& stop, auto& rounds_done) {
                boosters[i]->advance(n_rounds, stop, rounds_done);
            });
        };
        EarlyStopping stopping(params);
        const bool stops_early = params.patience > 0 && !held_out.empty();
        if (stops_early && before) stopping.begin_after(folds.front()->validate());
        const auto most = static_cast<std::size_t>(params.n_rounds);
        std::size_t done = 0;  // rounds of the folds
        std::size_t refitted = 0;
        for (bool ends = false; !ends && done < most;) {
            const std::size_t more = std::min(kRoundsAtOnce, most - done);
            // With threads to spare all rows go along with the folds, and may have rounds to drop.
            advance(0, n_threads > 1 ? n_boosters : n_folds, more);
            if (n_threads > 1) refitted += more;
            for (std::size_t i = 0; i < more && !ends; ++i, ++done) {
                if (held_out.empty()) continue;
                out.validation.push_back(mean_loss(folds, done));
                ends = stops_early && stopping.ends(done + 1, out.validation.back());
            }
        }
        const std::size_t kept = stops_early ? stopping.kept() : done;
        std::size_t wanted = kept;
        if (params.refit) {
            wanted = rounds_of_all_rows(kept, most);
            while (refitted < wanted) {
                const std::size_t more = std::min(kRoundsAtOnce, wanted - refitted);
                advance(n_folds, n_boosters, more);
                refitted += more;
            }
        }
        out.validation.resize(std::min(kept, out.validation.size()));
        runner.each(0, n_boosters, [&](std::size_t i, const std::atomic<bool>& stop, auto&) {
            boosters[i]->keep(i < n_folds ? kept : wanted, stop);
        });
        for (auto& booster : boosters) out.folds.push_back(booster->take());
        return out;
    });
}

#define INSTANTIATE(Rows, Targets)                                                               \
    template Boosting boost(const Rows&, const Targets&, Weights, std::span<const std::uint8_t>, \
                            std::size_t, std::vector<float>, const BoostParams&,                 \
                            const std::optional<BoostedBefore>&, const Watch&);
CO2_TABLES_AND_TARGETS

}  // namespace co2
