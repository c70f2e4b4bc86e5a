# SPDX-License-Identifier: BSD-3-Clause
"""Numbers to predict, in the units in which the core sees them.

The core sees targets of median zero and spread one, so that nothing depends on their unit, and
single precision loses nothing of a large common part. The median, because float32 has its finest
steps near zero: there most targets are, even if a few are a million times as large. Counts keep
their zero, and their mean becomes one.
"""

import numpy as np
import numpy.typing as npt

from co2forest.data.losses import Loss

FARTHEST = 1e15  # the core takes no larger targets: squares must fit float32
_ROBUST = 1.4826  # standard deviation of normal numbers, in median absolute deviations


def units_of(
    y: npt.NDArray[np.float64], weights: npt.NDArray[np.float32], loss: Loss
) -> npt.NDArray[np.float64]:
    """Offset and unit of each column; the unit of a constant is one."""
    if len(weights):
        y, weights = y[weights > 0], weights[weights > 0]
    else:
        weights = np.ones(len(y), dtype=np.float32)
    exponent = np.frexp(np.abs(y).max(axis=0))[1]  # squares of numbers near 1e300 would overflow
    small = np.ldexp(y, -exponent)
    if loss.traits.centre == "zero":
        offset = np.zeros(y.shape[1])
        distance, spread = small, np.average(small, axis=0, weights=weights)
    else:
        offset = _weighted_medians(small, weights)
        distance = small - offset
        mean = np.average(distance, axis=0, weights=weights)
        spread = np.sqrt(np.average((distance - mean) ** 2, axis=0, weights=weights))
    if loss.traits.spread == "robust":
        robust = _ROBUST * _weighted_medians(np.abs(distance), weights)
        spread = np.where(robust > 0, robust, spread)
    # A row of hardly any weight may lie far out.
    spread = np.maximum(spread, np.abs(distance).max(axis=0) / (FARTHEST / 1000))
    offset, unit = np.ldexp(offset, exponent), np.ldexp(spread, exponent)
    unit[~(unit > 0.0)] = 1.0
    return np.stack([offset, unit])


def widened(
    units: npt.NDArray[np.float64],
    sample: npt.NDArray[np.float64],
    extremes: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Make the units of a sample wide enough for all rows, whose extremes are two rows."""
    offset, unit = units
    low, high = extremes / 2  # half of a difference always is a finite number
    farthest = np.maximum(high - offset / 2, offset / 2 - low)
    constant = sample.min(axis=0) == sample.max(axis=0)
    unit = np.where(constant & (farthest > 0), np.minimum(2 * farthest, 1e308), unit)
    return np.stack([offset, np.maximum(unit, farthest / (FARTHEST / 2000))])


def _weighted_medians(
    columns: npt.NDArray[np.float64], weights: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """The least value of each column with half of the weight at or below it."""
    medians = []
    for values in columns.T:
        order = np.argsort(values, kind="stable")
        below = np.cumsum(weights[order], dtype=np.float64)
        medians.append(values[order][np.searchsorted(below, below[-1] / 2)])
    return np.array(medians)


def standardised(
    y: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float32],
    units: npt.NDArray[np.float64],
) -> npt.NDArray[np.float32]:
    """Targets as the core takes them."""
    offset, unit = units / 2  # half of a difference always is a finite number
    targets = (y / 2 - offset) / unit
    if len(weights):
        targets[weights == 0] = 0.0  # of rows that do not count
    far = np.abs(targets) > FARTHEST
    if far.any():
        row = int(np.flatnonzero(far.any(axis=1))[0])
        raise ValueError(
            f"y[{row}]={y[row].tolist()} is more than {FARTHEST:.0e} standard deviations of y in "
            "the first fit away from its median; without warm_start y gets a new unit"
        )
    return np.ascontiguousarray(targets, dtype=np.float32)


def impurity_unit(units: npt.NDArray[np.float64], loss: Loss) -> float:
    """What an impurity of one stands for in units of y.

    scikit-learn's is the mean over outputs, the core's their sum.
    """
    unit = np.minimum(units[1], 1e150)
    per_output = unit**2 if loss.traits.squared_unit else unit
    return max(float(np.mean(per_output)) / len(unit), 1e-300)


def check_range(y: npt.NDArray[np.float64], weights: npt.NDArray[np.float32], loss: Loss) -> None:
    """Raise unless the loss can take the targets."""
    low = y < loss.traits.lowest
    if low.any():
        row = int(np.flatnonzero(low.any(axis=1))[0])
        raise ValueError(
            f"y[{row}]={y[row].tolist()} is negative, but loss={loss.name!r} is for counts and "
            "rates, which are not"
        )
    counted = y[weights > 0] if len(weights) else y
    empty = ~(counted > 0).any(axis=0)
    if loss.traits.needs_positive and empty.any():
        column = "y" if y.shape[1] == 1 else f"y[:, {int(np.flatnonzero(empty)[0])}]"
        raise ValueError(
            f"{column} is zero in every row that has a weight, but loss={loss.name!r} needs a "
            "positive one"
        )
