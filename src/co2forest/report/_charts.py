"""Figures of the page, drawn as SVG without a script; colours come from the style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from co2forest.report._html import Html, tag
from co2forest.report._numbers import nice_ticks, number, percent, whole

_WIDTH = 480.0


@dataclass(frozen=True)
class Axes:
    """A plot's inner rectangle and its scales."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 68.0
    right: float = 450.0
    top: float = 14.0
    bottom: float = 246.0

    def at(self, x: float) -> float:
        """Where a value of the horizontal axis lies."""
        return self.left + _part(x, *self.x) * (self.right - self.left)

    def up(self, y: float) -> float:
        """Where a value of the vertical axis lies."""
        return self.bottom - _part(y, *self.y) * (self.bottom - self.top)

    def drawn(self, x_name: str, y_name: str, x_form: Any = number, y_form: Any = number) -> Html:
        """Grid lines, numbers and names."""
        parts = []
        for tick in nice_ticks(*self.y, most=5):
            y = self.up(tick)
            parts += [
                tag("line", class_="grid", x1=self.left, x2=self.right, y1=y, y2=y),
                tag("text", y_form(tick), x=self.left - 7, y=y + 4, class_="end"),
            ]
        for tick in nice_ticks(*self.x):
            x = self.at(tick)
            parts += [
                tag("line", class_="tick", x1=x, x2=x, y1=self.bottom, y2=self.bottom + 5),
                tag("text", x_form(tick), x=x, y=self.bottom + 19, class_="middle"),
            ]
        middle = (self.left + self.right) / 2
        height = (self.top + self.bottom) / 2
        parts += [
            tag("line", class_="axis", x1=self.left, x2=self.right, y1=self.bottom, y2=self.bottom),
            tag("text", x_name, x=middle, y=self.bottom + 40, class_="middle name"),
            tag(
                "text",
                y_name,
                x=0,
                y=0,
                class_="middle name",
                transform=f"translate(13 {height}) rotate(-90)",
            ),
        ]
        return tag("g", parts, class_="axes")


def _part(value: float, low: float, high: float) -> float:
    """Where a value lies between two; halves, because numbers near 1e308 have no difference."""
    return (value / 2 - low / 2) / ((high / 2 - low / 2) or 1)


def _figure(parts: Any, about: str, height: float) -> Html:
    return tag(
        "svg",
        parts,
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        class_="chart",
        role="img",
        aria_label=about,
    )


def error_curve(curve: dict[str, Any], *, share: bool) -> Html:
    """The error against the number of trees, with the base rate if it is in reach."""
    form = percent if share else number
    trees, errors, base = curve["trees"], curve["errors"], curve["base"]
    highest = max(*errors, base) if base < 4 * max(errors) else max(errors)
    axes = Axes((trees[0], trees[-1]), (0.0, highest * 1.06 or 1.0))
    points = " ".join(f"{axes.at(t):.1f},{axes.up(e):.1f}" for t, e in _thinned(trees, errors))
    parts = [axes.drawn("trees", "error", whole, _plain_percent if share else number)]
    if base <= axes.y[1]:
        y = axes.up(base)
        parts += [
            tag("line", class_="reference", x1=axes.left, x2=axes.right, y1=y, y2=y),
            tag(
                "text",
                f"base rate {form(base)}",
                x=axes.right,
                y=y - 6 if y > 26 else y + 16,
                class_="end",
            ),
        ]
    parts += [
        tag("polyline", points=points, class_="line"),
        tag("circle", cx=axes.at(trees[-1]), cy=axes.up(errors[-1]), r=4, class_="dot"),
        tag(
            "text",
            form(errors[-1]),
            x=axes.right,
            y=axes.up(errors[-1]) - 10,
            class_="end strong",
        ),
    ]
    about = (
        f"Error with {trees[0]} tree {form(errors[0])}, with {trees[-1]} trees {form(errors[-1])}"
    )
    return _figure(parts, about, 296)


def _plain_percent(share: float) -> str:
    return f"{number(100 * share, 3)} %"


def _thinned(trees: Sequence[int], errors: Sequence[float]) -> list[tuple[int, float]]:
    """At most about 500 points, the last one among them."""
    step = max(1, len(trees) // 500)
    kept = list(zip(trees, errors, strict=True))
    return [*kept[:-1][::step], kept[-1]]


def reliability(calibration: dict[str, Any]) -> Html:
    """What is said against what happens, with the number of rows below."""
    axes = Axes((0.0, 1.0), (0.0, 1.0), bottom=286.0)
    bins = calibration["bins"]
    parts = [
        axes.drawn("probability", "part that came true", _plain_percent, _plain_percent),
        tag("line", class_="reference", x1=axes.at(0), y1=axes.up(0), x2=axes.at(1), y2=axes.up(1)),
    ]
    line = " ".join(f"{axes.at(b['said']):.1f},{axes.up(b['happened']):.1f}" for b in bins)
    parts.append(tag("polyline", points=line, class_="line"))
    largest = max(b["count"] for b in bins)
    floor, tallest = 394.0, 52.0
    for b in bins:
        x, happened = axes.at(b["said"]), axes.up(b["happened"])
        width = axes.at(b["high"]) - axes.at(b["low"])
        height = tallest * b["count"] / largest
        parts += [
            tag("line", class_="gap", x1=x, x2=x, y1=axes.up(b["said"]), y2=happened),
            tag("circle", cx=x, cy=happened, r=5, class_="dot"),
            tag(
                "rect",
                x=axes.at(b["low"]) + 2,
                width=width - 4,
                y=floor - height,
                height=height,
                class_="bar",
            ),
        ]
    parts += [
        tag("line", class_="axis", x1=axes.left, x2=axes.right, y1=floor, y2=floor),
        tag("text", "rows", x=axes.left - 7, y=floor - 4, class_="end"),
    ]
    about = (
        f"Reliability diagram: expected calibration error {percent(calibration['expected_error'])}"
    )
    return _figure(parts, about, 404)


def scatter(output: dict[str, Any]) -> Html:
    """Predictions against the truth; on the line they agree."""
    truth, prediction = output["truth"], output["prediction"]
    low, high = min(*truth, *prediction), max(*truth, *prediction)
    margin = (high / 2 - low / 2) * 0.08 or 1.0
    axes = Axes((low - margin, high + margin), (low - margin, high + margin), bottom=346.0)
    parts = [
        axes.drawn("truth", "prediction"),
        tag(
            "line",
            class_="reference",
            x1=axes.at(low),
            y1=axes.up(low),
            x2=axes.at(high),
            y2=axes.up(high),
        ),
    ]
    dots = "".join(
        f"M{axes.at(t):.1f} {axes.up(p):.1f}h0" for t, p in zip(truth, prediction, strict=True)
    )
    parts.append(tag("path", d=dots, class_="dots" if len(truth) > 300 else "dots few"))
    return _figure(parts, f"Predictions against the truth, {len(truth)} rows", 396)


def residuals(output: dict[str, Any]) -> Html:
    """How often which error occurs."""
    edges, counts = output["residuals"]["edges"], output["residuals"]["counts"]
    axes = Axes((edges[0], edges[-1]), (0.0, max(counts) * 1.05), bottom=346.0)
    parts = [axes.drawn("prediction minus truth", "rows", number, whole)]
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        if count:
            y = axes.up(count)
            width = axes.at(high) - axes.at(low) - 1
            parts.append(
                tag(
                    "rect",
                    x=axes.at(low) + 0.5,
                    y=y,
                    width=width,
                    height=axes.bottom - y,
                    class_="bar",
                )
            )
    zero = axes.at(0)
    parts.append(tag("line", class_="reference", x1=zero, x2=zero, y1=axes.top, y2=axes.bottom))
    return _figure(parts, "Distribution of the errors", 396)


def bar(share: float) -> Html:
    """A bar of a table, a share of its cell."""
    rect = tag("rect", width=100 * share, height=10, class_="bar")
    return tag(
        "svg",
        rect,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="cellbar",
        aria_hidden="true",
    )
