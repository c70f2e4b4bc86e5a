# SPDX-License-Identifier: BSD-3-Clause
"""Tables and lists as text: for people at a terminal of 80 columns, and in files."""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from co2forest.files.messages import escaped

_WIDEST = 10_000  # nothing is cut; a terminal may break lines


def new_table(*columns: str, left: Iterable[str] = ()) -> Table:
    """Make an empty table; columns are aligned to the right, except those in ``left``."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="")
    for column in columns:
        # As a text, in which nothing is markup.
        table.add_column(
            Text(escaped(column)), justify="left" if column in left else "right", no_wrap=True
        )
    return table


def table_text(table: Table) -> str:
    """Render a table; it has colours only if standard output is a terminal that shows them."""
    terminal = Console()
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=_WIDEST,
        force_terminal=terminal.is_terminal,
        color_system=terminal.color_system or None,  # type: ignore[arg-type]
        highlight=False,
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def rows_text(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: Iterable[str] = ()
) -> str:
    """Render a table of plain cells, which may hold anything that a file holds."""
    table = new_table(*columns, left=left)
    for row in rows:
        table.add_row(*(Text(escaped(cell)) for cell in row))
    return table_text(table)


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Render names and texts in two columns; a text may have several lines."""
    shown = [(name, text.split("\n")) for name, text in pairs]
    width = max(len(name) for name, _ in shown)
    lines = []
    for name, texts in shown:
        lines += [
            f"{name if number == 0 else '':{width}}   {escaped(text)}".rstrip()
            for number, text in enumerate(texts)
        ]
    return "\n".join(lines)


def size_text(size: int) -> str:
    """Say how many bytes there are, in a unit that fits."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.2f} {unit}"
    return f"{size} bytes"
