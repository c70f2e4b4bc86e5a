"""How a regressor may look for the splits of its nodes, and what ``solver="select"`` means.

No way is best for all data: directions over all features follow smooth functions, directions over
few leave irrelevant features alone. So "select" tries the ways on a part of the rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from co2forest import _native
from co2forest._parameters import co2_params
from co2forest._rows import TrainingSet


class Way(NamedTuple):
    """A way to look for splits."""

    solver: str  # of the native core
    feature_parts: tuple[float, ...]  # Co2Params.feature_parts
    max_features: float | None = None  # in the place of max_features="auto"


# By the names that solver_ takes; of equally good ones "select" takes the first.
WAYS: dict[str, Way] = {
    "warm": Way("warm", (1.0, 0.5, 0.15)),
    "warm_all": Way("warm", (1.0,)),
    "warm_few": Way("warm", (0.15, 0.0)),
    "ridge": Way("auto", (1.0, 0.5, 0.15)),
    "cccp": Way("cccp", (0.0,)),
}
# Of solver="auto". Validation errors on nine sets, 30 trees, against scikit-learn's random forest:
# 23 % lower; "ridge" 20 %, with one part of the features in all nodes 14 to 18 %.
DEFAULT_WAY = "warm"

TRIAL_TREES = 25
_TRIAL_ROWS = 8000
_FEWEST_TRIAL_ROWS = 50
_TRAINING_PART = 0.8

# Fits a few trees in a way.
FitSome = Callable[[TrainingSet, str], _native.Forest]


def split_params(estimator: Any, n_features: int, way: str) -> _native.Co2Params:
    """What the core is told for a way."""
    chosen = WAYS[way]
    params = co2_params(estimator, n_features, chosen.solver)
    params.feature_parts = list(chosen.feature_parts)
    if chosen.solver != "cccp":
        # The start of a large node need not be exact. Against 4000 rows and exact thresholds it
        # takes nine tenths of the time, with validation errors within half a percent (kin40k,
        # protein).
        params.max_rows = 1500
        params.threshold_bins = 32
        params.axis_rows = 250
    if chosen.max_features is not None and estimator.max_features == "auto":
        params.max_features = max(1, round(chosen.max_features * n_features))
    return params


def choose_way(data: TrainingSet, seed: int, fit_some: FitSome) -> str:
    """The way with the smallest loss on rows that were not trained on.

    Integer weights and repeated rows lead to the same choice, whatever the order of rows.
    """
    chosen, weights = _native.sample_by_key(
        data.rows, data.targets, data.n_outputs, data.weights, seed, _TRIAL_ROWS
    )
    if len(chosen) < _FEWEST_TRIAL_ROWS:
        return DEFAULT_WAY
    count = round(_TRAINING_PART * len(chosen))
    train = data.part(chosen[:count], weights[:count])
    test = data.part(chosen[count:], weights[count:])
    losses = {}
    for way in WAYS:
        outputs = fit_some(train, way).predict(test.rows, 1)
        losses[way] = float(test.errors(outputs) @ test.weights)
    return min(losses, key=losses.__getitem__)
