# SPDX-License-Identifier: BSD-3-Clause
"""How much each feature of a hyperplane had to do with the side that a row took.

With ``z = w.x - t`` and ``d_j = w_j (x_j - mean_j)``, both positive towards the side taken, let
``q_j = (w_j spread_j)^2 / s^2`` be the fraction of the projection's variance ``s^2`` that is due to
feature j. The push of a feature is its share of z, measured from the point of the hyperplane that
is nearest to the mean row in units of the spreads:

    push_j = d_j + (z - sum_i d_i) q_j          sum_j push_j = z

``push_j / z`` would be a share, but near the hyperplane pushes cancel and shares explode. There,
only what features do in a typical row is known, which is q_j. So a share is the weighted mean of
both, the first with weight z, the second with two standard deviations:

    share_j = (push_j + 2 s q_j) / (z + 2 s) = q_j + (d_j - q_j sum_i d_i) / (z + 2 s)

Shares sum to one. A single feature has the share one, and one that spoke for the other side may
have a negative share. The divisor is at least half of ``sum_j |d_j|``, so that the absolute values
of the shares sum to at most five, even for outliers that cancel each other.

Among several rules this one came closest to exact Shapley values (docs/inspection.md).
"""

from typing import NamedTuple

import numpy as np

from co2forest.data.outputs.base import Floats

_TYPICAL = 2.0  # weight of a typical row, in standard deviations
_MOST = 2.0  # sum of absolute deviations, in units of the divisor


class Coefficients(NamedTuple):
    """What a share is made of: ``deviation * w_j (x_j - mean_j) + variance * (w_j spread_j)^2``."""

    deviation: Floats
    variance: Floats


def coefficients(
    signed: Floats, absolute: Floats, variance: Floats, level: Floats, side: Floats
) -> Coefficients:
    """Coefficients of all shares of hyperplanes.

    Given are sums over features: of ``w_j (x_j - mean_j)``, of their absolute values, and of
    ``(w_j spread_j)^2``; ``level`` is what the mean row projects to, less the threshold, and
    ``side`` is 1 where the row went right, -1 where it went left.
    """
    deviation = np.sqrt(variance)
    # Zero where the core, which adds in another order, found the row on the other side.
    distance = np.maximum(side * (signed + level), 0.0)
    divisor = np.maximum(distance + _TYPICAL * deviation, absolute / _MOST)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_deviation = side / divisor
        by_variance = (1.0 - by_deviation * signed) / variance
    known = variance > 0  # weights are never all zero, unless somebody made them so
    return Coefficients(np.where(known, by_deviation, 0.0), np.where(known, by_variance, 0.0))


def squared_spreads(spread: Floats) -> Floats:
    """Squares that are not zero: features that were constant in training share by weight alone."""
    # The least square of float32 is 1e-90, times w^2 > 1e-80.
    return np.maximum(spread**2, 1e-60)
