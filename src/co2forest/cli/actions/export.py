"""``co2forest export``: a model for places without this library."""

from pathlib import Path
from typing import Any

from co2forest._files import write_atomically
from co2forest.cli._layout import size_text
from co2forest.cli._messages import complain, one_line, say, say_json
from co2forest.cli._models import encoder_of, estimator_of, feature_names, listed, load_for_tables
from co2forest.cli._outputs import check_outputs, prepare_folder
from co2forest.export.c import to_c
from co2forest.export.json import to_json
from co2forest.export.onnx import to_onnx


def run(
    path: Path, out: Path, *, to: str, prefix: str, bfloat16: bool, overwrite: bool, as_json: bool
) -> None:
    """Load, convert and write."""
    check_outputs([out], [path], overwrite=overwrite)
    model = load_for_tables(path)
    prepare_folder(out.parent)
    content = _content(model, to, prefix, bfloat16=bfloat16)
    write_atomically(out, lambda file: file.write_bytes(content))
    names = feature_names(model)
    if encoder_of(model) is not None and to != "json":
        complain(
            f"note: {out} takes the {len(names or [])} features that the table becomes, in this "
            f"order: {listed(names or [])}; --json lists all"
        )
    if as_json:
        say_json(
            {
                "model": str(path),
                "out": str(out),
                "to": to,
                "bytes": len(content),
                "features": int(estimator_of(model).n_features_in_),
                "feature_names": names,
            }
        )
    else:
        say(f"{one_line(str(out))}: {_KINDS[to]}, {size_text(len(content))}")


_KINDS = {"onnx": "an ONNX model", "c": "C source", "json": "a JSON document"}


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
