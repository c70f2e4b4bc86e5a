"""Options that several commands have, and what their values may be."""

from pathlib import Path
from typing import Annotated

import typer


def fraction(value: float | None) -> float | None:
    """A part of a whole."""
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, but is {value}")
    return value


def positive(value: float | None) -> float | None:
    """A number above zero."""
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"must be positive, but is {value}")
    return value


def _number_of_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("must be a number of threads, or -1 for all processors")
    return jobs


Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, of train or of save_model.")
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", callback=_number_of_jobs, help="Threads; -1 takes all processors."),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Of all random choices.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback if something fails.")]
