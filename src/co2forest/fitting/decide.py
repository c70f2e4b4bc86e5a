# SPDX-License-Identifier: BSD-3-Clause
"""From parameters to a plan; trials on the data settle what the parameters leave open."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from co2forest.data.outputs.base import Outputs
from co2forest.data.training_set import TrainingData, TrainingSet
from co2forest.fitting.mixture import choose_mixture, with_mixture
from co2forest.fitting.parameters import growth_of
from co2forest.fitting.plan import SEEDS, Draws, Plan, TreeKind
from co2forest.fitting.scaling import choose_scale
from co2forest.fitting.solvers import DEFAULT_SOLVER, SOLVERS, choose_solver

# The fraction of the rows that each tree gets if there must be a score of the rows left out: fewer
# than a mixture keeps, so that 30 trees leave nearly every row out at least once.
_KEPT_FOR_SCORE = 0.8


def decide_forest(forest: Any, outputs: Outputs, data: TrainingData) -> Plan:
    """Decide how a forest grows; a warm start keeps seed, scale and solver of its trees."""
    if not (forest.warm_start and hasattr(forest, "_forest")):
        draws = draws_of(forest, data.n_rows, draw_seed(forest.random_state))
        return decide(forest, data, draws, forest.n_estimators)
    draws = draws_of(forest, data.n_rows, forest._draws.seed)  # noqa: SLF001
    forest._check_goes_on(outputs, data)  # noqa: SLF001
    known = (forest.scale_, getattr(forest, "solver_", None))
    return decide(forest, data, draws, forest.n_estimators, known)


def decide_tree(tree: Any, outputs: Outputs, data: TrainingData) -> Plan:
    """Decide how a single tree grows: on every row."""
    del outputs
    draws = Draws.every_row(data.n_rows, draw_seed(tree.random_state))
    return decide(tree, data, draws, n_trees=1)


def decide(
    estimator: Any,
    data: TrainingData,
    draws: Draws,
    n_trees: int,
    known: tuple[str | None, str | None] | None = None,
) -> Plan:
    """Decide everything; ``known`` are the scale and solver that a warm start keeps."""
    split_of = estimator._split_params  # noqa: SLF001
    scale, solver = known or (getattr(estimator, "scale", None), _named_solver(estimator))
    own = TreeKind("co2", split_of(data.n_features, solver), growth_of(estimator))
    plan = Plan(
        n_trees=n_trees,
        draws=draws,
        kinds=(own,),
        scale=scale,
        solver=solver,
        refine=getattr(estimator, "refine", 0),
        n_jobs=getattr(estimator, "n_jobs", None),
        verbose=bool(getattr(estimator, "verbose", 0)),
    )
    if known is not None:
        return with_mixture(_as_before(estimator, plan), data)
    if not own.split.depends_on_scale:
        return replace(plan, scale=None)
    if scale == "auto":
        plan = replace(plan, scale=choose_scale(plan, data))
    if solver is not None and estimator.solver == "select" and isinstance(data, TrainingSet):
        solver = choose_solver(plan, data, split_of)
        own = replace(own, split=split_of(data.n_features, solver))
        plan = replace(plan, solver=solver, kinds=(own,))
    if getattr(estimator, "mixture", None) == "auto" and isinstance(data, TrainingSet):
        return choose_mixture(plan, data) if _may_mix(plan, data) else plan
    return plan


def _as_before(forest: Any, plan: Plan) -> Plan:
    """A warm start keeps the mixture, and a calibration that does not come from its own trees."""
    mixture = getattr(forest, "_mixture", None)
    calibration = getattr(getattr(forest, "_outputs", None), "calibration", None)
    if calibration is not None:
        calibration = calibration.for_trees(plan.n_trees)
    return replace(plan, mixture=mixture, calibration=calibration)


def _may_mix(plan: Plan, data: TrainingSet) -> bool:
    """Whether a trial can compare kinds of trees: classes, or numbers with the squared loss.

    Sparse rows have many features, whose thresholds one by one would take too long.
    """
    if sp.issparse(data.X) or plan.refine > 0:
        return False
    if data.targets.ndim == 1:
        return data.n_outputs > 1
    return data.loss.name == "squared"


def _named_solver(estimator: Any) -> str | None:
    """The solver to begin with; None for estimators that do not choose among `SOLVERS`."""
    if not estimator._chooses_solver:  # noqa: SLF001
        return None
    return estimator.solver if estimator.solver in SOLVERS else DEFAULT_SOLVER


def draw_seed(random_state: Any) -> int:
    """Draw the seed of a forest."""
    return int(check_random_state(random_state).randint(SEEDS, dtype=np.uint64))


def insists_on_score(forest: Any) -> bool:
    """Whether ``oob_score`` is more than "auto", which only estimates what there is."""
    return bool(forest.oob_score) and forest.oob_score != "auto"


def draws_of(estimator: Any, n_rows: int, seed: int) -> Draws:
    """Read ``bootstrap``, ``max_samples``, ``oob_score`` and ``class_weight`` of a forest."""
    most = estimator.max_samples
    if most is None:
        n_draws = n_rows
    elif isinstance(most, Integral):
        if int(most) > n_rows:
            raise ValueError(
                f"max_samples={most} is more than the {n_rows} rows of X; "
                "it must be at most their number"
            )
        n_draws = int(most)
    else:
        n_draws = max(1, round(n_rows * most))
    if insists_on_score(estimator) and not estimator.bootstrap and n_draws == n_rows:
        if most is not None or getattr(estimator, "mixture", None) is None:
            raise ValueError(
                "oob_score needs rows that a tree does not draw: set bootstrap=True, or "
                f"max_samples below the number of rows (max_samples={most})"
            )
        n_draws = max(1, round(_KEPT_FOR_SCORE * n_rows))
    balance = getattr(estimator, "class_weight", None) == "balanced_subsample"
    return Draws(seed, n_rows, n_draws, bool(estimator.bootstrap), balance)
