# SPDX-License-Identifier: BSD-3-Clause
"""How a regressor may look for the splits of its nodes, and how ``solver="select"`` decides.

No strategy is best for all data: directions over all features follow smooth functions, directions
over few leave irrelevant features alone. So "select" tries them on some of the rows.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from co2forest.data.training_set import TrainingSet
from co2forest.fitting.parameters import co2_params
from co2forest.fitting.plan import NativeParams, Plan
from co2forest.fitting.trial import best_plan, split_sample


class Strategy(NamedTuple):
    """A native solver, and the fractions of the features that its directions may use."""

    solver: str
    feature_fractions: tuple[float, ...]


# By the names that solver_ takes; of equally good ones "select" takes the first.
SOLVERS: dict[str, Strategy] = {
    "warm": Strategy("warm", (1.0, 0.5, 0.15)),
    "warm_all": Strategy("warm", (1.0,)),
    "warm_few": Strategy("warm", (0.15, 0.0)),
    "ridge": Strategy("ridge", (1.0, 0.5, 0.15)),
    "cccp": Strategy("cccp", (0.0,)),
}
# What solver="auto" stands for. Validation errors on nine sets, 30 trees, against scikit-learn's
# random forest: 23 % lower; "ridge" 20 %; with one fraction of the features everywhere 14 to 18 %.
DEFAULT_SOLVER = "warm"

_TRIAL_TREES = 25
_TRIAL_ROWS = 8000
_FEWEST_TRIAL_ROWS = 50
_TRAINING_FRACTION = 0.8


def regression_params(estimator: Any, n_features: int, solver: str) -> NativeParams:
    """What the core is told for a name in `SOLVERS`."""
    chosen = SOLVERS[solver]
    others: dict[str, Any] = {"feature_fractions": list(chosen.feature_fractions)}
    if chosen.solver != "cccp":
        # The start of a large node need not be exact. Against 4000 rows and exact thresholds it
        # takes nine tenths of the time, with validation errors within half a percent (kin40k,
        # protein).
        others |= {"max_rows": 1500, "threshold_bins": 32, "axis_rows": 250}
    return co2_params(estimator, n_features, chosen.solver, **others)


def choose_solver(
    plan: Plan, data: TrainingSet, split_of: Callable[[int, str], NativeParams]
) -> str:
    """The solver with the smallest loss on rows that were not trained on."""
    train, test = split_sample(data, plan.draws.seed, _TRIAL_ROWS, _TRAINING_FRACTION)
    if len(train.targets) + len(test.targets) < _FEWEST_TRIAL_ROWS:
        return DEFAULT_SOLVER
    (own,) = plan.kinds
    candidates = {
        name: replace(
            plan, solver=name, kinds=(replace(own, split=split_of(data.n_features, name)),)
        )
        for name in SOLVERS
    }
    return best_plan(candidates, train, test, _TRIAL_TREES)
