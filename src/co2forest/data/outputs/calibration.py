# SPDX-License-Identifier: BSD-3-Clause
"""Honest probabilities from votes: what rows that trees left out say about the votes of a forest.

The votes ``p`` of ``k`` classes become ``q = (p + floor / k) / (1 + floor)``, so that no class is
impossible, and then ``q**exponent`` divided by its sum. An exponent below one makes a forest that
was too sure more modest, one above makes it surer. The order of the classes stays, so `predict`
does not change.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from co2forest.exceptions import ModelFormatError

Floats = npt.NDArray[np.float64]

_FLOORS = (0.01, 0.1, 0.5, 1.0)  # candidates, in votes of one tree
_FEWEST_ROWS = 60
_RANGE = (0.1, 10.0)  # of the exponent
_LARGEST = 1e3  # what a file may say


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


def fit_calibration(
    votes: Floats,
    used: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.float32],
    n_trees: int,
) -> Calibration | None:
    """The calibration of ``n_trees`` trees with the smallest log loss on rows left out.

    ``votes`` are those of the ``used`` trees that did not draw a row. The floor is a fraction of one
    tree's vote, which is larger where trees are few. None if too few rows were left out.
    """
    known = used > 0
    if weights.size:
        known &= weights > 0
    if np.count_nonzero(known) < _FEWEST_ROWS:
        return None
    votes, codes, rows = votes[known], codes[known], np.arange(np.count_nonzero(known))
    weights = weights[known] if weights.size else np.ones(len(rows), dtype=np.float32)
    one_vote = 1 / float(used[known].mean())

    def loss(found: Calibration) -> float:
        return float(np.average(-np.log(found(votes)[rows, codes]), weights=weights))

    def best_with(part: float) -> tuple[float, float, float]:
        result = minimize_scalar(
            lambda x: loss(Calibration(float(np.exp(x)), part * one_vote)),
            bounds=np.log(_RANGE),
            method="bounded",
            options={"xatol": 0.01},
        )
        return float(result.fun), float(np.exp(result.x)), part

    _, exponent, part = min(best_with(part) for part in _FLOORS)
    return Calibration(exponent, part / n_trees)
