# SPDX-License-Identifier: BSD-3-Clause
"""Tables of classes, for people and for programs."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.text import Text

from co2forest.cli.layout import new_table, table_text
from co2forest.files.messages import finite
from co2forest.segmentation.colours import hexadecimal

_COUNTS = ("true_positives", "false_positives", "false_negatives")


def class_table(counts: dict[int, int], colours: npt.NDArray[np.uint8], void: int | None) -> str:
    """Labels with their shares of the pixels, and the colours that they get in files."""
    total = sum(counts.values())
    table = new_table("class", "pixels", "share", "colour", left=["colour"])
    # Elsewhere different colours would look the same.
    swatches = Console().color_system in {"256", "truecolor"}
    for label, count in counts.items():
        name = "void" if label == void else str(label)
        known = 0 <= label <= 255
        code = hexadecimal(colours[label]) if known else "-"
        swatch = Text("  ", style=f"on {code}") if known and swatches else Text("")
        share = f"{100 * count / total:.2f} %"
        table.add_row(name, f"{count}", share, Text.assemble(code, " ", swatch))
    return table_text(table)


def jaccard_text(table: Any) -> str:
    """A Jaccard table in words of the command line."""
    shown = new_table("class", "Jaccard", "true positives", "false positives", "false negatives")
    for row in jaccard_rows(table):
        score = "absent" if row["jaccard"] is None else f"{row['jaccard']:.2f} %"
        counts = (row[name] for name in _COUNTS)
        shown.add_row(str(row["label"]), score, *(str(count) for count in counts))
    mean = "-" if math.isnan(table.mean) else f"{table.mean:.2f} %"
    shown.add_row("mean", mean)
    return table_text(shown)


def jaccard_rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a Jaccard table; None is the score of a class that is absent."""
    columns = {"label": table.classes, "jaccard": table.jaccard}
    columns |= {name: getattr(table, name) for name in _COUNTS}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [finite(dict(zip(columns, row, strict=True))) for row in rows]


def jaccard_json(table: Any) -> dict[str, Any]:
    """A Jaccard table for programs."""
    return {"mean": table.mean, "classes": jaccard_rows(table)}


def class_rows(counts: dict[int, int]) -> list[dict[str, Any]]:
    """The shares of the labels for programs."""
    total = sum(counts.values()) or 1  # if no image could be labelled
    return [
        {"label": label, "pixels": count, "share": count / total} for label, count in counts.items()
    ]
