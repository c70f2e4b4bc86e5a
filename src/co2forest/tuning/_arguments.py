# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the arguments of tune_forest and tune_segmenter."""

import math
import os
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length, column_or_1d

from co2forest.estimators.forest import Forest
from co2forest.files.messages import shown
from co2forest.tuning._splits import Problem

METHODS = ("holdout", "halving", "oob")


def check_numbers(
    *,
    method: Any,
    methods: tuple[str, ...] = METHODS,
    n_splits: Any,
    trial_n_estimators: Any,
    standard_errors: Any,
    checkpoint: Any,
    refit: Any,
    verbose: Any,
) -> None:
    """Raise if an argument has a value that is not allowed."""
    if not isinstance(method, str) or method not in methods:
        raise ValueError(f"method must be one of {methods}, got {shown(method)}")
    for name, value in (("n_splits", n_splits), ("trial_n_estimators", trial_n_estimators)):
        if not _is_whole(value) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {shown(value)}")
    if method == "oob" and n_splits != 1:
        raise ValueError(
            f"n_splits={n_splits} needs rows held out, but method='oob' has no splits; "
            "leave n_splits at 1, or use method='holdout' or 'halving'"
        )
    if not _is_real(standard_errors) or not 0 <= standard_errors < math.inf:
        raise ValueError(
            f"standard_errors must be a number that is not negative, got {shown(standard_errors)}"
        )
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint must be None or the name of a file, got {shown(checkpoint)}")
    if not isinstance(refit, bool | np.bool_):
        raise TypeError(f"refit must be True or False, got {shown(refit)}")
    if not isinstance(verbose, Integral | np.bool_):
        raise TypeError(f"verbose must be a whole number, True or False, got {shown(verbose)}")


def check_fraction(value: Any, name: str, whole: str) -> None:
    """Raise if a fraction to hold out is not between nothing and everything."""
    if not (_is_real(value) and 0 < value < 1):
        raise ValueError(
            f"{name} must be a fraction of the {whole} between 0 and 1, got {shown(value)}"
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_exponents(exponents: Any) -> list[float]:
    """The exponents as a list; an empty one if the number of features is not to be chosen."""
    if exponents is None:
        return []
    values = list(exponents) if np.iterable(exponents) and not isinstance(exponents, str) else None
    if values is None or not all(_is_real(value) and 0 <= value <= 1 for value in values):
        raise ValueError(
            "max_features_grid must be None or a list of exponents between 0 and 1, "
            f"got {shown(exponents)}"
        )
    return [float(value) for value in values]


def check_problem(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, method: str
) -> Problem:
    """The data after the checks that a fit makes."""
    if not isinstance(estimator, Forest):
        raise TypeError(
            f"estimator must be a forest of co2forest, got {shown(estimator)}"
            + ("; give an instance, not the class" if isinstance(estimator, type) else "")
        )
    probe = clone(estimator).set_params(warm_start=False)
    probe._validate_params()  # noqa: SLF001
    _, data = probe._read(X, y, sample_weight)  # noqa: SLF001
    classes = is_classifier(estimator)
    # A data frame keeps its names, while all else is used as checked.
    is_frame = not isinstance(X, np.ndarray) and not sp.issparse(X) and hasattr(X, "columns")
    weights = None
    if sample_weight is not None:
        weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(data.targets))
    return Problem(
        X if is_frame else data.X,
        column_or_1d(y) if classes or np.ndim(y) == 1 else np.asarray(y),
        weights,
        _checked_groups(X, groups, method),
        classes,
        data.rows.features,
    )


def _checked_groups(X: Any, groups: Any, method: str) -> npt.NDArray[Any] | None:
    if groups is None:
        return None
    if method == "oob":
        raise ValueError(
            "groups needs rows held out, but method='oob' judges by rows of the same groups; "
            "use method='holdout' or 'halving'"
        )
    groups = column_or_1d(groups)
    check_consistent_length(X, groups)
    return np.asarray(groups)
