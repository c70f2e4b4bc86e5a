# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest compare``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def compare(
    data: options.Data,
    target: options.Target = None,
    task: options.Task = "auto",
    folds: Annotated[
        int, typer.Option(metavar="N", min=2, help="Number of folds of the cross-validation.")
    ] = 5,
    held_out: Annotated[
        float | None,
        typer.Option(
            callback=options.fraction,
            help="Test once on this fraction of the rows, instead of a cross-validation.",
            show_default=False,
        ),
    ] = None,
    trees: options.Trees = 100,
    boost: Annotated[bool, typer.Option("--boost", help="Add boosted CO2 trees.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=options.ending(".png", ".svg", ".pdf"),
            help="A file for a picture (.png, .svg, .pdf).",
            show_default=False,
        ),
    ] = None,
    drop: options.Drop = None,
    keep: options.KeepColumns = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    no_header: options.NoHeader = False,
    overwrite: options.Overwrite = False,
    jobs: options.Jobs = -1,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Compare a CO2 forest with scikit-learn's forests and boosting.

    A random forest, extra trees and histogram gradient boosting get the same rows and columns, and
    keep their defaults.
    """
