# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest report``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def report(
    model: options.Model,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DATA",
            help="A table with the true answers; preferably rows not used in training.",
            allow_dash=True,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            callback=options.ending(".html", ".htm"), help="The HTML file.", show_default=False
        ),
    ],
    target: options.Answers = None,
    title: Annotated[
        str | None, typer.Option(help="The title of the page.", show_default=False)
    ] = None,
    weights: options.Weights = None,
    no_header: options.NoHeader = False,
    part: options.Part = None,
    overwrite: options.Overwrite = False,
    quiet: options.Silent = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write an HTML page about a model: its errors and its trees."""
