# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of boosting: which rows are held out, and the trees of all rounds.

Folds hold rows out. They say after how many rounds the loss of these rows no longer falls, and how
sure scores may be. Then all rows are boosted once more, for so many rounds: on tables, that lowers
the log loss by 3 % and takes less time than to keep the trees of several folds.
"""

import contextlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingSet
from co2forest.files.arrays import aligned
from co2forest.fitting.grow import n_threads
from co2forest.fitting.plan import SCALINGS, Plan
from co2forest.fitting.progress import ProgressBar
from co2forest.fitting.trees import Grown

_FEWEST_ROWS = 20  # to hold some of them out by default
# A single fold says too little where there are few rows: with one, the log loss of nine small
# tables is 2 % higher than with three. Five are no better.
_FOLDS = 3
_MANY_ROWS = 5000
_FLOOR = 0.1  # trees on labels: the least weight of a row, relative to the mean weight
_NO_ROWS = np.empty(0, dtype=np.uint8)
_NO_SCORES = np.empty(0)

Losses = list[tuple[float, float]]  # after each round: what is judged, and the log loss


@dataclass(frozen=True, eq=False)
class BoostPlan:
    """How rounds are boosted."""

    trees: Plan
    split: str
    learning_rate: float
    subsample: float
    l2: float
    patience: int = 0  # rounds without progress; 0: no early stopping
    tolerance: float = 0.0
    # For each row one more than the fold that holds it out, or zero; or empty.
    held_out: npt.NDArray[np.uint8] = field(default_factory=lambda: _NO_ROWS)
    refit: bool = False  # whether all rows are boosted after the folds

    @property
    def n_folds(self) -> int:
        """How often rows are boosted without some that are held out; at least once."""
        return max(1, int(self.held_out.max(initial=0)))

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
        params.n_folds = self.n_folds
        params.refit = self.refit
        params.n_threads = n_threads(self.trees.n_jobs)
        return params


@dataclass(frozen=True, eq=False)
class Boosted(Grown):
    """Trees of boosting: the scores they start from, and the losses after each round."""

    start: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_SCORES)
    training: Losses = field(default_factory=list)
    validation: Losses = field(default_factory=list)  # of the rows held out
    # Of rows that a fold has held out, by the trees of this fold; NaN for others.
    held_out_scores: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_SCORES)


def boost(plan: BoostPlan, data: TrainingSet, earlier: Boosted | None = None) -> Boosted:
    """Grow the rounds that are missing behind the earlier ones."""
    n_rounds = plan.trees.n_trees - (earlier.n_trees if earlier else 0)
    steps = n_rounds * (plan.n_folds + plan.refit)
    with ProgressBar(steps) if plan.trees.verbose else contextlib.nullcontext() as progress:
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
    n_steps = np.array([steps / max(nodes, 1) for steps, nodes in result.statistics])
    forest = result.take_forest()
    if earlier is not None:
        # A warm start may find that no further tree is worth it.
        new = [] if forest is None else [forest]
        forest = _native.Forest.concatenate([earlier.forest, *new])
        n_steps = np.concatenate([earlier.steps, n_steps])
    assert forest is not None  # noqa: S101 (only a warm start may add no tree)
    scores = result.take_held_out_scores()
    start = np.array(result.start)
    return Boosted(forest, n_steps, start, result.training, result.validation, scores)


def hold_rows_out(plan: BoostPlan, parameters: Any, data: TrainingSet) -> BoostPlan:
    """Read what the parameters say about early stopping and calibration, and draw the folds.

    A warm start holds the same rows out again, and so it is never refitted.
    """
    stops, goes_on = parameters.early_stopping, parameters.warm_start
    fraction, seed = float(parameters.validation_fraction), plan.trees.draws.seed
    if stops == "auto":
        n_rows = np.count_nonzero(data.weights) if len(data.weights) else data.n_rows
        stops = n_rows >= _FEWEST_ROWS
        calibrates = stops
    else:
        calibrates = getattr(parameters, "calibrate", False)
    if not (stops or (calibrates and not goes_on)):
        return plan
    n_folds = 1 if goes_on else _n_folds(parameters.n_folds, fraction, data.n_rows)
    return replace(
        plan,
        patience=int(parameters.n_iter_no_change) if stops else 0,
        tolerance=float(parameters.tol),
        held_out=_draw_folds(n_folds, fraction, data, seed),
        refit=not goes_on,
    )


def _n_folds(given: Any, fraction: float, n_rows: int) -> int:
    most = max(1, int(1 / fraction + 1e-9))
    if given == "auto":
        return min(most, _FOLDS if n_rows < _MANY_ROWS else 1)
    if given > most:
        raise ValueError(
            f"n_folds={given} cannot each hold out validation_fraction={fraction} of the rows; "
            f"n_folds must be at most {most}, or validation_fraction less"
        )
    return int(given)


def _draw_folds(
    n_folds: int, fraction: float, data: TrainingSet, seed: int
) -> npt.NDArray[np.uint8]:
    """Evenly spaced rows of a random order, in which classes follow each other."""
    n_rows = data.n_rows
    order = np.random.default_rng([seed, 1]).permutation(n_rows)
    if data.targets.ndim == 1:
        order = order[np.argsort(data.targets[order], kind="stable")]
    held_out = np.zeros(n_rows, dtype=np.uint8)
    for fold in range(n_folds):
        place = (np.arange(n_rows + 1) + fold) * fraction
        held_out[order[np.diff(np.floor(place + 0.5)) > 0]] = fold + 1
    weights = data.weights if len(data.weights) else np.ones(n_rows, dtype=np.float32)
    for fold in range(n_folds):
        validates = held_out == fold + 1
        for rows, purpose in ((validates, "validate"), (~validates, "train")):
            if not weights[rows].any():
                raise ValueError(
                    f"validation_fraction={fraction} with n_samples = {n_rows} "
                    f"leaves no row with a positive weight to {purpose} on; use more rows or "
                    "early_stopping=False"
                )
    return held_out
