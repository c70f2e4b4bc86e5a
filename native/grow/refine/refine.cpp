// SPDX-License-Identifier: BSD-3-Clause
// Refines a grown tree by alternating optimisation over its nodes (TAO):
//   M. A. Carreira-Perpinan, P. Tavallali: Alternating Optimization of Decision Trees, with
//   Application to Learning Sparse Oblique Trees, 2018.
//
// A pass goes from the leaves up. With all other nodes fixed, the loss of the tree depends on a
// node only through the side that each of its rows takes: every row for which the two subtrees
// differ votes for the better one, and a linear split is fitted to the votes. It replaces the old
// one if the loss of the tree does not rise. Ties are accepted: a tree that was grown to the end
// has no loss to lose, but planes fitted to all votes keep more distance from the rows, and
// branches that no row needs any more die.
#include "grow/refine/refine.hpp"

#include "grow/refine/leaf_loss.hpp"
#include "grow/refine/vote_split.hpp"
#include "loss/instantiations.hpp"

namespace co2 {
namespace {

template <RowKind Rows, LossKind Loss>
class TreeRefiner {
   public:
    using Targets = typename Loss::Targets;

    TreeRefiner(const Rows& rows, const Standardisation& standardisation, Loss loss,
                const Targets& target, const GrowParams& grow, const RefineParams& params)
        : params_(params), min_samples_(grow.min_samples_leaf),
          min_weight_fraction_(grow.min_weight_fraction_leaf), loss_(std::move(loss)),
          leaf_loss_(loss_, target), split_(rows, standardisation, params), reached_(target.size()),
          other_(target.size()), router_(rows) {}

    void refine(Tree<Loss>& tree, TreeRows<Targets>& rows, std::uint64_t key,
                const std::atomic<bool>& stop) {
        tree_ = &tree;
        data_ = &rows;
        stop_ = &stop;
        state_.assign(tree.size(), {});
        settle();
        min_weight_ = min_weight_fraction_ * tree[0].summary.weight;
        for (std::int64_t pass = 0; pass < params_.passes && improve_all(key); ++pass) settle();
    }

   private:
    using Node = TreeNode<Loss>;
    using Leaf = typename LeafLoss<Loss>::Leaf;

    static constexpr std::uint64_t kAsGrown = 0, kUnknown = 1;  // in place of a key of rows

    // What is known of a node in addition to the tree.
    struct State {
        std::size_t begin = 0, middle = 0, end = 0;  // of its rows, as in TreeGrower
        bool reached = false;                        // it can be reached from the root
        bool changed = true;  // its rows or its subtree, since its votes were looked at
        bool grown = true;    // its plane is as it was grown
        std::uint64_t rows_key = kAsGrown;  // of the set of rows that its summary describes
        std::uint64_t votes_key = 0;        // of the votes when it was fitted last
        double loss = 0.0;                  // of its rows, at the leaves below
        Leaf leaf;                          // if it is one
        typename LeafLoss<Loss>::LeavesBelow below;  // of its subtree
        std::int64_t samples = 0;                    // if it is a leaf: what is there now
        double weight = 0.0;
    };

    Node& node(std::size_t i) { return (*tree_)[i]; }
    std::size_t left_of(std::size_t i) { return static_cast<std::size_t>(node(i).left); }
    std::span<RowId> rows_of(const State& s) {
        return {data_->ids.data() + s.begin, s.end - s.begin};
    }
    double weight_of(std::size_t row) const { return static_cast<double>(data_->weight[row]); }

    // Sends all rows through the tree, estimates the leaves from them, and removes what is of no
    // use.
    void settle() {
        for (State& s : state_) s.reached = false;
        place(0, 0, data_->ids.size());
        for (std::size_t i = 0; i < tree_->size(); ++i) {
            if (!state_[i].reached) continue;
            throw_if(*stop_);
            describe(i);
            while (!node(i).is_leaf() && !split(i)) {
            }
            if (node(i).is_leaf()) continue;
            place(left_of(i), state_[i].begin, state_[i].middle);
            place(left_of(i) + 1, state_[i].middle, state_[i].end);
        }
        for (std::size_t i = tree_->size(); i-- > 0;)
            if (state_[i].reached) prune(i);
    }

    void place(std::size_t i, std::size_t begin, std::size_t end) {
        State& s = state_[i];
        s.begin = begin;
        s.end = end;
        s.reached = true;
    }

    // Summarises the rows of a node, unless its summary is that of these rows already.
    void describe(std::size_t i) {
        Node& n = node(i);
        State& s = state_[i];
        std::uint64_t key = 0;
        for (const RowId id : rows_of(s)) key += mix(static_cast<std::uint64_t>(id) + 1);
        s.changed = key != s.rows_key;
        if (s.changed && s.rows_key != kAsGrown) {
            n.samples = 0;
            for (const RowId id : rows_of(s)) {
                const auto row = static_cast<std::size_t>(id);
                loss_.add(row, data_->weight[row]);
                n.samples += data_->count_of(row);
            }
            n.summary = loss_.take();
        }
        s.rows_key = key;
    }

    // Splits the rows of an inner node. False if all went to one side: that child took its place.
    bool split(std::size_t i) {
        const std::span<RowId> ids = rows_of(state_[i]);
        find_sides(ids, node(i).hyperplane);
        const std::size_t left = partition_(ids, sides_);
        state_[i].middle = state_[i].begin + left;
        if (left > 0 && left < ids.size()) return true;
        replace_by_child(i, left == 0);
        return false;
    }

    // The sides of rows, by their place in `ids`, into sides_.
    void find_sides(std::span<const RowId> ids, const Hyperplane& plane) {
        sides_.resize(ids.size());
        router_.sides(ids, plane, *stop_, [&](std::size_t t, bool right) { sides_[t] = right; });
    }

    // Takes over a child's plane and subtrees. What is known of the node's own rows stays.
    void replace_by_child(std::size_t i, bool right) {
        const std::size_t child = left_of(i) + right;
        node(i).left = node(child).left;
        node(i).hyperplane = std::move(node(child).hyperplane);
        state_[i].grown = state_[child].grown;
        state_[i].votes_key = state_[child].votes_key;
        state_[i].changed = true;
    }

    // Makes a leaf of a node whose subtree is no better. All nodes below are done.
    void prune(std::size_t i) {
        State& s = state_[i];
        s.loss = LeafLoss<Loss>::total(node(i).summary);
        if (!node(i).is_leaf()) {
            const State &left = state_[left_of(i)], &right = state_[left_of(i) + 1];
            if (s.loss > (left.loss + right.loss) * (1.0 + kRounding)) {
                s.loss = left.loss + right.loss;
                s.changed = s.changed || left.changed || right.changed;
                return;
            }
            node(i).left = -1;
            node(i).hyperplane = {};
            s.changed = true;
        }
        s.leaf = leaf_loss_.leaf_of(node(i).summary);
        s.below = LeafLoss<Loss>::leaves_below(s.leaf);
        s.samples = node(i).samples;
        s.weight = node(i).summary.weight;
        for (const RowId id : rows_of(s))
            reached_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
    }

    // One pass, from the leaves up; false if nothing changed.
    bool improve_all(std::uint64_t key) {
        bool any = false;
        for (std::size_t i = tree_->size(); i-- > 0;) {
            State& s = state_[i];
            if (!s.reached || node(i).is_leaf()) continue;
            const std::size_t left = left_of(i);
            s.changed = s.changed || state_[left].changed || state_[left + 1].changed;
            const bool better = s.changed && improve(i, derive_key(key, i));
            s.changed = s.changed || better;
            any = any || better;
            if (!node(i).is_leaf())
                s.below =
                    LeafLoss<Loss>::join(state_[left_of(i)].below, state_[left_of(i) + 1].below);
        }
        return any;
    }

    // True if the node has changed.
    bool improve(std::size_t i, std::uint64_t key) {
        throw_if(*stop_);
        State& s = state_[i];
        const std::span<const RowId> ids = rows_of(s);
        middle_ = s.middle - s.begin;
        look_across(i, ids);
        collect_votes(i, ids);
        if (!votes_for_[0] || !votes_for_[1]) {
            const bool right =
                votes_for_[0] == votes_for_[1] ? 2 * middle_ < ids.size() : votes_for_[1];
            return give_to_child(i, right, ids);
        }
        if (votes_key_ == s.votes_key) return false;
        s.votes_key = votes_key_;
        auto plane = split_.find(votes_, node(i).hyperplane, s.grown, key, *stop_);
        for (int halves = 0; plane && !is_no_worse(ids, *plane); ++halves) {
            if (halves == kMostHalves) return false;
            plane = split_.half_way();
        }
        if (!plane) return false;
        if (!move_rows(i, ids, [&](std::size_t t) { return sides_[t]; })) return false;
        node(i).hyperplane = std::move(*plane);
        s.grown = false;
        return true;
    }

    // The leaf that each row would reach if it took the other side, into other_; -1 if the leaf is
    // not known, but the loss is.
    void look_across(std::size_t i, std::span<const RowId> ids) {
        for (const bool right : {false, true}) {
            const std::size_t across = left_of(i) + !right;
            const auto& below = state_[across].below;
            visitors_.clear();
            for (const RowId id : right ? ids.subspan(middle_) : ids.first(middle_)) {
                const auto row = static_cast<std::size_t>(id);
                if (leaf_loss_.certain(below, row))
                    other_[row] = -1;
                else
                    visitors_.push_back(id);
            }
            visit(across);
        }
    }

    // The leaves that the visitors reach below a node, into other_.
    void visit(std::size_t top) {
        router_.route(GrownTree{*tree_}, top, 0, visitors_, *stop_, [&](const NodeRange& leaf) {
            for (std::size_t t = leaf.begin; t < leaf.end; ++t)
                other_[static_cast<std::size_t>(visitors_[t])] =
                    static_cast<std::int32_t>(leaf.node);
        });
    }

    void collect_votes(std::size_t i, std::span<const RowId> ids) {
        votes_.clear();
        votes_key_ = 1;
        votes_for_[0] = votes_for_[1] = false;
        loss_before_ = 0.0;
        gain_right_.resize(ids.size());
        for (std::size_t t = 0; t < ids.size(); ++t) {
            const auto row = static_cast<std::size_t>(ids[t]);
            const bool is_right = t >= middle_;
            const double w = weight_of(row), here = loss_at(reached_[row], row),
                         there = other_[row] >= 0 ? loss_at(other_[row], row)
                                                  : *leaf_loss_.certain(
                                                        state_[left_of(i) + !is_right].below, row);
            const double gain = is_right ? there - here : here - there;
            gain_right_[t] = w * gain;
            if (is_right) loss_before_ -= gain_right_[t];
            if (std::abs(gain) <= kRounding * (here + there)) continue;
            const bool right = gain > 0.0;
            votes_for_[right] = true;
            votes_key_ += mix(2 * row + right + 1);
            votes_.add(ids[t], right ? 1.0f : -1.0f, static_cast<float>(w * std::abs(gain)));
        }
    }

    double loss_at(std::int32_t leaf, std::size_t row) {
        const auto i = static_cast<std::size_t>(leaf);
        return leaf_loss_.at(state_[i].leaf, node(i).summary, row);
    }

    // Whether the loss does not rise if a plane splits the node's rows.
    bool is_no_worse(std::span<const RowId> ids, const Hyperplane& plane) {
        find_sides(ids, plane);
        double loss = 0.0;
        for (std::size_t t = 0; t < ids.size(); ++t)
            if (sides_[t]) loss -= gain_right_[t];
        return loss <= loss_before_ + kRounding * std::abs(loss_before_);
    }

    // All rows go to one child, which takes the node's place.
    bool give_to_child(std::size_t i, bool right, std::span<const RowId> ids) {
        if (!move_rows(i, ids, [&](std::size_t) { return right; })) return false;
        const std::size_t child = left_of(i) + right;
        replace_by_child(i, right);
        if (!node(i).is_leaf()) return true;
        node(i).summary = node(child).summary;
        state_[i].rows_key = kUnknown;
        state_[i].leaf = state_[child].leaf;
        state_[i].below = state_[child].below;
        state_[i].samples = state_[child].samples;
        state_[i].weight = state_[child].weight;
        for (const RowId id : ids) {
            auto& leaf = reached_[static_cast<std::size_t>(id)];
            if (leaf == static_cast<std::int32_t>(child)) leaf = static_cast<std::int32_t>(i);
        }
        return true;
    }

    // Lets the rows of a node take sides. False, and nothing changes, if a leaf became too small.
    template <class GoesRight>
    bool move_rows(std::size_t i, std::span<const RowId> ids, GoesRight&& goes_right) {
        moved_.clear();
        for (std::size_t t = 0; t < ids.size(); ++t)
            if (goes_right(t) != (t >= middle_)) moved_.push_back({ids[t], t >= middle_});
        for (const bool right : {false, true}) {
            visitors_.clear();
            for (const auto& [id, was_right] : moved_)
                if (was_right == right && other_[static_cast<std::size_t>(id)] < 0)
                    visitors_.push_back(id);
            visit(left_of(i) + !right);
        }
        for (const auto& [id, _] : moved_) swap_leaf(static_cast<std::size_t>(id));
        const bool large_enough = std::ranges::all_of(moved_, [&](const auto& m) {
            const auto row = static_cast<std::size_t>(m.first);
            return is_large_enough(reached_[row]) && is_large_enough(other_[row]);
        });
        if (large_enough) return true;
        for (const auto& [id, _] : moved_) swap_leaf(static_cast<std::size_t>(id));
        return false;
    }

    void swap_leaf(std::size_t row) {
        State &from = state_[static_cast<std::size_t>(reached_[row])],
              &to = state_[static_cast<std::size_t>(other_[row])];
        from.samples -= data_->count_of(row);
        from.weight -= weight_of(row);
        to.samples += data_->count_of(row);
        to.weight += weight_of(row);
        std::swap(reached_[row], other_[row]);
    }

    // An empty leaf is no leaf any more.
    bool is_large_enough(std::int32_t leaf) const {
        const State& s = state_[static_cast<std::size_t>(leaf)];
        return s.samples == 0 ||
               (s.samples >= min_samples_ && s.weight >= min_weight_ * (1.0 - kRounding));
    }

    static constexpr double kRounding = 1e-9;  // losses that differ by less are equal
    static constexpr int kMostHalves = 3;

    // The tree for a Router.
    struct GrownTree {
        const Tree<Loss>& nodes;

        std::int64_t left(std::size_t i) const { return nodes[i].left; }
        HyperplaneView plane(std::size_t i) const { return nodes[i].hyperplane; }
    };

    RefineParams params_;
    std::int64_t min_samples_;
    double min_weight_fraction_, min_weight_ = 0.0;
    Loss loss_;
    LeafLoss<Loss> leaf_loss_;
    VoteSplit<Rows> split_;

    Tree<Loss>* tree_ = nullptr;
    TreeRows<Targets>* data_ = nullptr;
    const std::atomic<bool>* stop_ = nullptr;
    std::vector<State> state_;           // of each node
    std::vector<std::int32_t> reached_;  // of all training rows: the leaf
    std::vector<std::int32_t> other_;    // see look_across

    // State of the node at hand.
    std::size_t middle_ = 0;  // rows from there on are right
    Votes votes_;
    std::uint64_t votes_key_ = 0;
    bool votes_for_[2] = {false, false};  // whether there are any for the left, the right side
    std::vector<double> gain_right_;      // of each row: what the loss falls if it goes right
    double loss_before_ = 0.0;            // less what it is if all rows go left

    // Work space.
    Router<Rows> router_;
    std::vector<bool> sides_;  // see find_sides
    StablePartition partition_;
    std::vector<RowId> visitors_;
    std::vector<std::pair<RowId, bool>> moved_;  // rows that change sides, and whether from right
};

}  // namespace

template <RowKind Rows, LossKind Loss>
void refine_tree(Tree<Loss>& tree, TreeRows<typename Loss::Targets>& sample, const Rows& rows,
                 const Standardisation& standardisation, const Loss& loss, const GrowParams& grow,
                 const RefineParams& params, std::uint64_t key, const std::atomic<bool>& stop) {
    TreeRefiner<Rows, Loss>(rows, standardisation, loss, sample.target, grow, params)
        .refine(tree, sample, key, stop);
}

#define INSTANTIATE(Rows, Loss)                                                       \
    template void refine_tree(Tree<Loss>&, TreeRows<Loss::Targets>&, const Rows&,     \
                              const Standardisation&, const Loss&, const GrowParams&, \
                              const RefineParams&, std::uint64_t, const std::atomic<bool>&);
CO2_ROWS_AND_LOSSES

}  // namespace co2
