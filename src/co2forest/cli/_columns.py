"""Names of columns for the completion of a shell: those that the file on the line has."""

import csv

import typer

_MOST_BYTES = 1 << 20


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the CSV file that the command line names, from its first line alone."""
    try:
        with open(ctx.params["data"], encoding="utf-8", newline="") as file:  # noqa: PTH123
            line = file.readline(_MOST_BYTES)
        separator = max(",;\t|", key=line.count)
        names = next(csv.reader([line], delimiter=separator))
    except (OSError, ValueError, KeyError, TypeError, StopIteration, csv.Error):
        return []
    return [name.strip() for name in names if name.strip().startswith(incomplete)]
