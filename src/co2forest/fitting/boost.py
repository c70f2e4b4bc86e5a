# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of boosting: what is decided, which rows are held out, and the trees of all rounds."""

import contextlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingSet
from co2forest.files.arrays import aligned
from co2forest.fitting.plan import SCALINGS, Plan
from co2forest.fitting.progress import ProgressBar
from co2forest.fitting.trees import Grown

_ROWS_TO_STOP_EARLY = 1000  # early_stopping="auto" holds rows out from this number on
_FLOOR = 0.1  # the least weight of a row in a tree of classes, relative to the mean weight
_NO_ROWS = np.empty(0, dtype=np.uint8)
_NO_SCORES = np.empty(0)

Losses = list[tuple[float, float]]  # of each round: what early stopping judges by, the log loss


@dataclass(frozen=True, eq=False)
class BoostPlan:
    """How rounds are boosted."""

    trees: Plan
    learning_rate: float
    subsample: float
    l2: float
    patience: int  # rounds without progress; 0: no early stopping
    tolerance: float
    held_out: npt.NDArray[np.uint8]  # ones for rows that early stopping is judged by; or empty

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
        params.floor = _FLOOR
        params.loss = data.loss.native()
        return params


@dataclass(frozen=True, eq=False)
class Boosted(Grown):
    """Trees of boosting: the scores they start from, and the losses after each round."""

    start: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_SCORES)
    training: Losses = field(default_factory=list)
    validation: Losses = field(default_factory=list)


def plan_boosting(estimator: Any, trees: Plan, data: TrainingSet) -> BoostPlan:
    """Read the parameters of boosting, and hold rows out if it may stop early."""
    held_out = _held_out(estimator, data, trees.draws.seed)
    return BoostPlan(
        trees,
        float(estimator.learning_rate),
        float(estimator.subsample),
        float(estimator.l2_regularization) * _unit_of(data.weights),
        int(estimator.n_iter_no_change) if len(held_out) else 0,
        float(estimator.tol),
        held_out,
    )


def boost(plan: BoostPlan, data: TrainingSet, earlier: Boosted | None) -> Boosted:
    """Grow the rounds that are missing behind the earlier ones."""
    n_rounds = plan.trees.n_trees - (earlier.n_trees if earlier else 0)
    with ProgressBar(n_rounds) if plan.trees.verbose else contextlib.nullcontext() as progress:
        result = _native.boost(
            data.rows,
            data.targets,
            data.weights,
            plan.held_out,
            data.n_outputs,
            plan.native(data, n_rounds),
            earlier.forest if earlier else None,
            aligned(earlier.start) if earlier else _NO_SCORES,  # from a message it may lie anywhere
            progress,
        )
    steps = np.array([steps / max(nodes, 1) for steps, nodes in result.statistics])
    forest, start = result.take_forest(), np.array(result.start)
    if earlier is None:
        assert forest is not None  # noqa: S101 (only a warm start may add no tree)
        return Boosted(forest, steps, start, result.training, result.validation)
    return replace(
        earlier,
        # A warm start may find that no further tree is worth it.
        forest=earlier.forest
        if forest is None
        else _native.Forest.concatenate([earlier.forest, forest]),
        steps=np.concatenate([earlier.steps, steps]),
        start=start,
        training=result.training,
        validation=result.validation,
    )


def _held_out(estimator: Any, data: TrainingSet, seed: int) -> npt.NDArray[np.uint8]:
    """Evenly spaced rows of a random order, in which classes follow each other."""
    n_rows = data.n_rows
    wanted = estimator.early_stopping
    if wanted == "auto":
        wanted = n_rows >= _ROWS_TO_STOP_EARLY
    if not wanted:
        return _NO_ROWS
    order = np.random.default_rng([seed, 1]).permutation(n_rows)
    if data.targets.ndim == 1:
        order = order[np.argsort(data.targets[order], kind="stable")]
    fraction = estimator.validation_fraction
    place = np.arange(n_rows + 1) * float(fraction)
    held_out = np.zeros(n_rows, dtype=np.uint8)
    held_out[order[np.diff(np.floor(place + 0.5)) > 0]] = 1
    weights = data.weights if len(data.weights) else np.ones(n_rows, dtype=np.float32)
    for rows, purpose in ((held_out == 1, "validate"), (held_out == 0, "train")):
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
