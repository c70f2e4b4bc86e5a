"""Commands on model files: ``co2forest info`` and ``co2forest export``."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from co2forest.cli._messages import reports_errors
from co2forest.cli._options import Debug, Json, Model, Overwrite


class Form(StrEnum):
    """What a model can be exported to."""

    ONNX = "onnx"
    C = "c"
    JSON = "json"


@reports_errors
def info(
    model: Model,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Say what a model file holds."""
    from co2forest.cli import _info

    _info.run(model, as_json=json)


@reports_errors
def export(
    model: Model,
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    to: Annotated[
        Form | None,
        typer.Option(
            help="The form; by default what the ending of --out says.", show_default=False
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="What all names in a C file begin with.")
    ] = "co2forest",
    bfloat16: Annotated[
        bool,
        typer.Option("--bfloat16", help="Weights of an ONNX model in 16 bits: half the size."),
    ] = False,
    overwrite: Overwrite = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (for reports_errors)
) -> None:
    """Write a model as ONNX, C source or plain JSON."""
    form = to.value if to is not None else out.suffix.lower().removeprefix(".")
    if form not in list(Form):
        endings = ", ".join(f".{known}" for known in Form)
        raise typer.BadParameter(
            f"is needed, because {out.name} ends with none of {endings}", param_hint="--to"
        )
    if bfloat16 and form != Form.ONNX:
        raise typer.BadParameter(f"has no meaning with --to {form}", param_hint="--bfloat16")

    from co2forest.cli import _export

    _export.run(
        model,
        out,
        to=form,
        prefix=prefix,
        bfloat16=bfloat16,
        overwrite=overwrite,
        as_json=json,
    )
