# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of boosting: what is decided, which rows are held out, and the trees of all rounds.

Trees are grown in one of two ways. "narrow" trees are grown on Newton's steps of the loss; a node
takes the better of a threshold of one feature and a hyperplane over a few. That is best on ordinary
tables. "co2" trees have hyperplanes over all features; those of classes are grown on the labels
themselves until leaves are pure, which is best for letters, pixels and the like. A trial on rows
held out decides. ``benchmarks/tables/boosting.py`` is the sweep behind the defaults.

Several bags each hold other rows out. The model is their mean, which is worth more than one model
that has all rows; and the rows held out say when each bag has enough rounds, how sure its scores
may be, and how good it is.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingSet
from co2forest.files.arrays import aligned
from co2forest.fitting.grow import n_threads
from co2forest.fitting.parameters import growth_of, resolve_max_features
from co2forest.fitting.plan import SCALINGS, NativeParams, Plan, TreeKind
from co2forest.fitting.progress import ProgressBar
from co2forest.fitting.trees import Grown

SPLITS = ("narrow", "co2")
# What "auto" stands for.
_NARROW: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.5,
}
_CO2_NUMBERS: Mapping[str, Any] = {
    "learning_rate": 0.1,
    "max_leaf_nodes": 63,
    "min_samples_leaf": 5,
    "l2_regularization": 3.0,
    "max_features": None,
}
_CO2_CLASSES: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "l2_regularization": 0.3,
    "max_features": "sqrt",
}
_BINS = 32  # of a large node's projections, between which thresholds lie

_FEWEST_ROWS = 40  # to hold some of them out
_MOST_BAGS = 8
_FLOOR = 0.1  # trees on labels: the least weight of a row, relative to the mean weight
_NO_ROWS = np.empty(0, dtype=np.uint8)
_NO_SCORES = np.empty(0)
_NO_BAGS = np.empty(0, dtype=np.int32)

# A trial of ways: few rows, few and long steps.
_TRIAL_ROWS = 4000
_TRIAL_ROUNDS = 40
_TRIAL_RATE = 4.0  # times the rate of the way
_TRIAL_HELD_OUT = 0.3

Losses = list[list[tuple[float, float]]]  # of each bag and round: what is judged, the log loss


@dataclass(frozen=True, eq=False)
class BoostPlan:
    """How rounds are boosted."""

    trees: Plan
    split: str
    learning_rate: float
    subsample: float
    l2: float
    patience: int  # rounds without progress; 0: no early stopping
    tolerance: float
    n_bags: int = 1
    # For each row one more than the bag that holds it out, or zero; or empty.
    held_out: npt.NDArray[np.uint8] = field(default_factory=lambda: _NO_ROWS)

    def native(self, data: TrainingSet, n_rounds: int) -> _native.BoostParams:
        """The plan as the native core takes it."""
        params = _native.BoostParams()
        (params.grow,) = [kind.native(data) for kind in self.trees.kinds]
        params.scaling = SCALINGS[self.trees.scale]
        params.seed = self.trees.draws.seed
        params.n_rounds = n_rounds
        params.shrinkage = self.learning_rate
        params.l2 = self.l2
        params.subsample = self.subsample
        params.patience = self.patience
        params.tolerance = self.tolerance
        params.on_gradients = self.split == "narrow"
        params.floor = _FLOOR
        params.loss = data.loss.native()
        params.n_bags = self.n_bags
        params.n_threads = n_threads(self.trees.n_jobs)
        return params


@dataclass(frozen=True, eq=False)
class Boosted(Grown):
    """Trees of boosting: the scores they start from, and the losses after each round."""

    start: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_SCORES)
    bag: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_BAGS)  # of each tree
    training: Losses = field(default_factory=list)
    validation: Losses = field(default_factory=list)
    # Of rows that a bag has held out, by the trees of this bag; NaN for others.
    held_out_scores: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_SCORES)


def boost(plan: BoostPlan, data: TrainingSet, earlier: Boosted | None) -> Boosted:
    """Grow the rounds that are missing behind the earlier ones."""
    n_rounds = plan.trees.n_trees - (rounds_of(earlier.bag) if earlier else 0)
    bar = ProgressBar(n_rounds * plan.n_bags) if plan.trees.verbose else contextlib.nullcontext()
    with bar as progress:
        result = _native.boost(
            data.rows,
            data.targets,
            data.weights,
            plan.held_out,
            data.n_outputs,
            plan.native(data, n_rounds),
            earlier.forest if earlier else None,
            aligned(earlier.start) if earlier else _NO_SCORES,  # from a message it may lie anywhere
            aligned(earlier.bag) if earlier else _NO_BAGS,
            progress,
        )
    steps = np.array([steps / max(nodes, 1) for steps, nodes in result.statistics])
    forest, start = result.take_forest(), np.array(result.start)
    bag, scores = np.array(result.bag, dtype=np.int32), result.take_held_out_scores()
    if earlier is None:
        assert forest is not None  # noqa: S101 (only a warm start may add no tree)
        return Boosted(forest, steps, start, bag, result.training, result.validation, scores)
    return replace(
        earlier,
        # A warm start may find that no further tree is worth it.
        forest=earlier.forest
        if forest is None
        else _native.Forest.concatenate([earlier.forest, forest]),
        steps=np.concatenate([earlier.steps, steps]),
        start=start,
        bag=np.concatenate([earlier.bag, bag]),
        training=result.training,
        validation=result.validation,
        held_out_scores=scores,
    )


def rounds_of(bag: npt.NDArray[np.int32]) -> int:
    """The most trees of a bag."""
    return int(np.bincount(bag).max())


def with_defaults(estimator: Any, split: str, **others: Any) -> Any:
    """The parameters of an estimator, with what "auto" stands for in one way of boosting."""
    defaults = _NARROW if split == "narrow" else _CO2_NUMBERS
    if split == "co2" and not hasattr(estimator, "loss"):
        defaults = _CO2_CLASSES
    given = estimator.get_params(deep=False)
    chosen = {name: value for name, value in defaults.items() if given[name] == "auto"}
    resolved = SimpleNamespace(**given | chosen | others, _chooses_solver=False)
    resolved._split_params = lambda n_features, _: _split_params(resolved, split, n_features)  # noqa: SLF001
    return resolved


def _split_params(parameters: Any, split: str, n_features: int) -> NativeParams:
    most = resolve_max_features(parameters.max_features, n_features)
    if split == "narrow":
        # Few columns each, or as many as the root of all.
        widths = [2.0, 3.0, max(2.0, float(round(n_features**0.5)))]
        fields = {"max_features": max(most, 2), "threshold_bins": _BINS, "widths": widths}
        return NativeParams("NarrowParams", fields)
    if not hasattr(parameters, "loss"):
        return NativeParams("Co2Params", {"max_features": most})
    # A tree corrects those before it, so its splits need not be exact: with bins and samples
    # kin8nm took 60 % of the time, for the same errors.
    approximate = {"max_rows": 1000, "threshold_bins": _BINS, "axis_rows": 250}
    # What the defaults were chosen with.
    tuned_with = {"ridge": 0.1, "feature_fractions": [1.0, 0.15]}
    return NativeParams("Co2Params", {"max_features": most} | approximate | tuned_with)


def plan_boosting(parameters: Any, split: str, trees: Plan, data: TrainingSet) -> BoostPlan:
    """Read the resolved parameters of boosting, and hold rows out."""
    (own,) = trees.kinds
    kind = TreeKind(split, own.split, growth_of(parameters), by_means=split == "narrow")
    if split == "narrow":
        n_features = len(data.summary) or data.n_features
        kind = replace(kind, split=parameters._split_params(n_features, None))  # noqa: SLF001
    stops = parameters.early_stopping
    if stops == "auto":
        stops = data.n_rows >= _FEWEST_ROWS
    n_bags = _n_bags(parameters, data.n_rows, stops=bool(stops))
    holds_out = bool(stops) or n_bags > 1
    return BoostPlan(
        replace(trees, kinds=(kind,)),
        split,
        float(parameters.learning_rate),
        float(parameters.subsample),
        float(parameters.l2_regularization) * _unit_of(data.weights),
        int(parameters.n_iter_no_change) if stops else 0,
        float(parameters.tol),
        n_bags,
        _held_out(parameters.validation_fraction, n_bags, data, trees.draws.seed)
        if holds_out
        else _NO_ROWS,
    )


def _n_bags(parameters: Any, n_rows: int, *, stops: bool) -> int:
    fraction = float(parameters.validation_fraction)
    most = max(1, int(1 / fraction + 1e-9))
    if parameters.n_bags != "auto":
        n_bags = int(parameters.n_bags)
        if n_bags > most:
            raise ValueError(
                f"n_bags={n_bags} bags cannot each hold out validation_fraction={fraction} of the "
                f"rows; n_bags must be at most {most}, or validation_fraction less"
            )
        return n_bags
    if not stops:
        return 1
    return min(most, _MOST_BAGS if n_rows < 5000 else 4 if n_rows < 30_000 else 2)


def _held_out(
    fraction: float, n_bags: int, data: TrainingSet, seed: int
) -> npt.NDArray[np.uint8]:
    """Evenly spaced rows of a random order, in which classes follow each other."""
    n_rows = data.n_rows
    order = np.random.default_rng([seed, 1]).permutation(n_rows)
    if data.targets.ndim == 1:
        order = order[np.argsort(data.targets[order], kind="stable")]
    held_out = np.zeros(n_rows, dtype=np.uint8)
    for bag in range(n_bags):
        place = (np.arange(n_rows + 1) + bag) * float(fraction)
        held_out[order[np.diff(np.floor(place + 0.5)) > 0]] = bag + 1
    weights = data.weights if len(data.weights) else np.ones(n_rows, dtype=np.float32)
    for bag in range(n_bags):
        validates = held_out == bag + 1
        for rows, purpose in ((validates, "validate"), (~validates, "train")):
            if not weights[rows].any():
                raise ValueError(
                    f"validation_fraction={fraction} with n_samples = {n_rows} "
                    f"leaves no row with a positive weight to {purpose} on; use more rows or "
                    "early_stopping=False"
                )
    return held_out


def _unit_of(weights: npt.NDArray[np.float32]) -> float:
    """The weight of one row, which ``l2_regularization`` counts in.

    Whole numbers are repeats. Other weights say how rows compare, whatever their sum is.
    """
    counted = weights[weights > 0]
    if len(counted) == 0 or (counted == np.floor(counted)).all():
        return 1.0
    return float(counted.mean(dtype=np.float64))
