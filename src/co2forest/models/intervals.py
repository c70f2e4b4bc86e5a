# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals: Wilson's of a proportion, and the bootstrap's of everything else."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from co2forest.data.outputs.base import Floats

# From weights of rows, (resamples, rows), to a number for each resample; NaN if it has none.
Statistic = Callable[[Floats], Floats]

_SEED = 20151116
_QUANTILES = (0.025, 0.975)
_NORMAL = 1.959964  # the quantile 0.975 of the normal distribution
_BLOCK = 2**21  # weights that exist at a time
_WORK = 10**7  # weights in all, as long as the number of resamples stays between these:
_FEWEST, _MOST = 200, 1000


def wilson(share: float, weights: Floats) -> tuple[float, float]:
    """Interval of a proportion; weights count as many rows as have the same standard error."""
    n = float(weights.sum() ** 2 / (weights**2).sum())
    square = _NORMAL**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def n_resamples(n_rows: int) -> int:
    """Fewer for more rows, of which intervals depend less on chance."""
    return int(np.clip(_WORK // n_rows, _FEWEST, _MOST))


def bootstrap(statistics: list[Statistic], weights: Floats) -> list[tuple[float, float] | None]:
    """Percentile intervals of statistics; None where rows do not tell.

    A resample draws as many rows as there are, with replacement; the seed is fixed, so that the
    same data give the same intervals.
    """
    n_rows = len(weights)
    if n_rows < 2:
        return [None] * len(statistics)
    random = np.random.default_rng(_SEED)
    total = n_resamples(n_rows)
    step = max(1, _BLOCK // n_rows)
    drawn: list[list[Floats]] = [[] for _ in statistics]
    for begin in range(0, total, step):
        counts = [
            np.bincount(random.integers(0, n_rows, n_rows), minlength=n_rows)
            for _ in range(min(step, total - begin))
        ]
        resampled = np.stack(counts) * weights
        resampled = resampled[resampled.sum(axis=1) > 0]  # most weights may be zero
        for values, statistic in zip(drawn, statistics, strict=True):
            values.append(statistic(resampled))
    return [_interval(np.concatenate(values)) for values in drawn]


def _interval(values: Floats) -> tuple[float, float] | None:
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, _QUANTILES)
    return float(low), float(high)
