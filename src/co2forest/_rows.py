"""Turns validated data into the rows that the native core reads, without a copy where it can."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest import _native
from co2forest._losses import row_losses
from co2forest._scaling import FitSome, choose_scale

# What is read as it is; every other dtype becomes the first.
ROW_DTYPES = (np.float32, np.uint8)


def plain_rows(X: Any) -> npt.NDArray[Any] | None:
    """What scikit-learn's validation makes of a plain array of numbers; None for all else.

    It finds that out in 1/20 of the time, which matters where rows are predicted one by one, and
    without a search of all installed packages for kinds of data frames, which matters in the first
    fit of a process. What may have to be rejected or reported is left to scikit-learn.
    """
    if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or X.ndim != 2 or X.size == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        dtype = X.dtype if X.dtype in ROW_DTYPES else ROW_DTYPES[0]
        rows = X.astype(dtype, order="C", copy=False)
        known_finite = rows.dtype == np.uint8 or math.isfinite(rows.sum())
    return rows if known_finite else None


def native_rows(X: Any) -> _native.Rows:
    """Rows of a C-contiguous float32 or uint8 array, or of a CSR matrix."""
    if not sp.issparse(X):
        return _native.dense_rows(aligned(X))
    X = X.astype(np.float32, copy=False)
    if not X.has_canonical_format:  # the core wants increasing columns without repeats
        X = X.copy()
        X.sum_duplicates()
    return _native.sparse_rows(
        aligned(np.ascontiguousarray(X.indptr, dtype=np.int64)),
        aligned(np.ascontiguousarray(X.indices, dtype=np.int32)),
        aligned(np.ascontiguousarray(X.data)),
        X.shape[1],
    )


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, or a copy if it begins in the middle of a number, as in a file's buffer."""
    known = array.flags.aligned and array.size > 0  # NumPy says that every empty array is aligned
    return array if known else array.copy()


Progress = Callable[[int], None] | None  # told how many trees are finished


class TrainingData(Protocol):
    """What trees can be grown from."""

    @property
    def n_rows(self) -> int:
        """The number of rows that a tree may have."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def impurity_unit(self) -> float:
        """What an impurity of one stands for, as scikit-learn reckons."""

    @property
    def loss(self) -> _native.ValueLossParams:
        """The loss of numbers."""

    def choose_scale(self, seed: int, fit_some: FitSome) -> str:
        """What ``scale="auto"`` means."""

    def train(
        self, mean: npt.NDArray[np.float32], params: _native.TrainParams, progress: Progress
    ) -> tuple[_native.Forest, list[tuple[int, int]]]:
        """New trees, and of each the steps and nodes; ``mean``: that of earlier ones, or empty."""


@dataclass(frozen=True)
class TrainingSet:
    """Checked training data, as the native core takes them."""

    X: Any  # as for native_rows
    # Class codes in [0, n_outputs), uint8 if that suffices, else int32; or numbers to predict,
    # float32 with a column for each output.
    targets: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]  # not negative, not all zero; empty: all one
    n_outputs: int
    impurity_unit: float = 1.0  # what an impurity of one stands for, as scikit-learn reckons
    loss: _native.ValueLossParams = field(default_factory=_native.ValueLossParams)  # of numbers
    original: npt.NDArray[np.float64] | None = None  # numbers in the user's units, if still needed
    rows: _native.Rows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", native_rows(self.X))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.count

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.rows.features

    def choose_scale(self, seed: int, fit_some: FitSome) -> str:
        """What ``scale="auto"`` means."""
        return choose_scale(self, seed, fit_some)

    def train(
        self, mean: npt.NDArray[np.float32], params: _native.TrainParams, progress: Progress
    ) -> tuple[_native.Forest, list[tuple[int, int]]]:
        """New trees, and of each the steps and nodes; ``mean``: that of earlier ones, or empty."""
        return _native.train(
            self.rows,
            aligned(self.targets),
            aligned(self.weights),
            self.n_outputs,
            aligned(mean),
            params,
            progress,
        )

    def part(self, rows: npt.NDArray[np.intp], weights: npt.NDArray[np.float32]) -> Self:
        """Some of the rows, with new weights."""
        return replace(
            self, X=self.X[rows], targets=self.targets[rows], weights=weights, original=None
        )

    def errors(self, outputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How wrong a forest's outputs are for each row: 0 or 1 for classes, else the loss."""
        if self.targets.ndim == 1:
            return np.asarray(outputs.argmax(axis=1) != self.targets, dtype=np.float64)
        return row_losses(self.loss, self.targets, outputs)
