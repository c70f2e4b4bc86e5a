"""Which rows train and which judge."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from co2forest.tuning._scores import Rows, UnseenRows


class Problem(NamedTuple):
    """Checked data, as they were given where that can be cut into parts, and what they mean."""

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    groups: npt.NDArray[Any] | None
    classes: bool  # whether y holds labels
    n_features: int


class Part(NamedTuple):
    """Rows to train on, and others, or the same for out-of-bag estimates, to judge by."""

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    unseen: UnseenRows


def everything(problem: Problem) -> Part:
    """All rows for both purposes."""
    unseen = UnseenRows(problem.X, problem.y, problem.weights)
    return Part(problem.X, problem.y, problem.weights, unseen)


def hold_outs(problem: Problem, size: float, n_splits: int, seed: int) -> list[Part]:
    """Random parts, stratified by class or else by whole groups."""
    return [
        _part(problem, train, test)
        for train, test in _rows_of_splits(problem, size, n_splits, seed)
    ]


def _rows_of_splits(
    problem: Problem, size: float, n_splits: int, seed: int
) -> list[tuple[Rows, Rows]]:
    y, groups = problem.y, problem.groups
    rows = np.zeros((len(y), 1))
    if len(y) < 2:
        raise ValueError(f"a hold-out needs at least 2 rows, but X has {len(y)}")
    if groups is not None:
        if len(np.unique(groups)) < 2:
            raise ValueError(
                f"groups has one value only, {groups[0]!r}; a hold-out needs at least 2 groups"
            )
        splitter = GroupShuffleSplit(n_splits, test_size=size, random_state=seed)
        return list(splitter.split(rows, y, groups))
    if problem.classes:
        splitter = StratifiedShuffleSplit(n_splits, test_size=size, random_state=seed)
        try:
            return list(splitter.split(rows, y))
        except ValueError:  # a class with one row, or more classes than rows held out
            counts = np.unique(y, return_counts=True)[1]
            warnings.warn(
                f"the hold-out is not stratified: {len(counts)} classes, the smallest with "
                f"{counts.min()} of {len(y)} rows, do not allow it",
                stacklevel=4,
            )
    return list(ShuffleSplit(n_splits, test_size=size, random_state=seed).split(rows))


def _part(problem: Problem, train: Rows, test: Rows) -> Part:
    everything = UnseenRows(problem.X, problem.y, problem.weights)
    seen = everything.part(train)
    unseen = everything.part(test)
    if unseen.weights is not None and not unseen.weights.any():
        raise ValueError(
            "sample_weight is zero for all rows held out; set a larger holdout_size, or leave "
            "rows without weight out"
        )
    return Part(seen.X, seen.y, seen.weights, unseen)
