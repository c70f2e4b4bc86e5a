# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest train``: its options."""

from typing import Annotated, Literal

import typer

from co2forest.cli import options
from co2forest.cli.command import command


def _fraction_or_none(value: float) -> float:
    if value != 0:
        options.fraction(value)
    return value


@command
def train(
    data: options.Data,
    out: options.ModelFile,
    target: options.Target = None,
    task: options.Task = "auto",
    model: Annotated[
        Literal["ensemble", "forest", "boosting"] | None,
        typer.Option(
            help="What learns; an ensemble is a forest and boosting, weighed by rows that neither "
            "has seen. [default: ensemble, or forest with --tune]",
            show_default=False,
        ),
    ] = None,
    trees: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Trees of the forest. [default: 100]", show_default=False
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Most rounds of boosting. [default: 1000]", show_default=False
        ),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters of a forest by trials.")
    ] = False,
    held_out: Annotated[
        float,
        typer.Option(
            callback=_fraction_or_none,
            help="Fraction of the rows for an estimate of the error, before all are used; 0: none.",
        ),
    ] = 0.2,
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
    """Train a model on a table and write it into a file.

    Text, categories, dates and missing values need no preparation. The command says what it does
    with each column, and the model stores it.
    """
