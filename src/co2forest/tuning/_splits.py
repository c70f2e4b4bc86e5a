# SPDX-License-Identifier: BSD-3-Clause
"""Which rows train and which judge."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from co2forest.tuning._scores import Rows, Sample


class Problem(NamedTuple):
    """Checked data, and whether they hold classes."""

    X: Any
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    groups: npt.NDArray[Any] | None
    classes: bool  # whether y holds labels
    n_features: int


class Split(NamedTuple):
    """Which rows train and which judge; None: all rows do both, for out-of-bag estimates.

    Rows are taken out only when needed, because all splits together are many times the data.
    """

    problem: Problem
    rows: tuple[Rows, Rows] | None = None

    @property
    def n_seen(self) -> int:
        """The number of rows to train on."""
        return len(self.problem.y if self.rows is None else self.rows[0])

    def judged(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64] | None]:
        """Targets and weights of the rows to judge by."""
        y, weights = self.problem.y, self.problem.weights
        if self.rows is None:
            return y, weights
        return y[self.rows[1]], None if weights is None else weights[self.rows[1]]

    def seen(self) -> Sample:
        """Rows to train on."""
        return self._take(0)

    def unseen(self) -> Sample:
        """Rows to judge by."""
        return self._take(1)

    def _take(self, side: int) -> Sample:
        everything = Sample(self.problem.X, self.problem.y, self.problem.weights)
        return everything if self.rows is None else everything.take(self.rows[side])


def hold_outs(problem: Problem, size: float, n_splits: int, seed: int) -> list[Split]:
    """Random splits by whole groups, or else stratified by class."""
    splits = _rows_of_splits(problem, size, n_splits, seed)
    if problem.weights is not None and not all(problem.weights[test].any() for _, test in splits):
        raise ValueError(
            "sample_weight is zero for all rows held out; set a larger holdout_size, or leave "
            "out rows without weight"
        )
    return [Split(problem, rows) for rows in splits]


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
