# SPDX-License-Identifier: BSD-3-Clause
"""How much a forest counts in a blend with boosting, by rows that neither has been grown on.

The weight of the forest minimises the squared error of ``w * forest + (1 - w) * boosting``. Only a
few trees leave a row out, and their votes are noisier than those of the whole forest. Taken as they
are, they would give the forest far too little weight. So the noise is taken out: two halves of the
trees are independent given the data, so that products of their votes have none of it, and how far
they differ tells how much of it the whole forest has.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.base import Floats
from co2forest.data.outputs.calibration import LeftOut

EQUAL_SHARES = 0.5
_SPREAD = 0.25  # standard deviation of weights around equal shares, before any row is seen
_GROUPS = 20  # of rows, for the jackknife; with fewer rows shares are equal
_LEAST = 1e-9  # mean squared distance of the members; closer ones may have any weight


class Judged(NamedTuple):
    """What two halves of a forest and boosting say about rows, and what is true of them."""

    first: LeftOut
    second: LeftOut
    boosted: Floats  # (rows, outputs)
    truth: Floats
    weights: npt.NDArray[np.float32]  # empty if all are one

    @classmethod
    def by_both(
        cls,
        half: LeftOut,
        whole: LeftOut,
        boosted: Floats,
        truth: Floats,
        weights: npt.NDArray[np.float32],
    ) -> "Judged":
        """Of rows that boosting held out: those left out by trees of the first half and others."""
        second = whole.used - half.used
        known = (half.used > 0) & (second > 0)
        if weights.size:
            known &= weights > 0
            weights = weights[known]
        one, both = half.some(known), whole.some(known)
        sums = both.votes * both.used[:, None] - one.votes * one.used[:, None]
        rest = second[known]
        other = LeftOut(sums / rest[:, None], rest)
        return cls(one, other, boosted[known], truth[known], weights)


def forest_share(judged: Judged, n_trees: int) -> float:
    """The weight of a forest of so many trees; equal shares if few rows can tell."""
    if len(judged.truth) < _GROUPS:
        return EQUAL_SHARES
    weights = judged.weights if judged.weights.size else np.ones(len(judged.truth))
    noise = np.average(_noise_of_a_tree(judged), weights=weights) / n_trees
    gains, squares = (weights * each for each in _products(judged))
    group = np.arange(len(gains)) % _GROUPS
    in_group = np.stack([np.bincount(group, each) for each in (gains, squares, weights)])
    sums = in_group.sum(axis=1)
    if sums[1] / sums[2] + noise < _LEAST:
        return EQUAL_SHARES
    share = float(np.clip(_best(sums, noise), 0.0, 1.0))
    without = _best(sums[:, None] - in_group, noise)
    variance = float((_GROUPS - 1) * np.var(without))
    prior = _SPREAD**2
    return (share * prior + EQUAL_SHARES * variance) / (prior + variance)


def _products(judged: Judged) -> tuple[Floats, Floats]:
    """For each row: what the forest could make up for, and its squared distance from boosting."""
    (one, n_one), (two, n_two) = judged.first, judged.second
    boosted = judged.boosted
    total = (n_one + n_two)[:, None]
    votes = (one * n_one[:, None] + two * n_two[:, None]) / total
    gains = ((judged.truth - boosted) * (votes - boosted)).sum(axis=1)
    return gains, ((one - boosted) * (two - boosted)).sum(axis=1)


def _noise_of_a_tree(judged: Judged) -> Floats:
    """For each row: the variance of the vote of a single tree, by the difference of two means."""
    (one, n_one), (two, n_two) = judged.first, judged.second
    noise: Floats = ((one - two) ** 2).sum(axis=1) / (1 / n_one + 1 / n_two)
    return noise


def _best(sums: Floats, noise: float) -> Floats:
    """The share with the least squared error, from weighted sums of products and of weights."""
    gain, square, weight = sums
    best: Floats = gain / weight / np.maximum(square / weight + noise, _LEAST)
    return best
