# SPDX-License-Identifier: BSD-3-Clause
"""What a search has found."""

import html
import math
from dataclasses import dataclass, field
from typing import Any

from co2forest.files.messages import shown

Table = list[dict[str, Any]]

# Columns of a table that are not parameters.
MEASURES = ("score", "difference", "standard_error", "trees", "seconds", "chosen")


@dataclass(frozen=True, repr=False, eq=False)
class TuningResult:
    """What `tune_forest` and `tune_segmenter` return.

    Attributes
    ----------
    estimator : forest or segmenter
        With the chosen parameters, fitted on all data unless ``refit=False``.
    best_params : dict
        What was chosen, where it differs from the estimator as given; empty if that was kept.
    best_score : float
        Its score in the trials.
    max_features : object
        The estimator's ``max_features``; None if it has no such parameter.
    table : list of dict
        A row for each candidate, the estimator as given first: its values of the parameters that
        vary, ``score``, ``difference`` from the first row with as many trees and its
        ``standard_error``, ``trees``, ``seconds`` and whether it was ``chosen``.
    max_features_table : list of dict
        The same for the axis-aligned forests that chose ``max_features``; empty without that step.
    method : str
        As it was asked for.
    scoring : str
        Name of the score.
    random_state : int
        Seed of the split and of all trials.
    """

    estimator: Any
    best_params: dict[str, Any]
    best_score: float
    max_features: Any
    table: Table
    max_features_table: Table = field(default_factory=list)
    method: str = "holdout"
    scoring: str = "accuracy"
    random_state: int = 0

    def to_pandas(self) -> Any:
        """The table as a data frame.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pd.DataFrame(self.table)

    def plot(self, ax: Any = None, *, x: str = "auto", y: str | None = "auto") -> Any:
        """Draw a heat map of the scores; colours compare with the estimator as given.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        x, y : str
            Parameters along the axes; ``y=None`` draws one line of cells. "auto" is
            ``learning_rate`` and ``nu`` if they vary, else what varies first. Where others vary,
            too, a cell shows the best of them.

        Returns
        -------
        matplotlib axes
        """
        from co2forest.tuning._plot import heat_map

        preferred = ("learning_rate", "nu")
        free = [name for name in preferred if name in self.parameters]
        free += [name for name in self.parameters if name not in preferred]
        free = [name for name in free if name not in {x, y}]
        if x == "auto" and free:
            x = free.pop(0)
        if y == "auto":
            y = free.pop(0) if free else None
        return heat_map(self, ax, x, y)

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters that vary in the table."""
        return [name for name in self.table[0] if name not in MEASURES]

    def __repr__(self) -> str:
        lines = [f"TuningResult: {self._summary()}", ""]
        header, rows = _cells(self.table)
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        for row in (header, *rows):
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, rows = _cells(self.table)
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        return (
            f"<p>TuningResult: {html.escape(self._summary())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _summary(self) -> str:
        where = "out of bag" if self.method == "oob" else "on the hold-out"
        score = f"{self.scoring} {self.best_score:.4f} {where}"
        if not self.best_params:
            return f"the estimator as given, {score}"
        params = ", ".join(f"{name}={shown(value)}" for name, value in self.best_params.items())
        return f"{params}, {score}, {self.table[0]['score']:.4f} as given"


def _cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Header and rows as text."""
    names = [name for name in table[0] if name not in MEASURES]
    header = ["", *names, "score", "difference", "standard error", "trees", "seconds"]
    rows = []
    for number, row in enumerate(table):
        values = [shown(row[name]) for name in names]
        measures = [
            _number(row["score"], ".4f"),
            _number(row["difference"], "+.4f") if number else "",
            _number(row["standard_error"], ".4f") if number else "",
            str(row["trees"]),
            f"{row['seconds']:.1f}",
        ]
        mark = "*" if row["chosen"] else ""
        rows.append([("as given" if number == 0 else "") + mark, *values, *measures])
    return header, rows


def _number(value: float, style: str) -> str:
    return "-" if math.isnan(value) else format(value, style)
