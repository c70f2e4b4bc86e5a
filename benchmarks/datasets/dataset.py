# SPDX-License-Identifier: BSD-3-Clause
"""A data set in memory."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

_ROWS_AT_ONCE = 4096

Kind = Literal["complete", "subset", "stand-in"]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Training and test part of a data set.

    Attributes
    ----------
    name : str
    kind : {"complete", "subset", "stand-in"}
        Whether this is the whole set of the paper, some of its rows, or another set for the same
        kind of task. Only results on complete sets can be compared with the paper's.
    X_train, X_test : arrays of shape (rows, features)
        uint8 where all values are such, else float32.
    y_train, y_test : arrays of int64 of shape (rows,)
        Labels from 0 to `n_classes` - 1.
    description : str
        What rows, features and labels are, and how the parts were split.
    origin : str
        Where the data come from, and under which terms.
    """

    name: str
    kind: Kind
    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[np.int64]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[np.int64]
    description: str
    origin: str

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.y_train.max()) + 1

    def __repr__(self) -> str:
        rows, features = self.X_train.shape
        return (
            f"<Dataset {self.name} ({self.kind}): {rows} + {len(self.X_test)} rows, "
            f"{features} features ({self.X_train.dtype}), {self.n_classes} classes>"
        )


def scale_by_training_range(
    X_train: npt.NDArray[Any], X_test: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Map each feature's range in training to [-1, 1]; one that is constant there becomes 0."""
    low, high = X_train.min(axis=0).astype(np.float64), X_train.max(axis=0).astype(np.float64)
    varies = high > low
    width = np.where(varies, high - low, 1)

    def scale(X: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
        scaled = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _ROWS_AT_ONCE):  # in float64 the whole would be too large
            rows = slice(start, start + _ROWS_AT_ONCE)
            # The division makes the largest value exactly 1.
            with np.errstate(over="ignore"):
                scaled[rows] = (X[rows] - low) / width * 2 - 1
        scaled[:, ~varies] = 0
        if not np.isfinite(scaled).all():
            feature = int(np.flatnonzero(~np.isfinite(scaled).all(axis=0))[0])
            raise ValueError(
                f"scaled=True: {name} has a value of feature {feature} that is too far outside of "
                f"its range in training, {low[feature]:g} to {high[feature]:g}, for float32"
            )
        return scaled

    return scale(X_train, "X_train"), scale(X_test, "X_test")
