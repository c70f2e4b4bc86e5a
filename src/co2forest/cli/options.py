# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, and what their values may be."""

import csv
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from co2forest.files.messages import one_line

_MOST_CHARACTERS = 1 << 20  # of a line with names of columns


def fraction(value: float | None) -> float | None:
    """Raise unless a value lies between 0 and 1."""
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, but is {value}")
    return value


def positive(value: float | None) -> float | None:
    """Raise unless a value is above zero."""
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"must be positive, but is {value}")
    return value


def _number_of_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("must be a number of threads, or -1 for all processors")
    return jobs


def ending(*allowed: str) -> Callable[[Path | None], Path | None]:
    """Make a check that a file has one of these endings."""

    def check(path: Path | None) -> Path | None:
        if path is not None and path.suffix.lower() not in allowed:
            raise typer.BadParameter(
                f"must end with {', '.join(allowed)}, but is {one_line(path.name)}"
            )
        return path

    return check


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the CSV file that the command line names, from its first line alone."""
    # While an option is completed, arguments may not have found their parameters yet.
    given = [ctx.params.get("data"), *reversed(ctx.args)]
    for path in filter(None, given):
        try:
            with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123 (or a string)
                line = file.readline(_MOST_CHARACTERS)
            names = next(csv.reader([line], delimiter=max(",;\t|", key=line.count)))
        except (OSError, ValueError, StopIteration, csv.Error):  # no text, or not there
            continue
        # Shells print names as they are.
        names = [name.strip() for name in names if name.strip().isprintable()]
        return [name for name in names if name.startswith(incomplete)]
    return []


_column = functools.partial(
    typer.Option, metavar="COLUMN", autocompletion=complete_column, show_default=False
)
# Names are separated by commas, or given several times.
columns = functools.partial(_column, metavar="COLUMNS")

# Options of all commands.
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that train or save_model wrote.")
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", callback=_number_of_jobs, help="Threads; -1 takes all processors."),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Seed of all random choices.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback if something fails.")]

# Options of commands on tables.
ModelFile = Annotated[Path, typer.Option(help="The file for the model.", show_default=False)]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: CSV, TSV, Parquet, NPZ or LIBSVM, also compressed; - is standard input.",
        allow_dash=True,
    ),
]
Target = Annotated[
    str | None, _column(help="The column to predict; LIBSVM and NPZ files already name it.")
]
Answers = Annotated[
    str | None, _column(help="The column with the true answers; by default that of training.")
]
Part = Annotated[
    Literal["train", "test"] | None,
    typer.Option(help="Which arrays of an NPZ file: X_train or X_test.", show_default=False),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    typer.Option(help="Whether the target holds classes or numbers; auto looks at it."),
]
Trees = Annotated[int, typer.Option(metavar="N", min=1, help="Number of trees.")]
Silent = Annotated[bool, typer.Option("--quiet", help="Show no notes about the table.")]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line has no names; columns are then x0, x1, ..."),
]


Drop = Annotated[list[str] | None, columns(help="Columns to leave out, separated by commas.")]
KeepColumns = Annotated[
    list[str] | None, columns(help="Columns to use although they look like identifiers.")
]
Categorical = Annotated[
    list[str] | None, columns(help="Columns whose numbers stand for categories.")
]
Weights = Annotated[
    str | None, _column(help="A column with the weights of the rows; it is not a feature.")
]

# Options of commands on images.
Images = Annotated[Path, typer.Argument(metavar="IMAGES", help="A folder of images, or one image.")]
Border = Literal["ignore", "reflect"]
