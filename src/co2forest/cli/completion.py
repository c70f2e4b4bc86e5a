# SPDX-License-Identifier: BSD-3-Clause
"""Names of columns for the completion of a shell: those that the file on the line has."""

import csv

import typer

_MOST_CHARACTERS = 1 << 20


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the CSV file that the command line names, from its first line alone."""
    # While an option is completed, arguments may not have found their parameters yet.
    given = [ctx.params.get("data"), *reversed(ctx.args)]
    for path in filter(None, given):
        try:
            with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123 (or a string)
                line = file.readline(_MOST_CHARACTERS)
            names = next(csv.reader([line], delimiter=max(",;\t|", key=line.count)))
        except (OSError, ValueError, StopIteration, csv.Error):  # no text, or not there
            continue
        return [name.strip() for name in names if name.strip().startswith(incomplete)]
    return []
