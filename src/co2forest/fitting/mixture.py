# SPDX-License-Identifier: BSD-3-Clause
"""How ``mixture="auto"`` decides which kinds of trees a forest has, and how many of each.

No kind of tree is best for all data. Hyperplanes over all features follow smooth boundaries,
thresholds of single features leave irrelevant ones alone, differences of two features lie between.
Small leaves suit clean labels, larger ones noisy labels. So a trial grows a few trees of each kind,
each on three quarters of some rows. The rows left out say which kinds have the smallest squared
error together.

Greedy shares (Caruana et al. 2004) of these kinds were compared with those of fewer kinds on
validation parts of 29 tables, by ``benchmarks/tables/kinds.py``. The log loss rises by 21 % with
hyperplanes alone, by 8 % without pairs, by 2 % without single features or without hyperplanes, and
by 5 to 10 % with one size of leaves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.outputs.base import Floats
from co2forest.data.outputs.calibration import Calibration, extrapolated_calibration
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import shown
from co2forest.fitting.grow import grow_here, n_threads
from co2forest.fitting.plan import Draws, NativeParams, Plan, TreeKind
from co2forest.fitting.trees import TreeRange

SPLITS = ("co2", "axis", "pair")  # hyperplanes, single features, differences of two features
_LARGE_LEAF = 5  # rows; the other leaves have one
_MOST_CANDIDATES = 500  # features or pairs whose thresholds a node searches

_BINS = 32  # of a large node's values, between which thresholds lie

_FEWEST_ROWS = 60  # of a trial; with fewer, chance would decide
_MOST_ROWS = 6000
_TREES = 8  # of each kind
_DRAWN = 0.75  # fraction of the rows that a tree of a trial gets
_ROUNDS = 25
_SAMPLES = 20  # of the rows, for the shares
# The fraction of the rows that each tree of a mixture gets. Without, axis-aligned trees would not
# differ. The rows left out tell how sure votes may be. Where hyperplanes with pure leaves are best
# alone, trees get all rows: on Letter 80 % of them give 2.54 instead of 2.33 % errors.
_KEPT = 0.8
# The trial may take about this fraction of the time of the forest, but has at least some rows.
_BUDGET = 0.2
_ROWS_ANYWAY = 800
# A first, small trial drops the kinds of splits whose loss is so much larger than that of
# hyperplanes, which gain most from more rows.
_SCREEN_ROWS = 800
_SCREEN_TREES = 6
_HOPELESS = 1.5


@dataclass(frozen=True)
class Member:
    """A kind of tree that was tried: the loss of its rows left out, and its share of the trees."""

    split: str
    min_samples_leaf: float
    loss: float
    share: float


@dataclass(frozen=True)
class Mixture:
    """What a trial has found."""

    members: tuple[Member, ...]

    def stored(self) -> list[dict[str, Any]]:
        """What a model file keeps."""
        return [vars(member) for member in self.members]

    @classmethod
    def restore(cls, stored: Any) -> Self:
        """Read the mixture of a file, which is not trusted."""
        names = set(Member.__dataclass_fields__)
        if not isinstance(stored, list) or not all(
            isinstance(item, dict) and item.keys() == names for item in stored
        ):
            raise ModelFormatError(
                f"'mixture' must be a list of objects with {', '.join(sorted(names))}, "
                f"got {shown(stored)}"
            )
        return cls(tuple(Member(**item) for item in stored))

    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""
        members: Any = self.members
        if not isinstance(members, tuple) or not 1 <= len(members) <= 2 * len(SPLITS):
            raise ModelFormatError(f"'mixture' must have some kinds, got {shown(members)}")
        for member in members:
            if not isinstance(member, Member) or member.split not in SPLITS:
                raise ModelFormatError(f"'mixture' must name splits, got {shown(member)}")
            for name in ("min_samples_leaf", "loss", "share"):
                value: Any = getattr(member, name)
                if type(value) not in (int, float) or not -1e300 < value < 1e300:
                    raise ModelFormatError(f"{name!r} of 'mixture' must be a number, got {value!r}")
        shares = [member.share for member in members]
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
            raise ModelFormatError(f"the shares of 'mixture' must sum to one, got {shares}")


def choose_mixture(plan: Plan, data: TrainingSet) -> Plan:
    """A plan with the kinds of trees that serve best together."""
    (own,) = plan.kinds
    n_rows = min(data.n_rows, max(_ROWS_ANYWAY, _rows_of_trial(plan, data)), _MOST_ROWS)
    trial = _Trial.draw(plan, data, n_rows, _TREES if n_rows > _ROWS_ANYWAY else 2 * _TREES)
    if len(trial.data.targets) < _FEWEST_ROWS:
        return plan
    kinds = _kinds(plan, data.n_features, _screened(plan, data))
    errors = [trial.errors(kind) for kind in kinds]
    products = trial.products(errors)
    shares = _shares(products, trial.weights, plan.draws.seed)
    alone = np.eye(len(kinds))[0]
    wanted = _least_gain(data.n_rows / trial.data.n_rows)
    if _gain(products, trial.weights, shares, alone) < wanted:
        shares = alone
    losses = np.average(np.diagonal(products, axis1=1, axis2=2), axis=0, weights=trial.weights)
    members = tuple(
        Member(kind.name, kind.growth.min_samples_leaf, float(loss), float(share))
        for kind, loss, share in zip(kinds, losses, shares, strict=True)
    )
    plan = with_mixture(replace(plan, mixture=Mixture(members)), data.n_features)
    if plan.kinds == (own,):
        return replace(plan, calibration=trial.calibration(errors[0]))
    return plan


def with_mixture(plan: Plan, n_features: int) -> Plan:
    """A plan whose kinds and shares are those of its mixture."""
    if plan.mixture is None:
        return plan
    (own,) = plan.kinds
    used = [member for member in plan.mixture.members if member.share > 0]
    kinds = tuple(_kind(plan, n_features, each.split, each.min_samples_leaf) for each in used)
    draws = plan.draws
    if kinds != (own,) and draws.n_draws == draws.n_rows and not draws.bootstrap:
        draws = replace(draws, n_draws=max(1, round(_KEPT * draws.n_rows)))
    return replace(plan, kinds=kinds, shares=tuple(each.share for each in used), draws=draws)


def _gain(products: Floats, weights: Floats, shares: Floats, alone: Floats) -> float:
    """By which fraction a mixture has a smaller squared error than one kind alone."""
    mean = np.average(products, axis=0, weights=weights)
    return float(1 - (shares @ mean @ shares) / max(float(alone @ mean @ alone), 1e-12))


def _least_gain(ratio: float) -> float:
    """What a mixture must gain in a trial that has so many times fewer rows than the forest.

    Smooth kinds of trees are better on few rows than on many. A trial on all rows may be trusted.
    With these numbers the sets of the paper keep the forest that they have without a mixture.
    """
    return -0.02 + 0.035 * log2(max(1.0, ratio))


def _rows_of_trial(plan: Plan, data: TrainingSet) -> int:
    trees = 2 * len(SPLITS) * _TREES * _DRAWN
    return ceil(_BUDGET * data.n_rows * plan.n_trees / trees)


def _kinds(plan: Plan, n_features: int, splits: Iterable[str]) -> list[TreeKind]:
    """The kinds to try; leaves have the size that the user has asked for, if it is not one."""
    least = plan.kinds[0].growth.min_samples_leaf
    leaves = (1, _LARGE_LEAF) if least == 1 else (least,)
    return [_kind(plan, n_features, split, leaf) for split in splits for leaf in leaves]


def _kind(plan: Plan, n_features: int, split: str, leaf: float) -> TreeKind:
    (own,) = plan.kinds
    growth = replace(own.growth, min_samples_leaf=leaf)
    if split == "axis":
        # Half of the features for classes, all for numbers, as random forests have it.
        of_numbers = plan.solver is not None  # only regressors choose one
        wanted = n_features if of_numbers else ceil(n_features / 2)
        fields = {"max_features": min(wanted, _MOST_CANDIDATES), "threshold_bins": _BINS}
        return replace(
            own, name="axis", growth=growth, split=NativeParams("AxisParams", fields, False)
        )
    if split == "pair":
        fields = {"n_pairs": min(n_features, _MOST_CANDIDATES), "threshold_bins": _BINS}
        return replace(
            own, name="pair", growth=growth, split=NativeParams("TwoProbeParams", fields)
        )
    return replace(own, growth=growth)


def _screened(plan: Plan, data: TrainingSet) -> list[str]:
    """Kinds of splits that are not hopeless, by a trial on few rows."""
    screen = _Trial.draw(plan, data, min(data.n_rows, _SCREEN_ROWS), _SCREEN_TREES)
    splits = SPLITS if data.n_features > 1 else SPLITS[:2]
    least = plan.kinds[0].growth.min_samples_leaf
    kinds = [_kind(plan, data.n_features, split, least) for split in splits]
    products = screen.products([screen.errors(kind) for kind in kinds])
    losses = np.average(np.diagonal(products, axis1=1, axis2=2), axis=0, weights=screen.weights)
    limit = max(losses[0], _HOPELESS * losses[0])  # less the variance, it may be below zero
    return [split for split, loss in zip(splits, losses, strict=True) if loss <= limit]


@dataclass(frozen=True)
class _Trial:
    """Some of the rows, and how trees draw from them: tree ``i`` of every kind the same rows."""

    plan: Plan
    data: TrainingSet
    left_out: npt.NDArray[np.bool_]  # (trees, rows)
    n_wanted: int  # trees of the forest

    @classmethod
    def draw(cls, plan: Plan, data: TrainingSet, n_rows: int, n_trees: int) -> Self:
        """Draw rows; whole weights and repeated rows give the same ones, in any order."""
        chosen, weights = _native.sample_by_key(
            data.rows, data.targets, data.n_outputs, data.weights, plan.draws.seed, n_rows
        )
        draws = Draws(plan.draws.seed, len(chosen), max(1, round(_DRAWN * len(chosen))))
        left_out = np.array([draws.counts(tree) == 0 for tree in range(n_trees)])
        small = replace(plan, n_trees=n_trees, draws=draws, verbose=False)
        return cls(small, data.subset(chosen, weights), left_out, plan.n_trees)

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Rows that two trees left out, so that their votes tell how much they vary."""
        judged: npt.NDArray[np.bool_] = self.left_out.sum(axis=0) >= 2
        return judged

    def errors(self, kind: TreeKind) -> npt.NDArray[np.float32]:
        """Grow trees of a kind, and return their errors: (trees, judged rows, outputs).

        They are zero for the rows that a tree got.
        """
        plan = replace(self.plan, kinds=(kind,), shares=(1.0,))
        forest = grow_here(plan, self.data, TreeRange(0, plan.n_trees)).forest
        threads, judged = n_threads(plan.n_jobs), self.judged
        targets: Any = self.data.targets[judged]
        if targets.ndim == 1:
            targets = np.eye(self.data.n_outputs, dtype=np.float32)[targets]
        errors = np.empty((plan.n_trees, *targets.shape), dtype=np.float32)
        for tree, left_out in enumerate(self.left_out[:, judged]):
            errors[tree] = forest.tree(tree).predict(self.data.rows, threads)[judged] - targets
            errors[tree, ~left_out] = 0.0
        return errors

    def calibration(self, errors: npt.NDArray[np.float32]) -> Calibration | None:
        """A calibration for trees that will all have all rows, by what the trial's trees say."""
        if self.data.targets.ndim != 1:
            return None
        codes, weights = self.data.targets[self.judged], self.data.weights[self.judged]
        truth = np.eye(self.data.n_outputs, dtype=np.float32)[codes]
        left_out = self.left_out[:, self.judged]
        return extrapolated_calibration(errors, left_out, truth, codes, weights, self.n_wanted)

    def products(self, errors: Sequence[npt.NDArray[np.float32]]) -> Floats:
        """For each row, products of the errors of every two kinds, as if of many trees.

        The votes of few trees vary together with the rows that trees got. That adds their variance
        to the squared error, more for kinds whose trees differ more, which are those that gain most
        from being many. So it is taken off: what is left are the products of different trees.
        """
        sums = [each.sum(axis=0) for each in errors]
        count = self.left_out[:, self.judged].sum(axis=0)
        products = np.empty((len(count), len(errors), len(errors)))
        for i in range(len(errors)):
            for j in range(i + 1):
                same_tree = np.einsum("tno,tno->n", errors[i], errors[j])
                different = (sums[i] * sums[j]).sum(axis=1) - same_tree
                products[:, i, j] = products[:, j, i] = different / (count * (count - 1))
        return products

    @property
    def weights(self) -> Floats:
        """Weights of the rows that are judged."""
        weights: Floats = self.data.weights[self.judged].astype(np.float64)
        return weights


def _shares(products: Floats, weights: Floats, seed: int) -> Floats:
    """The shares of the kinds whose mean has the smallest squared error.

    Averaged over samples of the rows, so that a kind that is better by chance does not take all.
    """
    random = np.random.default_rng([seed, 2])
    total = np.zeros(products.shape[1])
    for _ in range(_SAMPLES):
        drawn = random.exponential(size=len(weights)) * weights
        total += _greedy(np.tensordot(drawn, products, axes=1))
    return np.asarray(total / total.sum())


def _greedy(products: Floats) -> Floats:
    """How often each kind is taken; the products of errors are summed over rows."""
    counts = np.zeros(len(products))
    for _ in range(_ROUNDS):
        # The squared error of the mean after one more of each kind, up to what all have in common.
        counts[int(np.argmin(2 * products @ counts + np.diag(products)))] += 1
    return counts
