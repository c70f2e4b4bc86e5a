# SPDX-License-Identifier: BSD-3-Clause
"""Forest cells for the report: means over seeds, and whether a difference is noise."""

import math
import statistics
from typing import NamedTuple

from paper import cells


class Point(NamedTuple):
    """The test error of forests of one size, in percent."""

    error: float
    test_rows: int

    @property
    def standard_error(self):
        """The standard error of a fraction of independent test rows."""
        part = self.error / 100
        return 100 * math.sqrt(part * (1 - part) / self.test_rows)


class Curve(NamedTuple):
    """One method on one set."""

    kind: str  # the kind of the set
    points: dict  # by size
    trees: int  # wanted
    reached: int  # the fewest over all seeds
    cpu_per_tree: float

    def largest(self, size):
        """The largest size measured that is no larger than this one, or None."""
        return max((other for other in self.points if other <= size), default=None)


def curves(folder):
    """Curves by set and method."""
    groups = {}
    for row in cells.read(folder, "forest"):
        groups.setdefault((row["set"], row["method"]), []).append(row)
    return {key: _curve(rows) for key, rows in groups.items()}


def _curve(rows):
    errors = {}
    for row in rows:
        if row["error_percent"]:
            errors.setdefault(int(row["size"]), []).append(float(row["error_percent"]))
    test_rows = int(rows[0]["test_rows"])
    return Curve(
        kind=rows[0]["kind"],
        points={size: Point(statistics.fmean(errors[size]), test_rows) for size in sorted(errors)},
        trees=max(int(row["trees"]) for row in rows),
        reached=min(int(row["reached"]) for row in rows),
        cpu_per_tree=statistics.fmean(float(row["cpu_seconds_per_tree"]) for row in rows),
    )


def noise(one, other):
    """Twice the standard error of the difference: smaller differences mean nothing.

    Both errors come from the same test rows. Ignoring this makes the limit a careful one.
    """
    return 2 * math.hypot(one.standard_error, other.standard_error)


def outcome(smaller, larger):
    """Whether the first error is smaller, as it should be."""
    if abs(smaller.error - larger.error) < noise(smaller, larger):
        return "within noise"
    return "holds" if smaller.error < larger.error else "fails"
