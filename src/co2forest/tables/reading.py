"""Files of tables as data frames."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from co2forest._stored import shown
from co2forest.datasets._open import open_binary
from co2forest.tables._formats import FORMATS, format_of
from co2forest.tables._frames import find_column
from co2forest.tables._text import read_text

STANDARD_INPUT = "-"


def read_table(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 (what everybody calls it)
    target: str | None = None,
    header: bool = True,
    text: Collection[str] = (),
) -> Any:
    r"""Read a file of columns into a data frame.

    Nothing in a file is ever run: pickles are refused, also inside of NPZ files.

    Parameters
    ----------
    source : str or path-like
        The file, plain or compressed (gzip, bzip2, xz, compress); "-" is standard input.
    format : {"csv", "tsv"}, default=None
        None goes by the name of the file, or else by its content.

        - "csv": fields between commas, semicolons, tabs or bars, whichever the first lines have;
          "tsv": between tabs. In UTF-8. White space around fields does not count. Between
          semicolons, 1,5 is a number.
    target : str, default=None
        A column that the table must have.
    header : bool, default=True
        Whether the first line of a CSV or TSV file has the names of the columns. If not, they are
        x0, x1, ...
    text : collection of str, default=()
        Columns of a CSV or TSV file that stay text, even if all of their cells are numbers.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        If the file is empty or not such a table. The message names the file, where it can the
        line, and what would be right.
    OSError
        If the file is missing or must not be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from co2forest.tables import read_table
    >>> _ = Path("cats.csv").write_text("name,weight\nTom,4.5\nKitty,3\n")
    >>> read_table("cats.csv").dtypes["weight"]
    dtype('float64')
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {shown(format)}")
    name, data = _content(source)
    kind = format_of(name, data) if format is None else format
    frame = read_text(data, name, tabs=kind == "tsv", header=header, text=text)
    if target is not None:
        try:
            find_column(frame, target, "target")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return frame


def _content(source: str | os.PathLike[str]) -> tuple[str, bytes]:
    """What messages call a source, and its bytes."""
    if source == STANDARD_INPUT:
        name, data = "standard input", sys.stdin.buffer.read()
    else:
        name, path = os.fspath(source), Path(source)
        if path.exists() and not path.is_file():  # a pipe is for "-"
            raise ValueError(f"{name}: {'a folder' if path.is_dir() else 'not a regular file'}")
        with open_binary(path) as stream:
            data = stream.read()
    if not data.strip():
        raise ValueError(f"{name}: the file is empty")
    return name, data
