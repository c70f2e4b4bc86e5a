# SPDX-License-Identifier: BSD-3-Clause
"""Classes whose confusions have costs: ``cost_matrix[i][j]`` is paid for j where i is true."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest.data.losses import Loss
from co2forest.data.outputs.base import Codes, Floats, Impurity, Stored
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.labels import BITS
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields

_CELLS_AT_ONCE = 1 << 22  # of the indicators


@dataclass(frozen=True, eq=False)
class CostOutputs(ClassOutputs):
    """Probabilities of classes; the prediction is the class with the least expected cost."""

    costs: npt.NDArray[np.float64]

    def training_set(
        self, X: Any, encoded: npt.NDArray[Any], weights: npt.NDArray[np.float32]
    ) -> TrainingSet:
        """Rows with an indicator of their class as numbers to predict."""
        # In pieces, so that Ctrl-C has its moments: thousands of classes have millions of costs,
        # and indicators of hundreds of megabytes.
        costs = chain.from_iterable(row.tolist() for row in _relative(self.costs))
        loss = Loss("cost", costs=tuple(costs))
        ones = np.zeros((len(encoded), self.n_outputs), dtype=np.float32)
        at_once = max(1, _CELLS_AT_ONCE // self.n_outputs)
        for begin in range(0, len(encoded), at_once):
            some = encoded[begin : begin + at_once]
            ones[np.arange(begin, begin + len(some)), some] = 1.0
        return TrainingSet(X, ones, weights, self.n_outputs, BITS, loss)

    def truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Labels from indicators."""
        return super().truth(targets.argmax(axis=1))

    @property
    def decision_costs(self) -> Floats:
        """The costs, scaled so that sums of them are finite."""
        return without_overflow(self.costs)

    def codes(self, raw: Floats) -> Codes:
        """Number the class with the least expected cost."""
        return least_cost(raw, self.costs)

    @property
    def impurity(self) -> Impurity:
        """The loss of the best decision, in bits."""
        return Impurity("loss", BITS)

    def stored(self) -> Stored:
        """The classes, and the costs."""
        fields, arrays = super().stored()
        return fields, arrays | {"cost_matrix": self.costs}

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read the classes and costs of a file."""
        classes = fields.labels("classes")
        return cls(classes, fields.array("cost_matrix", (len(classes), len(classes))))

    def check(self) -> None:
        """Raise unless the costs are costs."""
        super().check()
        try:
            checked_costs(self.costs, self.classes)
        except ValueError as error:
            raise ModelFormatError(str(error)) from error


def checked_costs(cost_matrix: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Costs as an array in the order of the classes; raises unless they are costs."""
    k = len(classes)
    right = (
        "cost_matrix must be a square array of numbers with a row and a column for each of the "
        f"{k} classes {classes.tolist()[:10]}"
    )
    try:
        costs = np.array(cost_matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{right}, got {cost_matrix!r}") from error
    if costs.shape != (k, k):
        raise ValueError(f"{right}, got shape {costs.shape}")
    wrong = np.argwhere(~(np.isfinite(costs) & (costs >= 0)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"cost_matrix[{i}][{j}]={costs[i, j]} must be a finite number that is not negative"
        )
    if costs.diagonal().any():
        i = int(np.flatnonzero(costs.diagonal())[0])
        raise ValueError(
            f"cost_matrix[{i}][{i}]={costs[i, i]} must be zero: a right decision costs nothing"
        )
    if k > 1 and not costs.any():
        raise ValueError("cost_matrix is zero everywhere; at least one mistake must cost something")
    return costs


def _relative(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Divide costs by the largest."""
    largest = float(costs.max())
    return costs / largest if largest > 0 else costs


def without_overflow(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Multiply costs by a power of two, because sums of 1e308 would overflow."""
    small: npt.NDArray[np.float64] = np.ldexp(costs, -np.frexp(costs.max())[1])
    return small


def least_cost(
    probabilities: npt.NDArray[np.float64], costs: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """Number of the decision with the least expected cost for each row; the first of equal ones.

    Costs are added in the order of classes: a matrix product adds them in an order of its own, so
    that ties would depend on the machine and on how many rows there are.
    """
    expected = np.zeros_like(probabilities)
    for probability, row in zip(probabilities.T, without_overflow(costs), strict=True):
        expected += probability[:, None] * row
    decided: npt.NDArray[np.intp] = expected.argmin(axis=1)
    return decided
