# SPDX-License-Identifier: BSD-3-Clause
"""Checked training data, as the native core takes them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest import _native
from co2forest.data.columns.columns import Columns
from co2forest.data.columns.views import ColumnViews, Targets, TrainingViews, see
from co2forest.data.losses import SQUARED, Loss
from co2forest.data.rows import native_rows
from co2forest.files.arrays import aligned

Progress = Callable[[int], None] | None  # told how many trees are finished
# So many numbers of features, 64 MB, are copied out of their columns: the trees are the same, and
# the fit of a table takes a quarter less time.
_MOST_EXPANDED = 1 << 24
_NO_MEAN = np.empty(0, dtype=np.float32)


class TrainingData(Protocol):
    """What trees can be grown from: rows in memory, or windows of images."""

    @property
    def n_rows(self) -> int:
        """The number of rows that a tree may draw from."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def impurity_unit(self) -> float:
        """What an impurity of one stands for in scikit-learn's units."""

    @property
    def fixed_scale(self) -> str | None:
        """What ``scale="auto"`` stands for whatever the values are; None if they matter."""

    def train(
        self, mean: npt.NDArray[np.float32], params: _native.TrainParams, progress: Progress
    ) -> tuple[_native.Forest, list[tuple[int, int]]]:
        """Grow trees; for each, return the numbers of steps and nodes.

        ``mean`` is the mean of the features in earlier trees of the same forest, or empty.
        """


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows, targets and weights in memory."""

    X: Any  # as for native_rows
    # Class codes in [0, n_outputs), uint8 if that suffices, else int32; or numbers to predict,
    # float32 with a column for each output.
    targets: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]  # not negative, not all zero; empty if all are one
    n_outputs: int
    impurity_unit: float = 1.0
    loss: Loss = SQUARED  # ignored where targets are class codes
    original: npt.NDArray[np.float64] | None = None  # targets in the user's units, if to be kept
    views: TrainingViews | None = None  # of the columns of X; None: they are the features

    fixed_scale: ClassVar[None] = None
    n_rows: int = field(init=False)
    n_features: int = field(init=False)

    def __post_init__(self) -> None:
        n_features = self.X.shape[1] if self.views is None else self.views.of_columns.n_features
        vars(self).update(n_rows=self.X.shape[0], n_features=n_features)
        for name in ("targets", "weights") if sp.issparse(self.X) else ("X", "targets", "weights"):
            # In a message from a network they may lie anywhere.
            vars(self)[name] = aligned(getattr(self, name))

    @cached_property
    def rows(self) -> _native.Rows:
        """X as the native core reads it."""
        if self.views is None:
            return native_rows(self.X)
        if self.n_rows * self.n_features <= _MOST_EXPANDED:
            return native_rows(self.views.expand(self.X))
        return self.views.rows(self.X)

    @property
    def summary(self) -> list[int]:
        """The features for trees that see means of categories, not indicators; empty: all."""
        return [] if self.views is None else self.views.of_columns.summary

    @property
    def column_views(self) -> ColumnViews | None:
        """What the features of other rows are, if not the columns of X."""
        return None if self.views is None else self.views.of_columns

    def seen(self, columns: Columns | None, earlier: ColumnViews | None) -> Self:
        """See columns through views; a warm start keeps those there are."""
        if columns is None:
            if earlier is None:
                return self
            columns = earlier.columns
        targets = Targets(self.targets, self.n_outputs, self.weights)
        views = see(columns, self.X, targets, earlier)
        return replace(self, views=views)

    def train(
        self, mean: npt.NDArray[np.float32], params: _native.TrainParams, progress: Progress
    ) -> tuple[_native.Forest, list[tuple[int, int]]]:
        """Grow trees; for each, return the numbers of steps and nodes."""
        if self.targets.ndim == 2:  # numbers; classes have the log loss
            params.loss = self.loss.native()
        mean = aligned(mean) if mean.size else _NO_MEAN
        return _native.train(
            self.rows, self.targets, self.weights, self.n_outputs, mean, params, progress
        )

    def subset(self, rows: npt.NDArray[np.intp], weights: npt.NDArray[np.float32]) -> Self:
        """Some of the rows, with new weights."""
        return replace(
            self,
            X=self.X[rows],
            targets=self.targets[rows],
            weights=weights,
            original=None,
            views=None if self.views is None else self.views.subset(rows),
        )

    def to_send(self) -> Self:
        """Data for another process, or for another task of a Dask worker.

        They hold no native rows yet. joblib may keep what it was to send in an interrupted fit
        until the interpreter ends, and nanobind would then complain of leaked objects.
        """
        sent = object.__new__(type(self))
        vars(sent).update(self.__getstate__())
        return sent

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "rows"} | {
            "original": None
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def __sizeof__(self) -> int:
        """Bytes with those of the arrays: joblib sends large objects to a Dask worker only once."""
        X = self.X
        arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
        arrays = (*arrays, self.targets, self.weights)
        return object.__sizeof__(self) + sum(int(array.nbytes) for array in arrays)
