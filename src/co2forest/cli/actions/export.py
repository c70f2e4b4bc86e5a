# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest export``: a model for places without this library."""

from pathlib import Path
from typing import Any

import typer

from co2forest.cli.layout import size_text
from co2forest.cli.messages import complain, say, say_json
from co2forest.cli.models import encoder_of, estimator_of, feature_names, load_for_tables
from co2forest.cli.outputs import check_outputs, prepare_folder
from co2forest.export.c import to_c
from co2forest.export.json import to_json
from co2forest.export.onnx import to_onnx
from co2forest.files.atomic import write_atomically
from co2forest.files.messages import listed, one_line
from co2forest.models.ensemble import view_of_features

_KINDS = {"onnx": "an ONNX model", "c": "C source", "json": "a JSON document"}


def run(
    *,
    model: Path,
    out: Path,
    to: str | None,
    prefix: str,
    bfloat16: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Load, convert and write."""
    to = to or out.suffix.lower().removeprefix(".")
    if to not in _KINDS:
        endings = ", ".join(f".{known}" for known in _KINDS)
        raise typer.BadParameter(
            f"is needed, because {one_line(out.name)} ends with none of {endings}",
            param_hint="--to",
        )
    if bfloat16 and to != "onnx":
        raise typer.BadParameter(f"has no meaning with --to {to}", param_hint="--bfloat16")
    check_outputs([out], [model], overwrite=overwrite)
    loaded = load_for_tables(model)
    prepare_folder(out.parent)
    content = _content(loaded, to, prefix, bfloat16=bfloat16)
    write_atomically(out, lambda file: file.write_bytes(content))
    names = feature_names(loaded)
    if encoder_of(loaded) is not None and to != "json":
        complain(
            f"note: {out} takes the {len(names or [])} features that the table becomes, in this "
            f"order: {listed(names or [])}; --json lists all"
            f"{'; categories are codes, see co2forest.to_codes' * _has_categories(loaded)}"
        )
    if as_json:
        say_json(
            {
                "model": str(model),
                "out": str(out),
                "to": to,
                "bytes": len(content),
                "features": int(estimator_of(loaded).n_features_in_),
                "feature_names": names,
            }
        )
    else:
        say(f"{one_line(out)}: {_KINDS[to]}, {size_text(len(content))}")


def _has_categories(model: Any) -> bool:
    columns = view_of_features(model).columns
    return columns is not None and columns.columns.has_categories


def _content(model: Any, to: str, prefix: str, *, bfloat16: bool) -> bytes:
    estimator = estimator_of(model)
    try:
        if to == "onnx":
            onnx: bytes = to_onnx(estimator, bfloat16=bfloat16).SerializeToString()
            return onnx
        text = to_c(estimator, prefix=prefix) if to == "c" else to_json(model)
        return text.encode("ascii")
    except TypeError as error:  # such as labels that C has no constants for
        raise ValueError(str(error)) from error
