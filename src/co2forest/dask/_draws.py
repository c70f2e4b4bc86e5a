# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of which partition a tree draws.

Draws depend on (seed, tree, partition) and on the partitions' sizes, never on the workers, their
number or the order in which they finish. Together they are what one draw from all rows would be,
wherever the rows are.
"""

import math

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

PILOT = -1  # in the place of a tree: the rows on which a fit tries what its parameters leave open
_SPREAD = 0  # in the place of a partition: how many rows each of them gives


def draws_per_partition(
    sizes: npt.NDArray[np.int64], n_draws: int, seed: int, tree: int, *, replace: bool
) -> npt.NDArray[np.int64]:
    """How many of a tree's draws fall on each partition."""
    random = _stream(seed, tree, _SPREAD)
    if replace:
        return random.multinomial(n_draws, sizes / sizes.sum()).astype(np.int64)
    draws = np.zeros(len(sizes), dtype=np.int64)
    rows_left, draws_left = int(sizes.sum()), n_draws
    for i, size in enumerate(sizes.tolist()):
        others = rows_left - size
        if others == 0:
            draws[i] = draws_left
        elif size > 0 and draws_left > 0:
            draws[i] = random.hypergeometric(size, others, draws_left)
        rows_left, draws_left = others, draws_left - int(draws[i])
    return draws


def draw_rows(
    size: int, n_draws: int, seed: int, tree: int, partition: int, *, replace: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The different rows of a partition that a tree draws, increasing, and how often each."""
    random = _stream(seed, tree, partition + 1)
    if replace:
        return np.unique(random.randint(size, size=n_draws), return_counts=True)
    if n_draws == size:
        rows = np.arange(size)
    else:
        rows = np.sort(sample_without_replacement(size, n_draws, random_state=random))
    return rows, np.ones(n_draws, dtype=np.int64)


def expected_distinct(n_rows: int, n_draws: int, *, replace: bool) -> int:
    """About how many different rows a tree has."""
    if not replace:
        return n_draws
    return max(1, round(-n_rows * math.expm1(-n_draws / n_rows)))


def _stream(seed: int, tree: int, partition: int) -> np.random.RandomState:
    """Random numbers that NumPy promises never to change, unlike those of its newer generators."""
    entropy = np.random.SeedSequence([seed, tree + 1, partition])
    return np.random.RandomState(np.random.MT19937(entropy))
