"""The parameters that shape a tree: what they may be, and what the native core makes of them."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from co2forest import _native
from co2forest._sklearn_compat import Interval, RealNotInt, StrOptions

_POSITIVE_INT = Interval(Integral, 1, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")

TREE_CONSTRAINTS: dict[str, list[Any]] = {
    "nu": [StrOptions({"auto"}), _POSITIVE],
    "learning_rate": [StrOptions({"auto"}), _POSITIVE],
    "max_features": [
        StrOptions({"sqrt", "log2"}),
        _POSITIVE_INT,
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
    "max_depth": [_POSITIVE_INT, None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "min_samples_leaf": [_POSITIVE_INT, Interval(RealNotInt, 0, 1, closed="neither")],
    "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "batch_size": [_POSITIVE_INT],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "cccp_period": [_POSITIVE_INT, None],
    "max_iter": [_POSITIVE_INT, None],
    "tol": [Interval(Real, 0, None, closed="left")],
    "scale": [StrOptions({"auto", "standard", "soft", "minmax", "global"}), None],
    "solver": [StrOptions({"auto", "cccp"})],
    "random_state": ["random_state"],
}

_NO_LIMIT = 2**62
# The paper's rate does not decay by itself and its objective may converge early.
_PAPER_MIN_ITER = 300


def _rows_of(value: float, n_rows: int, least: int) -> int:
    """Rows named by a parameter: their number if it is an integer, else a part of all."""
    return int(value) if isinstance(value, Integral) else max(least, int(np.ceil(value * n_rows)))


def resolve_max_features(value: Any, n_features: int) -> int:
    """The number of candidate features, as scikit-learn's forests read ``max_features``."""
    if value is None:
        return n_features
    if value == "sqrt":
        return max(1, round(n_features**0.5))
    if value == "log2":
        return max(1, int(np.log2(n_features)))
    count = value if isinstance(value, Integral) else max(1, int(value * n_features))
    return min(int(count), n_features)


def native_grow_params(estimator: Any, n_rows: int, n_features: int) -> _native.GrowParams:
    """Stopping rules and node optimiser of an estimator whose parameters have been checked."""
    grow = _native.GrowParams()
    grow.max_depth = _NO_LIMIT if estimator.max_depth is None else estimator.max_depth
    grow.min_samples_split = _rows_of(estimator.min_samples_split, n_rows, 2)
    grow.min_samples_leaf = _rows_of(estimator.min_samples_leaf, n_rows, 1)
    grow.min_impurity_decrease = estimator.min_impurity_decrease
    grow.max_leaf_nodes = estimator.max_leaf_nodes or 0

    solver = grow.solver
    solver.solver = _native.Solver[estimator.solver]
    solver.max_features = resolve_max_features(estimator.max_features, n_features)
    solver.batch_size = estimator.batch_size
    solver.momentum = estimator.momentum
    solver.cccp_period = estimator.cccp_period or 0
    solver.max_iter = estimator.max_iter or 0
    solver.tol = estimator.tol
    if estimator.solver == "cccp":
        solver.min_iter = _PAPER_MIN_ITER
    if estimator.nu != "auto":
        solver.nu = estimator.nu
        solver.nu_in_user_units = True
    if estimator.learning_rate != "auto":
        solver.rate_weights = solver.rate_leaves = estimator.learning_rate
        solver.rate_in_user_units = True
    return grow
