# SPDX-License-Identifier: BSD-3-Clause
"""Trees to grow, and trees that are grown."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import Progress, TrainingSet
from co2forest.fitting.plan import Plan


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees, and for each the mean number of optimiser steps per node."""

    forest: _native.Forest
    steps: npt.NDArray[np.float64]

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.forest.n_trees

    @classmethod
    def join(cls, members: list[Self]) -> Self:
        """Put forests behind each other."""
        if len(members) == 1:
            return members[0]
        forest = _native.Forest.concatenate([member.forest for member in members])
        return cls(forest, np.concatenate([member.steps for member in members]))


class TreeRange(NamedTuple):
    """Trees to grow. A tree depends on its number in the forest, not on the others.

    Trees of one forest agree on the ``mean`` of the features; if empty, it is that of all rows.
    """

    first: int
    n_trees: int
    mean: npt.NDArray[np.float32] = np.empty(0, dtype=np.float32)


class Grower(Protocol):
    """Grows trees here, in other processes, or on a cluster: always the same trees."""

    def __call__(
        self, plan: Plan, data: TrainingSet, trees: TreeRange, progress: Progress
    ) -> Grown:
        """Grow the trees of a range."""
