"""A heat map of the scores of a search."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from co2forest._stored import shown

if TYPE_CHECKING:
    from co2forest.tuning.result import TuningResult


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
    columns = list(dict.fromkeys(column for column, _ in cells))
    lines = list(dict.fromkeys(line for _, line in cells))
    scores = np.full((len(lines), len(columns)), np.nan)
    for (column, line), row in cells.items():
        scores[lines.index(line), columns.index(column)] = row["score"]
    if ax is None:
        size = (2.4 + 1.0 * len(columns), 1.8 + 0.6 * len(lines))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    image = ax.imshow(scores, cmap="viridis", aspect="auto")
    ax.figure.colorbar(image, ax=ax, label=result.scoring)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(lines)), lines if y else [""])
    ax.set_xlabel(x)
    ax.set_ylabel(y or "")
    middle = (np.nanmin(scores) + np.nanmax(scores)) / 2 if not np.isnan(scores).all() else 0.0
    most_trees = max(row["trees"] for row in result.table)
    for (column, line), row in cells.items():
        place = columns.index(column), lines.index(line)
        _write_cell(ax, place, row, middle, most_trees)
    given = result.table[0]
    chosen = " (chosen)" if given["chosen"] else ""
    ax.set_title(f"as given: {_text(given['score'])}{chosen}", fontsize="medium")
    return ax


def _best_of_cells(
    result: "TuningResult", x: str, y: str | None
) -> dict[tuple[str, str], dict[str, Any]]:
    """For each pair of values the chosen row, or else the one with most trees and best score.

    The estimator as given has a cell only if the grid has its values.
    """
    columns = {shown(row[x]) for row in result.table[1:]}
    lines = {shown(row[y]) if y else "" for row in result.table[1:]}
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in [*result.table[1:], result.table[0]]:
        place = (shown(row[x]), shown(row[y]) if y else "")
        outside = place[0] not in columns or place[1] not in lines
        if row is result.table[0] and len(result.table) > 1 and outside:
            continue
        if place not in cells or _rank(row) > _rank(cells[place]):
            cells[place] = row
    return cells


def _rank(row: dict[str, Any]) -> tuple[bool, int, float]:
    score = row["score"]
    return row["chosen"], row["trees"], -math.inf if math.isnan(score) else score


def _write_cell(
    ax: Any, place: tuple[int, int], row: dict[str, Any], middle: float, most_trees: int
) -> None:
    text = _text(row["score"])
    if row["trees"] < most_trees:  # went out earlier in successive halving
        text += f"\n{row['trees']} trees"
    color = "black" if row["score"] > middle else "white"
    ax.text(*place, text, ha="center", va="center", color=color, fontsize="small")
    if row["chosen"]:
        from matplotlib.patches import Rectangle

        corner = (place[0] - 0.5, place[1] - 0.5)
        frame = Rectangle(corner, 1, 1, fill=False, edgecolor="red", linewidth=3, clip_on=False)
        ax.add_patch(frame)


def _text(score: float) -> str:
    return "-" if math.isnan(score) else f"{score:.4f}"
