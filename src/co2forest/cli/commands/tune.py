# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest tune``: its options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def tune(
    data: options.Data,
    target: options.Target = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A file for a model with the best parameters.", show_default=False),
    ] = None,
    task: options.Task = "auto",
    method: Annotated[
        Literal["halving", "holdout", "oob"],
        typer.Option(
            help="holdout: all candidates grow all trees and are judged on a fifth of the rows; "
            "halving: the best third grows more trees, and so on; oob: no rows are held out."
        ),
    ] = "halving",
    trees: options.Trees = 100,
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
    """Try parameters of a forest on a table, and show all scores."""
