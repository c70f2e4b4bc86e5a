# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment predict``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def predict(
    model: options.Model,
    images: options.Images,
    out: Annotated[Path, typer.Option(help="The folder for the results.", show_default=False)],
    overlay: Annotated[
        bool, typer.Option(help="Also write images blended with the colours of their labels.")
    ] = True,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write class probabilities (NAME.npz).")
    ] = False,
    labels: Annotated[
        Path | None, typer.Option(help="True label maps, for a score.", show_default=False)
    ] = None,
    border: Annotated[
        options.Border | None,
        typer.Option(help="As for train; by default as the model was trained.", show_default=False),
    ] = None,
    overwrite: options.Overwrite = False,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write a label map for each image: OUT/NAME.png, and OUT/NAME_overlay.png."""
