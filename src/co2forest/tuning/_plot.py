# SPDX-License-Identifier: BSD-3-Clause
"""A heat map of the scores of a search."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from co2forest.tuning.result import TuningResult

_Place = tuple[Any, Any]  # values along the axes


def heat_map(result: "TuningResult", ax: Any, x: str, y: str | None) -> Any:
    """Draw the best score for each pair of values; the chosen cell has a frame."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot needs matplotlib: pip install matplotlib, or co2forest[plot]"
        ) from error
    for name, value in (("x", x), ("y", y)):
        if value not in result.parameters and not (name == "y" and value is None):
            raise ValueError(
                f"{name}={value!r} does not vary in this search; these do: "
                f"{', '.join(result.parameters) or 'none'}"
            )
    cells = _best_of_cells(result, x, y)
    columns = _in_order(column for column, _ in cells)
    lines = _in_order(line for _, line in cells)
    # Scores of forests of different sizes do not compare; differences at equal size do.
    better = np.full((len(lines), len(columns)), np.nan)
    for (column, line), row in cells.items():
        better[lines.index(line), columns.index(column)] = row["difference"]
    if ax is None:
        size = (2.4 + 1.0 * len(columns), 1.8 + 0.6 * len(lines))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    image = ax.imshow(better, cmap="viridis", aspect="auto", origin="lower")
    ax.figure.colorbar(image, ax=ax, label=f"difference of {result.scoring} to as given")
    ax.set_xticks(range(len(columns)), map(str, columns))
    ax.set_yticks(range(len(lines)), map(str, lines))
    ax.set_xlabel(x)
    ax.set_ylabel(y or "")
    known = better[~np.isnan(better)]
    middle = (known.min() + known.max()) / 2 if len(known) else 0.0
    most_trees = max(row["trees"] for row in result.table)
    for (column, line), row in cells.items():
        place = columns.index(column), lines.index(line)
        _write_cell(ax, place, row, middle, most_trees)
    given = result.table[0]
    chosen = " (chosen)" if given["chosen"] else ""
    ax.set_title(f"as given: {_text(given['score'])}{chosen}", fontsize="medium")
    return ax


def _best_of_cells(result: "TuningResult", x: str, y: str | None) -> dict[_Place, dict[str, Any]]:
    """For each pair of values the chosen row, or else the one with most trees and best score.

    The values as given have a cell only if it lies in a column or line of the others; they are in
    the title anyway.
    """
    places = [(_plain(row[x]), _plain(row[y]) if y else "") for row in result.table]
    given = places[0]
    others = [place for place in places if place != given]
    beside = any(given[0] == column or given[1] == line for column, line in others)
    cells: dict[_Place, dict[str, Any]] = {}
    for place, row in zip(places, result.table, strict=True):
        if place == given and others and not beside:
            continue
        if place not in cells or _rank(row) > _rank(cells[place]):
            cells[place] = row
    return cells


def _plain(value: Any) -> Any:
    """A number, or a text that stands for the value."""
    return value if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _in_order(values: Iterable[Any]) -> list[Any]:
    """Each value once, numbers by their size before all else."""
    unique = list(dict.fromkeys(values))
    return sorted(filter(_is_number, unique)) + [value for value in unique if not _is_number(value)]


def _rank(row: dict[str, Any]) -> tuple[bool, int, float]:
    score = row["score"]
    return row["chosen"], row["trees"], -math.inf if math.isnan(score) else score


def _write_cell(
    ax: Any, place: tuple[int, int], row: dict[str, Any], middle: float, most_trees: int
) -> None:
    text = _text(row["score"])
    if row["trees"] < most_trees:  # went out earlier in successive halving
        text += f"\n{row['trees']} trees"
    color = "black" if math.isnan(row["difference"]) or row["difference"] > middle else "white"
    ax.text(*place, text, ha="center", va="center", color=color, fontsize="small")
    if row["chosen"]:
        from matplotlib.patches import Rectangle

        corner = (place[0] - 0.5, place[1] - 0.5)
        frame = Rectangle(corner, 1, 1, fill=False, edgecolor="red", linewidth=3, clip_on=False)
        ax.add_patch(frame)


def _text(score: float) -> str:
    return "-" if math.isnan(score) else f"{score:.4f}"
