# SPDX-License-Identifier: BSD-3-Clause
"""The settings that are tried out."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from co2forest.files.messages import shown
from co2forest.fitting.decide import draws_of
from co2forest.fitting.parameters import resolve_max_features

Params = dict[str, Any]
Grid = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]]

# Parameters that tuning sets itself, or that do not change how good a forest of a given size is.
NOT_TUNED = ("n_estimators", "n_jobs", "oob_score", "random_state", "verbose", "warm_start")

# A whole number is a count, any other number a fraction: 1 and 1.0 are different.
_COUNTS_OR_FRACTIONS = ("max_features", "max_samples", "min_samples_leaf", "min_samples_split")


def candidates_of_grid(estimator: Any, grid: Grid) -> list[Params]:
    """The estimator as given, which is ``{}``, then all others in the order of the grid."""
    for subgrid in grid if isinstance(grid, list | tuple) else [grid]:
        _check_subgrid(estimator, subgrid)
    candidates: list[Params] = [{}]
    given = estimator.get_params(deep=False)
    for params in ParameterGrid(grid):
        setting = {k: v for k, v in params.items() if not _same({k: v}, {k: given[k]})}
        if not any(_same(setting, other) for other in candidates):
            _check_values(estimator, params)
            candidates.append(setting)
    return candidates


def candidates_of_features(
    estimator: Any, exponents: Iterable[float], n_features: int
) -> list[Params]:
    """The estimator's own number of features, then powers of the number of all features."""
    given = resolve_max_features(estimator.max_features, n_features)
    counts = [min(max(1, int(n_features**exponent + 1e-9)), n_features) for exponent in exponents]
    others = [count for count in dict.fromkeys(counts) if count != given]
    return [{}, *({"max_features": count} for count in others)]


def distinct(params: Params) -> Params:
    """Parameters whose values are equal only if they mean the same."""
    return {
        name: ("count" if isinstance(value, Integral) else "fraction", value)
        if name in _COUNTS_OR_FRACTIONS
        else value
        for name, value in params.items()
    }


def check_sampling(estimator: Any, candidates: list[Params], n_rows: int) -> None:
    """Raise before the trials what the fit of the result on all rows would raise after them."""
    for params in candidates:
        try:
            draws_of(clone(estimator).set_params(**params), n_rows, seed=0)
        except ValueError as error:
            who = f"the candidate {shown(params)}" if params else "the estimator as given"
            raise ValueError(f"{who} could not be fitted on all rows: {error}") from error


def names_in(grid: Grid) -> set[str]:
    """All parameters that a grid varies."""
    return {name for subgrid in ([grid] if isinstance(grid, Mapping) else grid) for name in subgrid}


def _check_subgrid(estimator: Any, subgrid: Any) -> None:
    if not isinstance(subgrid, Mapping):
        raise TypeError(
            "grid must be a dict of lists of values by parameter, or a list of such dicts, "
            f"got {shown(subgrid)}"
        )
    valid = sorted(set(estimator.get_params(deep=False)) - set(NOT_TUNED))
    for name, values in subgrid.items():
        if name in NOT_TUNED:
            raise ValueError(
                f"grid has {name!r}, which is not chosen by tuning: set it in the estimator; "
                f"these can be chosen: {', '.join(valid)}"
            )
        if name not in valid:
            raise ValueError(
                f"grid has {name!r}, which is not a parameter of {type(estimator).__name__}; "
                f"valid ones: {', '.join(valid)}"
            )
        if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
            raise TypeError(f"grid[{name!r}] must be a list of values, got {shown(values)}")
        if len(values) == 0:
            raise ValueError(f"grid[{name!r}] is empty; leave {name!r} out, or list values")


def _check_values(estimator: Any, params: Params) -> None:
    """Raise at once what would otherwise be raised after hours."""
    try:
        clone(estimator).set_params(**params)._validate_params()  # noqa: SLF001
    except ValueError as error:
        raise ValueError(f"grid has a value that is not allowed: {error}") from error


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; True and 1 are different parameters."""
    if isinstance(one, bool | np.bool_) != isinstance(other, bool | np.bool_):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = distinct(one), distinct(other)
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return bool(one is other or np.all(one == other))
