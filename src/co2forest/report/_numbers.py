# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the page writes them, and where they lie in its figures.

``templates/charts.html`` draws the figures.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

NOTHING = "\N{EN DASH}"  # in place of a number that is none
_MOST_POINTS = 500  # of a curve, about


def number(value: float | None, digits: int = 4, *, all_digits: bool = False) -> str:
    """With so many digits, and without zeros at their end unless ``all_digits`` are wanted."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e9:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{float(f'{value:.{digits}g}'):,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text and not all_digits else text
        return minus(text.replace(",", "\u202f"))
    return minus(f"{value:.{digits}g}")


def exact(value: float | None) -> str:
    """With all of four digits, to be compared with others."""
    return number(value, all_digits=True)


def reading(value: float | None) -> str:
    """As a table of data has it: five digits, but never less than the digits before the point."""
    if value is None or not 1e5 <= abs(value) < 1e9:
        return number(value, 5)
    return number(value, 1 + math.floor(math.log10(abs(value))))


def percent(share: float | None) -> str:
    """A share of one in percent; with a second decimal close to 0 or 100."""
    if share is None or not math.isfinite(share):
        return NOTHING
    decimals = 2 if 0 < share < 0.0995 or 0.9 < share < 1 else 1
    return minus(f"{100 * share:.{decimals}f}\u00a0%")


def short_percent(share: float) -> str:
    """The same for the ticks of an axis."""
    return f"{number(100 * share, 3)} %"


def whole(count: float) -> str:
    """A count with its thousands apart."""
    if not float(count).is_integer():
        return number(count)
    return f"{int(count):,}".replace(",", "\u202f")


def size(n_bytes: int) -> str:
    """A number of bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000 or unit == "GB":
            break
        n_bytes /= 1000  # type: ignore[assignment]
    return f"{number(n_bytes, 3)}\u00a0{unit}"


def minus(text: str) -> str:
    """A real minus sign."""
    return text.replace("-", "\u2212") if "e" not in text else text


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high / most) - (low / most)  # of numbers near 1e308 the difference is none
    if not rough > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


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
