# SPDX-License-Identifier: BSD-3-Clause
"""Where things lie in the figures of the page; ``templates/charts.html`` draws them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from co2forest.report._numbers import nice_ticks

_MOST_POINTS = 500  # of a curve, about


@dataclass(frozen=True)
class Axes:
    """A plot's inner rectangle and its scales."""

    x: tuple[float, float]
    y: tuple[float, float]
    bottom: float = 246.0
    left: float = 68.0
    right: float = 450.0
    top: float = 14.0

    def at(self, x: float) -> float:
        """Where a value of the horizontal axis lies."""
        return self.left + _fraction(x, *self.x) * (self.right - self.left)

    def up(self, y: float) -> float:
        """Where a value of the vertical axis lies."""
        return self.bottom - _fraction(y, *self.y) * (self.bottom - self.top)

    @property
    def x_ticks(self) -> list[float]:
        """Values with a number below the horizontal axis."""
        return nice_ticks(*self.x)

    @property
    def y_ticks(self) -> list[float]:
        """Values with a number beside the vertical axis."""
        return nice_ticks(*self.y, most=5)

    def points(self, x: Iterable[float], y: Iterable[float]) -> str:
        """Corners of a line, as SVG has them."""
        return " ".join(f"{self.at(a):.1f},{self.up(b):.1f}" for a, b in zip(x, y, strict=True))

    def thinned(self, x: Sequence[float], y: Sequence[float]) -> str:
        """The same for so many corners that some may be left out, but not the last."""
        step = max(1, len(x) // _MOST_POINTS)
        return self.points([*x[:-1:step], x[-1]], [*y[:-1:step], y[-1]])

    def dots(self, x: Iterable[float], y: Iterable[float]) -> str:
        """Lines without length, which SVG draws as dots."""
        places = zip(x, y, strict=True)
        return "".join(f"M{self.at(a):.1f} {self.up(b):.1f}h0" for a, b in places)


def _fraction(value: float, low: float, high: float) -> float:
    """Where a value lies between two; halves, because numbers near 1e308 have no difference."""
    return (value / 2 - low / 2) / ((high / 2 - low / 2) or 1)


def curve_axes(curve: dict[str, Any]) -> Axes:
    """Axes of an error curve, up to the base rate if it is in reach."""
    trees, highest, base = curve["trees"], max(curve["errors"]), curve["base"]
    highest = max(highest, base) if base < 4 * highest else highest
    return Axes((trees[0], trees[-1]), (0.0, highest * 1.06 or 1.0))


def reliability_axes() -> Axes:
    """Axes of a reliability diagram: probabilities."""
    return Axes((0.0, 1.0), (0.0, 1.0), bottom=286.0)


def scatter_axes(output: dict[str, Any]) -> Axes:
    """Axes with the same scale for truth and prediction."""
    numbers = [*output["truth"], *output["prediction"]]
    low, high = min(numbers), max(numbers)
    margin = (high / 2 - low / 2) * 0.08 or 1.0
    scale = (low - margin, high + margin)
    return Axes(scale, scale, bottom=346.0)


def residual_axes(histogram: dict[str, Any]) -> Axes:
    """Axes of a histogram of errors."""
    edges = histogram["edges"]
    return Axes((edges[0], edges[-1]), (0.0, max(histogram["counts"]) * 1.05), bottom=346.0)
