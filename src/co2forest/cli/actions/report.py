# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest report``: a page about a model."""

from pathlib import Path

from co2forest.cli.layout import size_text
from co2forest.cli.messages import counted, say, say_json
from co2forest.cli.models import load_for_tables
from co2forest.cli.outputs import check_outputs, prepare_folder
from co2forest.cli.scores import Labelled
from co2forest.cli.tables import inputs_of, naming
from co2forest.files.messages import one_line
from co2forest.report import write_report


def run(
    *,
    model: Path,
    data: Path,
    out: Path,
    target: str | None,
    title: str | None,
    weights: str | None,
    no_header: bool,
    part: str | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Load, read, and write the page."""
    check_outputs([out], inputs_of(model, data), overwrite=overwrite)
    loaded = load_for_tables(model)
    table = Labelled(loaded, data, target=target, weights=weights, header=not no_header, part=part)
    if not quiet:
        table.say_notes()
    prepare_folder(out.parent)
    try:
        write_report(
            loaded,
            table.rows,
            table.y,
            out,
            title=title or f"{table.target}: {model.name}",
            sample_weight=table.weights,
            overwrite=overwrite,
        )
    except ValueError as error:
        raise naming(data, error) from error
    size = out.stat().st_size
    if as_json:
        say_json({"out": str(out), "bytes": size, "rows": len(table.y)})
    else:
        rows = counted(len(table.y), "row")
        say(f"{one_line(out)}: {size_text(size)}, {rows}; open it in a browser")
