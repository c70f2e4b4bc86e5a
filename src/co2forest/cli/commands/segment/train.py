# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest segment train``: its options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from co2forest.cli import options
from co2forest.cli.command import command


def _odd(window: int) -> int:
    if window % 2 == 0:
        raise typer.BadParameter(f"must be odd, so that a window has a centre, but is {window}")
    return window


@command
def train(
    images: options.Images,
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="Their label maps with the same names, or one map."),
    ],
    out: options.ModelFile,
    window: Annotated[
        int, typer.Option(min=1, callback=_odd, help="Side of the square around a pixel.")
    ] = 31,
    trees: options.Trees = 16,
    split: Annotated[
        Literal["co2", "two-probe", "axis"], typer.Option(help="How a node splits windows.")
    ] = "co2",
    samples_per_tree: Annotated[
        int,
        typer.Option(min=1, help="Windows that each tree draws, the same number of each class."),
    ] = 256_000,
    border: Annotated[
        options.Border,
        typer.Option(
            help="Leave pixels near the border without a label, or mirror images at their edges."
        ),
    ] = "ignore",
    ignore_label: Annotated[
        int | None, typer.Option(help="The label of pixels that do not count.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(min=1, help="Depth of the trees.")] = None,
    nu: Annotated[
        float | None,
        typer.Option(
            callback=options.positive, help="Bound on the norm of hyperplanes (co2 only)."
        ),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(callback=options.positive, help="Step size (co2 only).")
    ] = None,
    center: Annotated[
        bool,
        typer.Option("--center", help="Ignore how bright a window is as a whole (co2 only)."),
    ] = False,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Choose nu, rate and center by trials (co2 only)."),
    ] = False,
    held_out: Annotated[
        float | None,
        typer.Option(
            callback=options.fraction,
            help="Fraction of the images to hold out of training, for a score.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    jobs: options.Jobs = -1,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Train a segmenter and write it into a file."""
