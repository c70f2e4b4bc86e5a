"""Scores that partitions contribute to, so that no process needs all rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hits:
    """How many predictions are right, and of how many."""

    right: float
    weight: float

    @classmethod
    def of(cls, truth: npt.NDArray[Any], prediction: npt.NDArray[Any], weight: Row) -> Self:
        """Of one partition; with several labels a row must have them all right."""
        equal = np.asarray(truth == prediction)
        right = equal.all(axis=1) if equal.ndim == 2 else equal
        return cls(float(weight[right].sum()), float(weight.sum()))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.right + other.right, self.weight + other.weight)

    def score(self) -> float:
        """The accuracy."""
        return self.right / self.weight if self.weight > 0 else float("nan")


@dataclass(frozen=True)
class Residuals:
    """What is left of the variance of each output."""

    weight: float
    mean: Row
    squares: Row  # around the mean
    residual: Row  # squares around the predictions

    @classmethod
    def of(cls, truth: npt.NDArray[Any], prediction: npt.NDArray[Any], weight: Row) -> Self:
        """Of one partition."""
        truth, prediction = truth.reshape(len(truth), -1), prediction.reshape(len(truth), -1)
        total, column = float(weight.sum()), weight[:, None]
        mean = (truth * column).sum(axis=0) / max(total, 1e-300)
        return cls(
            total,
            mean,
            ((truth - mean) ** 2 * column).sum(axis=0),
            ((truth - prediction) ** 2 * column).sum(axis=0),
        )

    def __add__(self, other: Self) -> Self:
        # Chan, Golub and LeVeque 1979: sums of squares without a loss of digits.
        total = self.weight + other.weight
        if total == 0:
            return self
        distance = other.mean - self.mean
        part = other.weight / total
        return type(self)(
            total,
            self.mean + distance * part,
            self.squares + other.squares + distance**2 * (self.weight * part),
            self.residual + other.residual,
        )

    def score(self) -> float:
        """The coefficient of determination, averaged over outputs, as scikit-learn defines it."""
        if self.weight == 0:
            return float("nan")
        constant = np.where(self.residual > 0, 0.0, 1.0)
        explained = 1.0 - self.residual / np.where(self.squares > 0, self.squares, 1.0)
        return float(np.mean(np.where(self.squares > 0, explained, constant)))
