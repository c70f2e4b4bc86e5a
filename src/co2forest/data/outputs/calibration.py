# SPDX-License-Identifier: BSD-3-Clause
"""Honest probabilities from votes: what rows that trees left out say about the votes of a forest.

The votes ``p`` of ``k`` classes become ``q = (p + floor / k) / (1 + floor)``, so that no class is
impossible, and then ``q**exponent`` divided by its sum. An exponent below one makes a forest that
was too sure more modest, one above makes it surer. The order of the classes stays, so `predict`
does not change.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from co2forest.exceptions import ModelFormatError

Floats = npt.NDArray[np.float64]

_FLOOR = 0.5  # in votes of one tree: a class that no tree votes for is not impossible
_FEWEST_ROWS = 60
# The least and the largest exponent, in files too: with larger ones, the powers of all classes
# would be zero.
_RANGE = (0.1, 10.0)
_LARGEST = _RANGE[1]


@dataclass(frozen=True)
class Calibration:
    """How votes become probabilities."""

    exponent: float
    floor: float

    def __call__(self, votes: Floats) -> Floats:
        """Probabilities, in rows that sum to one."""
        k = votes.shape[1]
        q: Floats = (votes + self.floor / k) / (1 + self.floor)
        q **= self.exponent
        q /= q.sum(axis=1, keepdims=True)
        return q

    def for_trees(self, n_trees: int) -> Self:
        """The same for another number of trees, whose single votes weigh more or less."""
        return replace(self, floor=_FLOOR / n_trees)

    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""
        for name in ("exponent", "floor"):
            value: Any = getattr(self, name)
            if type(value) is not float or not 1e-6 <= value <= _LARGEST:
                raise ModelFormatError(
                    f"{name!r} must be a number from 1e-6 to {_LARGEST:g}, got {value!r}"
                )

    @classmethod
    def restore(cls, stored: Any) -> Self:
        """Read what a file says."""
        if not isinstance(stored, list) or len(stored) != 2:
            raise ModelFormatError(f"'calibration' must be two numbers, got {stored!r}")
        return cls(*stored)


class LeftOut(NamedTuple):
    """Votes of the trees that did not draw a row, and how many these are."""

    votes: Floats
    used: npt.NDArray[np.int64]

    def some(self, rows: npt.NDArray[Any]) -> "LeftOut":
        """Only some of the rows."""
        return LeftOut(self.votes[rows], self.used[rows])


def fit_calibration(
    half: LeftOut,
    whole: LeftOut,
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.float32],
    n_trees: int,
) -> Calibration | None:
    """The calibration of ``n_trees`` trees with the smallest log loss on rows left out.

    A row is left out by some of the trees only, and fewer votes look less sure. So the exponents of
    half of the trees and of the ``whole`` forest tell where that of all votes would be. None if few
    rows were left out.
    """
    first = _exponent_of(*half, codes, weights)
    second = _exponent_of(*whole, codes, weights)
    if first is None or second is None:
        return None
    return Calibration(_extrapolated(first, second), _FLOOR / n_trees)


def _exponent_of(
    votes: Floats,
    used: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.float32],
) -> float | None:
    known = used > 0
    if weights.size:
        known &= weights > 0
    if np.count_nonzero(known) < _FEWEST_ROWS:
        return None
    weights = weights[known] if weights.size else np.ones(np.count_nonzero(known), np.float32)
    floor = _FLOOR / float(used[known].mean())
    return _best_exponent(votes[known], floor, codes[known], weights)


def _extrapolated(few: float, twice_as_many: float) -> float:
    """What an exponent comes to with many trees, if its distance from that halves each time."""
    found = 2 * twice_as_many - few
    return min(max(found, _RANGE[0], twice_as_many / 2), _RANGE[1], 2 * twice_as_many)


def _best_exponent(
    votes: Floats, floor: float, codes: npt.NDArray[Any], weights: npt.NDArray[np.float32]
) -> float:
    """The exponent with the smallest log loss."""
    rows = np.arange(len(codes))
    logs = np.log((votes + floor / votes.shape[1]) / (1 + floor))
    logs -= logs.max(axis=1, keepdims=True)

    def loss(x: float) -> float:
        powers = np.exp(x) * logs
        losses = np.log(np.exp(powers).sum(axis=1)) - powers[rows, codes]
        return float(np.average(losses, weights=weights))

    options = {"xatol": 0.01}
    found = minimize_scalar(loss, bounds=np.log(_RANGE), method="bounded", options=options)
    return float(np.exp(found.x))
