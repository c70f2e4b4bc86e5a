"""The parameters that shape a tree: what they may be, and what the native core makes of them."""

from math import ceil, log2, sqrt
from numbers import Integral, Real
from typing import Any

from co2forest import _native
from co2forest._rows import TrainingData
from co2forest._sklearn_compat import Interval, RealNotInt, StrOptions

_POSITIVE_INT = Interval(Integral, 1, None, closed="left")
_POSITIVE = Interval(Real, 0, 1e30, closed="right")  # finite, also in float32

Constraints = dict[str, Any]

GROWTH_CONSTRAINTS: Constraints = {
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
    "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    "min_impurity_decrease": [Interval(Real, 0, 1e300, closed="both")],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "random_state": ["random_state"],
}

SCALE_CONSTRAINTS: Constraints = {
    "scale": [StrOptions({"auto", "standard", "soft", "minmax", "global"}), None],
}

PAIR_CONSTRAINTS: Constraints = {"n_pairs": [_POSITIVE_INT, None]}

CO2_CONSTRAINTS: Constraints = {
    "nu": [StrOptions({"auto"}), _POSITIVE],
    "learning_rate": [StrOptions({"auto"}), _POSITIVE],
    "batch_size": [_POSITIVE_INT],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "cccp_period": [_POSITIVE_INT, None],
    "max_iter": [_POSITIVE_INT, None],
    "tol": [Interval(Real, 0, 1e300, closed="both")],
    "solver": [StrOptions({"auto", "cccp"})],
    "refine": [Interval(Integral, 0, None, closed="left")],
}

# Numbers to predict have more solvers, and rules of their own.
CO2_REGRESSION_CONSTRAINTS: Constraints = CO2_CONSTRAINTS | {
    "solver": [StrOptions({"auto", "ridge", "warm", "cccp", "select"})],
    "max_features": [StrOptions({"auto"}), *GROWTH_CONSTRAINTS["max_features"]],
    "min_samples_leaf": [StrOptions({"auto"}), *GROWTH_CONSTRAINTS["min_samples_leaf"]],
    "keep_targets": ["boolean"],
}

COST_CONSTRAINTS: Constraints = {"cost_matrix": ["array-like", None]}

FOREST_CONSTRAINTS: Constraints = {
    "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
    "bootstrap": ["boolean"],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
    "oob_score": ["boolean", callable],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}

FOREST_CLASS_WEIGHT: Constraints = {
    "class_weight": [StrOptions({"balanced", "balanced_subsample"}), dict, None],
}

TREE_CLASS_WEIGHT: Constraints = {"class_weight": [StrOptions({"balanced"}), dict, None]}

_NO_LIMIT = 2**60  # more than any data can have; larger numbers would not fit the core's integers
# The paper's rate does not decay by itself and its objective may converge early.
_PAPER_MIN_ITER = 300
_PAPER_RATE = 8.0  # of the weights; the default's is lower, because its nodes take fewer steps


def count(value: Any) -> int:
    """An integral parameter; None, where allowed, is 0: the core then follows its own rule."""
    return 0 if value is None else min(int(value), _NO_LIMIT)


def _rows_of(value: Any, n_rows: int, least: int) -> int:
    """Rows named by a parameter: their number if it is an integer, else a part of all."""
    return count(value) if isinstance(value, Integral) else max(least, ceil(float(value) * n_rows))


def whole_rows(estimator: Any, n_rows: int) -> None:
    """Make limits of growth that are a part of all rows numbers of rows."""
    for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1)):
        value = getattr(estimator, name)
        if isinstance(value, Real) and not isinstance(value, Integral):
            setattr(estimator, name, _rows_of(value, n_rows, least))


def resolve_max_features(value: Any, n_features: int) -> int:
    """The number of candidate features, as scikit-learn's forests read ``max_features``.

    "auto", which they do not have, is for regression: more candidates than the root, but fewer than
    a third where features are hundreds.
    """
    if value is None:
        return n_features
    if value == "auto":
        return max(1, round(float(n_features**0.8)))
    if value == "sqrt":
        return max(1, int(sqrt(n_features)))
    if value == "log2":
        return max(1, int(log2(n_features)))
    count = int(value) if isinstance(value, Integral) else max(1, int(value * n_features))
    return min(count, n_features)


def growth_params(estimator: Any, data: TrainingData) -> _native.GrowParams:
    """Stopping rules and split finder of an estimator whose parameters have been checked.

    Boosting has not all of them.
    """
    grow = _native.GrowParams()
    n_rows = data.n_rows
    grow.max_depth = _NO_LIMIT if estimator.max_depth is None else count(estimator.max_depth)
    grow.min_samples_split = _rows_of(getattr(estimator, "min_samples_split", 2), n_rows, 2)
    grow.min_samples_leaf = _rows_of(estimator._rows_of_a_leaf(), n_rows, 1)  # noqa: SLF001
    grow.min_weight_fraction_leaf = float(getattr(estimator, "min_weight_fraction_leaf", 0.0))
    least = float(getattr(estimator, "min_impurity_decrease", 0.0))
    grow.min_impurity_decrease = least / data.impurity_unit
    grow.max_leaf_nodes = count(estimator.max_leaf_nodes)
    grow.split = estimator._split_params(data.n_features)  # noqa: SLF001
    return grow


def refine_params(estimator: Any) -> _native.RefineParams:
    """How trees are refined; a baseline's are not."""
    params = _native.RefineParams()
    params.passes = count(getattr(estimator, "refine", 0))
    return params


def co2_params(estimator: Any, n_features: int, solver: str) -> _native.Co2Params:
    """The node optimiser of an estimator whose parameters have been checked."""
    params = _native.Co2Params()
    params.solver = _native.Solver[solver]
    params.max_features = resolve_max_features(estimator.max_features, n_features)
    params.batch_size = count(estimator.batch_size)
    params.momentum = float(estimator.momentum)
    params.cccp_period = count(estimator.cccp_period)
    params.max_iter = count(estimator.max_iter)
    params.tol = float(estimator.tol)
    if solver == "cccp":
        params.min_iter = _PAPER_MIN_ITER
        params.rate_weights = _PAPER_RATE
    if estimator.nu != "auto":
        params.nu = float(estimator.nu)
        params.nu_in_user_units = True
    if estimator.learning_rate != "auto":
        params.rate_weights = params.rate_leaves = float(estimator.learning_rate)
        params.rate_in_user_units = True
    return params
