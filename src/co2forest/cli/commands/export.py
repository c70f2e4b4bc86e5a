# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest export``: its options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from co2forest.cli import options
from co2forest.cli.command import command


@command
def export(
    model: options.Model,
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    to: Annotated[
        Literal["onnx", "c", "json"] | None,
        typer.Option(
            help="The format; by default the ending of --out decides.", show_default=False
        ),
    ] = None,
    prefix: Annotated[str, typer.Option(help="How all names in a C file begin.")] = "co2forest",
    bfloat16: Annotated[
        bool,
        typer.Option(
            "--bfloat16", help="Store the weights of an ONNX model in 16 bits, for half the size."
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Write a model as ONNX, C source or plain JSON."""
