# SPDX-License-Identifier: BSD-3-Clause
"""The parameters that shape a tree: what they may be, and what the native core makes of them."""

from math import log2, sqrt
from numbers import Integral, Real
from typing import Any

from co2forest._sklearn_compat import Interval, RealNotInt, StrOptions
from co2forest.data.losses import chosen_by_users, traits_of
from co2forest.fitting.plan import SCALES, Growth, NativeParams

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
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "random_state": ["random_state"],
}

SCALE_CONSTRAINTS: Constraints = {
    "scale": [StrOptions({"auto", *(name for name in SCALES if name)}), None],
}

LOSS_CONSTRAINTS: Constraints = {
    "loss": [StrOptions(set(chosen_by_users()))],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    # Beyond, Huber's loss is the absolute or the squared one, and rounding would eat its corners.
    "delta": [Interval(Real, 1e-6, 1e6, closed="both")],
}

PAIR_CONSTRAINTS: Constraints = {"n_pairs": [_POSITIVE_INT, None]}

# The native solver that the parameter of classifiers stands for.
CLASS_SOLVERS = {"auto": "ridge", "cccp": "cccp"}

CO2_CONSTRAINTS: Constraints = {
    "nu": [StrOptions({"auto"}), _POSITIVE],
    "learning_rate": [StrOptions({"auto"}), _POSITIVE],
    "batch_size": [_POSITIVE_INT],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "cccp_period": [_POSITIVE_INT, None],
    "max_iter": [_POSITIVE_INT, None],
    "tol": [Interval(Real, 0, 1e300, closed="both")],
    "solver": [StrOptions(set(CLASS_SOLVERS))],
    "refine": [Interval(Integral, 0, None, closed="left")],
}

# Numbers to predict have more solvers, and rules of their own.
CO2_REGRESSION_CONSTRAINTS: Constraints = CO2_CONSTRAINTS | {
    "solver": [StrOptions({"auto", "ridge", "warm", "cccp", "select"})],
    "max_features": [StrOptions({"auto"}), *GROWTH_CONSTRAINTS["max_features"]],
    "min_samples_leaf": [StrOptions({"auto"}), *GROWTH_CONSTRAINTS["min_samples_leaf"]],
    "keep_targets": ["boolean"],
}

MIXTURE_CONSTRAINTS: Constraints = {
    "mixture": [StrOptions({"auto"}), None],
    "oob_score": ["boolean", StrOptions({"auto"}), callable],
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

# Rows of a leaf that are to be beyond a quantile. The quantiles of a single row are all the same:
# with such leaves, nine tenths became half (docs/regression.md).
_ROWS_BEYOND = 2
# The paper's rate does not decay by itself and its objective may converge early.
_PAPER_MIN_ITER = 300
_PAPER_RATE = 8.0  # of the weights; the default's is lower, because its nodes take fewer steps


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


def growth_of(estimator: Any) -> Growth:
    """Read the limits of growth of an estimator, which need not have all of them."""
    limits = {
        name: getattr(estimator, name)
        for name in Growth.__dataclass_fields__
        if getattr(estimator, name, None) is not None
    }
    if limits["min_samples_leaf"] == "auto":
        limits["min_samples_leaf"] = _rows_of_a_leaf(estimator)
    return Growth(**limits)


def _rows_of_a_leaf(estimator: Any) -> int:
    """What ``min_samples_leaf="auto"`` of regressors stands for."""
    if traits_of(estimator.loss).level != "alpha":
        return 1
    alpha = float(estimator.alpha)
    return round(_ROWS_BEYOND / max(min(alpha, 1 - alpha), 1e-9))


def co2_params(estimator: Any, n_features: int, solver: str, **others: Any) -> NativeParams:
    """The node optimiser of an estimator whose parameters have been checked."""
    fields: dict[str, Any] = {
        "solver": solver,
        "max_features": resolve_max_features(estimator.max_features, n_features),
        "batch_size": estimator.batch_size,
        "momentum": float(estimator.momentum),
        "cccp_period": estimator.cccp_period,
        "max_iter": estimator.max_iter,
        "tol": float(estimator.tol),
    }
    if solver == "cccp":
        fields |= {"min_iter": _PAPER_MIN_ITER, "rate_weights": _PAPER_RATE}
    if estimator.nu != "auto":
        fields |= {"nu": float(estimator.nu), "nu_in_user_units": True}
    if estimator.learning_rate != "auto":
        rate = float(estimator.learning_rate)
        fields |= {"rate_weights": rate, "rate_leaves": rate, "rate_in_user_units": True}
    return NativeParams("Co2Params", fields | others)
