"""``co2forest report``: a page about a model."""

from pathlib import Path

from co2forest.cli._data import inputs_of, naming
from co2forest.cli._layout import size_text
from co2forest.cli._messages import counted, one_line, say, say_json
from co2forest.cli._models import load_for_tables
from co2forest.cli._outputs import check_outputs, prepare_folder
from co2forest.cli._scores import Labelled
from co2forest.report import write_report


def run(
    model_file: Path,
    data: Path,
    out: Path,
    *,
    target: str | None,
    title: str | None,
    weights: str | None,
    header: bool,
    part: str | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Load, read, and write the page."""
    check_outputs([out], inputs_of(model_file, data), overwrite=overwrite)
    model = load_for_tables(model_file)
    table = Labelled(model, data, target=target, weights=weights, header=header, part=part)
    if not quiet:
        table.say_notes()
    prepare_folder(out.parent)
    try:
        write_report(
            model,
            table.rows,
            table.y,
            out,
            title=title or f"{table.target}: {model_file.name}",
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
        say(f"{one_line(str(out))}: {size_text(size)}, {rows}; open it in a browser")
