"""Costs of confusions: ``cost_matrix[i][j]`` is that of deciding for class j where i is true."""

from typing import Any

import numpy as np
import numpy.typing as npt


def checked_costs(cost_matrix: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Costs in the order of the classes; raises unless they are costs."""
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


def relative(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Costs in units of the largest."""
    largest = float(costs.max())
    return costs / largest if largest > 0 else costs


def without_overflow(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Costs times a power of two, because sums of 1e308 would overflow."""
    small: npt.NDArray[np.float64] = np.ldexp(costs, -np.frexp(costs.max())[1])
    return small


def least_cost(
    probabilities: npt.NDArray[np.float64], costs: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """The decision with the least expected cost for each row; of equal ones the first.

    Costs are added in the order of classes: a matrix product adds them in an order of its own, so
    that ties would depend on the machine and on how many rows there are.
    """
    expected = np.zeros_like(probabilities)
    for probability, row in zip(probabilities.T, without_overflow(costs), strict=True):
        expected += probability[:, None] * row
    decided: npt.NDArray[np.intp] = expected.argmin(axis=1)
    return decided
