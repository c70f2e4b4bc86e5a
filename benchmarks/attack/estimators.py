# SPDX-License-Identifier: BSD-3-Clause
"""Any estimator of co2forest, with parameters that its constraints allow, or just do not."""

import numpy as np

from attack.values import pick
from co2forest.files.registry import ESTIMATORS, estimator_class

# Whatever makes a fit long must stay small: time is what they ask for.
FEW = {
    "n_estimators": [1, 2, 3, 6],
    "n_rounds": [1, 2, 3, 6],
    "max_iter": [1, 3, 20],
    "refine": [0, 0, 1],
    "n_jumps": [0, 1, 3],
    "n_restarts": [1, 2],
    "n_pairs": [1, 5, None],
    "samples_per_tree": [1, 50, 400],
    "window": [1, 2, 3, 7],
    "n_iter_no_change": [1, 2],
    "n_jobs": [None, 1, 2, -1, -5],
    "verbose": [0, 1],
    "categorical_features": [
        "from_dtype",
        None,
        [0],
        [True],
        ["x0", "x1"],
        ["x9"],
        1.5,
        [[0]],
        [-1],
    ],
    "cost_matrix": [
        None,
        [[0, 1], [5, 0]],
        [[0, 3, 1], [1, 0, 1], [5, 1, 0]],
        [[0, np.nan], [1, 0]],
        [[0, 1e308], [1e-308, 0]],
        [1, 2],
    ],
    "class_weight": [None, "balanced", {0: 2.0}, {0: 1.0, 1: 0.0, 2: 3.0}, {"no": 1e300}, {1: -1}],
}
LONG = (
    "n_estimators",
    "n_rounds",
    "max_iter",
    "refine",
    "n_jumps",
    "n_restarts",
    "n_pairs",
    "samples_per_tree",
)
STRANGE = [None, True, -1, 0, 0.0, 1, 2, 1.5, -0.5, np.nan, np.inf, 2**40, 10**400, 1e300, 5e-324]
STRANGE += ["", "auto", "words", [], {}, (), b"", np.array([1, 2]), np.float32(0.5), len, object()]


def any_estimator(rng):
    """An estimator for rows; images have their own."""
    name = pick([name for name in ESTIMATORS if name != "ForestSegmenter"], rng)
    return with_random_parameters(estimator_class(name), rng)


def with_random_parameters(kind, rng, **defaults):
    estimator = kind(random_state=pick([0, 1, None, np.random.RandomState(0)], rng))
    constraints = kind._parameter_constraints  # noqa: SLF001
    names = sorted(estimator.get_params(deep=False).keys() - {"random_state"})
    params = {name: 2 for name in ("n_estimators", "n_rounds") if name in names} | defaults
    for name in names:
        if rng.random() < 0.15:
            params[name] = _value(name, constraints[name], rng)
    return estimator.set_params(**params)


def _value(name, constraints, rng):
    if name in FEW and (rng.random() < 0.97 or name in LONG):
        return pick(FEW[name], rng)
    constraint = pick(constraints, rng) if isinstance(constraints, list) else constraints
    if rng.random() < 0.03:
        return pick(STRANGE, rng)
    if constraint == "boolean":
        return bool(rng.integers(2))
    if hasattr(constraint, "options"):
        return pick(sorted(constraint.options), rng)
    if hasattr(constraint, "left"):
        return _within(constraint, rng)
    return None if constraint is None else pick(STRANGE, rng)


def _within(interval, rng):
    """A number of an interval, often at its ends."""
    low = interval.left if interval.left is not None else 0
    high = interval.right if interval.right is not None else 2**31
    whole = "Integral" in interval.type.__name__
    near = [low, low + 1, low + 2, low + 5] if whole else [low, low + 1e-9, 0.01, 0.3, 0.5, 0.9]
    far = [high, high - 1, 100] if whole else [high, 1.0, min(high, 3.0)]
    return pick([*near, *near, *far], rng)
