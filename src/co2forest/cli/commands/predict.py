# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest predict``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def predict(
    model: options.Model,
    data: options.Data,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=options.ending(".csv", ".tsv", ".parquet", ".npz"),
            help="A file for the predictions (.csv, .tsv, .parquet, .npz); by default "
            "standard output, as CSV.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        options.columns(help="Columns to copy beside the predictions, such as a name."),
    ] = None,
    no_header: options.NoHeader = False,
    part: options.Part = None,
    overwrite: options.Overwrite = False,
    jobs: options.Jobs = -1,
    quiet: options.Silent = False,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe",
            help="Write ' in front of texts that a spreadsheet would run as formulas.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print a JSON object for each row on a line of its own, instead of CSV."
        ),
    ] = False,
    debug: options.Debug = False,
) -> None:
    """Predict the rows of a table that has the columns used in training.

    Large CSV files are read in chunks.
    """
