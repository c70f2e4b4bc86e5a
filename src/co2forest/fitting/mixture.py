# SPDX-License-Identifier: BSD-3-Clause
"""How ``mixture="auto"`` decides which kinds of trees a forest has, and how many of each.

No kind of tree is best for all data. Hyperplanes over all features follow smooth boundaries,
thresholds of single features leave irrelevant ones alone, differences of two features lie between.
Small leaves suit clean labels, larger ones noisy labels. So a trial grows a few trees of each kind,
each on two thirds of some rows, and the rows left out say which kinds have the smallest squared
error together (`co2forest.fitting.comparison`).

``benchmarks/tables/choices.py`` is the sweep behind kinds and constants, on validation parts of 29
tables. ``benchmarks/mixtures.py`` shows what a trial costs where hyperplanes are best.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.outputs.calibration import Calibration, LeftOut, fit_calibration
from co2forest.data.training_set import TrainingData, TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import shown
from co2forest.fitting.comparison import Comparison
from co2forest.fitting.grow import grow_here, n_threads
from co2forest.fitting.plan import Draws, NativeParams, Plan, TreeKind
from co2forest.fitting.trees import TreeRange
from co2forest.fitting.trial import split_sample

SPLITS = ("co2", "axis", "pair", "narrow", "random")  # models/mixture.py has them in words
_LEAVES = (1, 10)  # rows; where the user has set min_samples_leaf, only that
_MOST_KINDS = len(_LEAVES) * len(SPLITS)
_MOST_MEMBERS = 1000  # of a file, which another version may have written
_MOST_CANDIDATES = 500  # features or pairs whose thresholds a node searches

_BINS = 32  # of a large node's values, between which thresholds lie

_FEWEST_ROWS = 60  # of a trial; with fewer, chance would decide
_MOST_ROWS = 4000  # that a tree of a trial gets
_LARGEST_PART = 0.5  # of a trial's rows, for each tree
# Rows that a tree leaves out cost little and tell much.
_JUDGED = 4  # rows of a trial for each row of a tree, if there are as many
_MOST_VALUES = 10_000_000  # rows x outputs x kinds of a trial, which take some 24 bytes each
_TREES = 8  # of each kind
# The fraction of the rows that each tree of a mixture gets. The rows left out tell how sure votes
# may be. With 0.8 tables have 1.5 % more errors. Where hyperplanes with pure leaves are best alone,
# trees get all rows: on Letter 80 % of them give 2.54 instead of 2.33 % errors.
_KEPT = 0.9
# A trial for few trees may take about this many times their own time. With a hundred trees it ends
# at _MOST_ROWS, and takes half of the forest's time. If the budget does not pay for _ROWS_ANYWAY,
# there is no trial, unless a smaller one, the screen, promises enough. A sixth of this budget costs
# 0.9 % of RMSE: trees on few rows want smaller leaves than those on many.
_BUDGET = 2.0
_ROWS_ANYWAY = 500
_FEW_ROWS = 2000  # a trial on some of these takes a fraction of a second, and is always worth it
# What a tree of single features or pairs takes, in hyperplanes on as many rows: for classes about
# 3, with a hundred features 4, with 800 features 9. Hyperplanes for numbers take longer.
_COST_OF_CLASSES = 3.0
_COST_OF_NUMBERS = 1.5
# Kinds of about equal error are not of equal cost: a tree of pairs takes twice the time of one of
# single features. So much of the error is a unit of cost worth.
_COSTS = {"co2": 1.2, "axis": 1.0, "pair": 2.0, "narrow": 1.3, "random": 0.6}
_THRIFT = 0.01
# The screen drops kinds of splits whose loss is so much larger than that of hyperplanes, which gain
# most from more rows.
_SCREEN_ROWS = (250, 500)  # of each tree
_SCREEN_TREES = 4
_SCREEN_CANDIDATES = 50
_HOPELESS = 1.2
# What counts as progress with twice the rows at most, and how much of it a mixture must gain for
# each time that the forest has twice the rows of a trial's trees.
_MOST_PROGRESS = 0.35
_DOUBT = 0.2
_BETTER_ORDER = 0.03  # what a mixture of classifiers is worth beyond the squared error
_ALONE = 0.65  # a share of hyperplanes with the smallest leaves that is as good as all
_CHANCE = 0.3  # standard error of a gain that nothing can be known of
# A trial of hyperplanes alone, to calibrate them, may take this fraction of the forest's time.
_CALIBRATION_BUDGET = 0.05
_CALIBRATION_TREES = 16


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
        if not isinstance(members, tuple) or not 1 <= len(members) <= _MOST_MEMBERS:
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
    # On Dask the data are a sample of the rows of the forest.
    forest_rows = max(data.n_rows, plan.draws.n_draws)
    affordable = _rows_of_trial(plan, data, forest_rows)
    screen = _screen(plan, data, affordable, forest_rows)
    if screen is None:
        return plan
    found = screen
    pays = affordable >= _ROWS_ANYWAY or data.n_rows <= _FEW_ROWS
    if screen.may_gain and (pays or screen.promises_gain):
        trial = _Trial.draw(plan, data, min(max(_ROWS_ANYWAY, affordable), _MOST_ROWS))
        kinds = _kinds(plan, data, screen.not_hopeless)
        found = trial.compare(kinds, _TREES, forest_rows)
    mixed = with_mixture(replace(plan, mixture=found.mixture), data)
    if mixed.draws != plan.draws or data.targets.ndim == 2:
        return mixed
    return replace(mixed, calibration=_calibration(plan, data))


def _calibration(plan: Plan, data: TrainingSet) -> Calibration | None:
    """A calibration for trees that will all have all rows, and so are more alike than others.

    Here they all have one half of some rows, and the other half says how sure their votes may be.
    """
    affordable = ceil(_CALIBRATION_BUDGET * data.n_rows * plan.n_trees / _CALIBRATION_TREES)
    n_rows = min(max(affordable, _SCREEN_ROWS[0]), _MOST_ROWS)
    train, test = split_sample(data, plan.draws.seed, 2 * n_rows, fraction=0.5)
    small = plan.for_trial(train, _CALIBRATION_TREES)
    forest = grow_here(small, train, TreeRange(0, small.n_trees)).forest
    half = _native.Forest.concatenate([forest.tree(i) for i in range(small.n_trees // 2)])
    threads = n_threads(plan.n_jobs)
    few, many = (
        LeftOut(each.predict(test.rows, threads), np.full(test.n_rows, each.n_trees))
        for each in (half, forest)
    )
    return fit_calibration(few, many, test.targets, test.weights, plan.n_trees)


def with_mixture(plan: Plan, data: TrainingData) -> Plan:
    """A plan whose kinds and shares are those of its mixture."""
    if plan.mixture is None:
        return plan
    (own,) = plan.kinds
    used = [member for member in plan.mixture.members if member.share > 0]
    kinds = tuple(_kind(plan, data, each.split, each.min_samples_leaf) for each in used)
    draws = plan.draws
    if kinds != (own,) and draws.n_draws == draws.n_rows and not draws.bootstrap:
        draws = replace(draws, n_draws=max(1, round(_KEPT * draws.n_rows)))
    return replace(plan, kinds=kinds, shares=tuple(each.share for each in used), draws=draws)


def _least_gain(plan: Plan, ratio: float, error: float, progress: float) -> float:
    """What a mixture must gain in a trial whose trees get so many times fewer rows.

    ``progress`` is by which fraction twice the rows lower the loss of hyperplanes: a third on the
    sets of the paper, a hundredth on tables with noisy labels. Trees of a mixture get fewer rows,
    and smooth kinds of trees are better on few rows than on many. On pol a gain of 6 % in a trial
    was a loss of 19 %, where progress was 24 %. The rule was fitted to validation parts of 29
    tables and 16 sets of clean numbers.
    """
    if error > _CHANCE:
        return -np.inf  # several kinds are safer than one
    lost = 0.0 if plan.draws.leaves_rows_out else log2(1 / _KEPT)
    least = progress * (lost + _DOUBT * log2(max(1.0, ratio)))
    of_numbers = plan.solver is not None  # only regressors choose one
    return least - error if of_numbers else least - _BETTER_ORDER - 2 * error


def _rows_of_trial(plan: Plan, data: TrainingSet, forest_rows: int) -> int:
    """How many rows a trial may have to keep within its budget."""
    others = len(_splits(data)) - 1
    if plan.solver is None:
        cost = 1 + others * _COST_OF_CLASSES * sqrt(1 + data.n_features / 100)
    else:  # only regressors choose one
        cost = 1 + others * _COST_OF_NUMBERS
    return ceil(_BUDGET * forest_rows * plan.n_trees / (len(_LEAVES) * cost * _TREES))


def _splits(data: TrainingSet) -> list[str]:
    """How nodes may be split; a pair needs two features, and so does anything between."""
    return list(SPLITS) if data.n_features > 1 else ["co2", "axis", "random"]


def _kinds(
    plan: Plan, data: TrainingSet, splits: Iterable[str], most: int = _MOST_CANDIDATES
) -> list[TreeKind]:
    """The kinds to try; leaves have the size that the user has asked for, if it is not one."""
    least = plan.kinds[0].growth.min_samples_leaf
    leaves = _LEAVES if least == 1 else (least,)
    return [_kind(plan, data, split, leaf, most) for split in splits for leaf in leaves]


def _kind(
    plan: Plan, data: TrainingData, split: str, leaf: float, most: int = _MOST_CANDIDATES
) -> TreeKind:
    """A kind of tree; nodes choose among at most so many features or pairs."""
    (own,) = plan.kinds
    own = replace(own, name=split, growth=replace(own.growth, min_samples_leaf=leaf))
    if split == "co2":
        return own
    own = replace(own, by_means=True)
    n_features = data.n_features
    if isinstance(data, TrainingSet):
        n_features = len(data.summary) or n_features
    # Half of the features for classes, all for numbers, as random forests have it.
    of_numbers = plan.solver is not None  # only regressors choose one
    fields: dict[str, Any] = {"threshold_bins": _BINS}
    if split == "pair":
        fields["n_pairs"] = min(n_features, most)
        return replace(own, split=NativeParams("TwoProbeParams", fields))
    fields["max_features"] = min(n_features if of_numbers else ceil(n_features / 2), most)
    if split in ("axis", "random"):
        fields["random_thresholds"] = split == "random"
        return replace(own, split=NativeParams("AxisParams", fields, False))
    # Few columns each, or as many as the root of all: half of them hurt where rows are few.
    fields["widths"] = [2.0, 3.0, max(2.0, float(round(n_features**0.5)))]
    return replace(own, split=NativeParams("NarrowParams", fields))


def _screen(plan: Plan, data: TrainingSet, affordable: int, forest_rows: int) -> "_Found | None":
    """A trial on few rows, with few features or pairs to choose from; None if rows are too few."""
    few, many = _SCREEN_ROWS
    trial = _Trial.draw(plan, data, max(few, min(affordable // 2, many)))
    if trial.data.n_rows < _FEWEST_ROWS:
        return None
    kinds = _kinds(plan, data, _splits(data), _SCREEN_CANDIDATES)
    screened = [each for each in kinds if _is_screened(each, plan)]
    return trial.compare(screened, _SCREEN_TREES, forest_rows)


def _is_screened(kind: TreeKind, plan: Plan) -> bool:
    """Large leaves are for hyperplanes only: if they help there, they help everywhere."""
    return kind.name == "co2" or kind.growth == plan.kinds[0].growth


@dataclass(frozen=True)
class _Found:
    """What a trial says."""

    mixture: Mixture
    promises_gain: bool  # so much that a mixture is worth it
    may_gain: bool  # that much, within what chance may do

    @property
    def not_hopeless(self) -> list[str]:
        """Splits that may be worth a larger trial."""
        losses: dict[str, float] = {}
        for member in self.mixture.members:
            losses.setdefault(member.split, member.loss)
        own = losses["co2"]
        limit = max(own, _HOPELESS * own)  # less the variance, it may be below zero
        return [split for split, loss in losses.items() if loss <= limit]


@dataclass(frozen=True)
class _Trial:
    """Some of the rows, to compare kinds of trees on."""

    plan: Plan
    data: TrainingSet
    n_drawn: int  # rows of a tree

    @classmethod
    def draw(cls, plan: Plan, data: TrainingSet, n_drawn: int) -> Self:
        """Draw rows; whole weights and repeated rows give the same ones, in any order."""
        most = max(_FEWEST_ROWS, _MOST_VALUES // (_MOST_KINDS * data.n_outputs))
        n_rows = min(data.n_rows, _JUDGED * n_drawn, most)
        chosen, weights = _native.sample_by_key(
            data.rows, data.targets, data.n_outputs, data.weights, plan.draws.seed, n_rows
        )
        n_drawn = max(1, min(n_drawn, round(_LARGEST_PART * len(chosen))))
        return cls(plan, data.subset(chosen, weights), n_drawn)

    def compare(self, kinds: list[TreeKind], n_trees: int, forest_rows: int) -> _Found:
        """Compare kinds for a forest of so many rows; the first is that of the plan."""
        plan = self.plan
        compared = _Grown.of(self, kinds, n_trees, self.n_drawn).compared()
        costs = np.array([_COSTS[kind.name] for kind in kinds])
        shares, gain, error = compared.choose(plan.draws.seed, _THRIFT * costs)
        losses = compared.losses
        few = _Grown.of(self, kinds[:1], n_trees, self.n_drawn // 2).compared().losses[0]
        progress = 1 - float(losses[0] / few) if few > 0 else 0.0
        progress = min(max(progress, 0.0), _MOST_PROGRESS)
        least = _least_gain(plan, forest_rows / self.n_drawn, error, progress)
        promises = gain >= least and shares[0] < _ALONE
        if not promises:
            shares = np.eye(len(kinds))[0]
        members = tuple(
            Member(kind.name, kind.growth.min_samples_leaf, float(loss), float(share))
            for kind, loss, share in zip(kinds, losses, shares, strict=True)
        )
        may_gain = gain + 2 * error >= least
        return _Found(Mixture(members), promises, may_gain)


@dataclass(frozen=True)
class _Grown:
    """Trees of a trial. Tree ``i`` of every kind got the same rows."""

    trial: _Trial
    forests: list[_native.Forest]  # of each kind
    left_out: npt.NDArray[np.bool_]  # (trees, rows)

    @classmethod
    def of(cls, trial: _Trial, kinds: list[TreeKind], n_trees: int, n_drawn: int) -> Self:
        """Grow so many trees of each kind, each on so many of the rows."""
        n_rows, seed = trial.data.n_rows, trial.plan.draws.seed
        draws = Draws(seed, n_rows, max(1, n_drawn))
        left_out = np.array([draws.counts(tree) == 0 for tree in range(n_trees)])
        plan = replace(trial.plan, n_trees=n_trees, draws=draws, shares=(1.0,), verbose=False)
        plans = [replace(plan, kinds=(kind,)) for kind in kinds]
        trees = TreeRange(0, n_trees)
        return cls(trial, [grow_here(each, trial.data, trees).forest for each in plans], left_out)

    def errors(self, tree: int) -> npt.NDArray[np.float32]:
        """Errors of a tree of each kind, for all rows: (kinds, rows, outputs)."""
        data, threads = self.trial.data, n_threads(self.trial.plan.n_jobs)
        outputs = np.stack([each.tree(tree).predict(data.rows, threads) for each in self.forests])
        return (outputs - self._truth).astype(np.float32)

    @property
    def _truth(self) -> npt.NDArray[np.float32]:
        targets: npt.NDArray[Any] = self.trial.data.targets
        if targets.ndim == 2:
            return targets
        truth: npt.NDArray[np.float32]
        truth = np.eye(self.trial.data.n_outputs, dtype=np.float32)[targets]
        return truth

    def compared(self) -> Comparison:
        """Compare the kinds."""
        errors = (self.errors(tree) for tree in range(len(self.left_out)))
        weights = self.trial.data.weights.astype(np.float64)
        return Comparison.of_errors(errors, self.left_out, weights)
