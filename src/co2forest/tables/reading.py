# SPDX-License-Identifier: BSD-3-Clause
"""Files of tables as data frames."""

import io
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from co2forest.files.messages import shown
from co2forest.tables._frames import find_column
from co2forest.tables._npz import PARTS, read_npz
from co2forest.tables._parquet import read_parquet
from co2forest.tables.formats import FORMATS, format_of
from co2forest.tables.libsvm import read_libsvm
from co2forest.tables.packed import most_unpacked, open_binary, unpacked
from co2forest.tables.text import read_text

STANDARD_INPUT = "-"


def read_table(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 (what everybody calls it)
    target: str | None = None,
    header: bool = True,
    text: Collection[str] = (),
    part: str | None = None,
    columns: Collection[str] = (),
) -> Any:
    r"""Read a file of columns into a data frame.

    Nothing in a file is ever run: pickles are refused, also inside NPZ files.

    Parameters
    ----------
    source : str or path-like
        The file, plain or compressed (gzip, bzip2, xz); "-" is standard input.
    format : {"csv", "tsv", "parquet", "npz", "libsvm"}, default=None
        None decides by the name of the file, or else by its content.

        - "csv": fields separated by commas, semicolons, tabs or bars, whichever the first lines
          use, in UTF-8; "tsv": separated by tabs. White space around fields does not count.
          Between semicolons, 1,5 is a number.
        - "parquet": as pyarrow reads it, without columns of lists and structures.
        - "npz": arrays ``X`` and ``y`` (or ``X_train`` and ``y_train``), whose columns are called
          x0, x1, ... and y; or arrays of one dimension, which are columns by their names.
        - "libsvm": columns x1, x2, ..., as the file counts them, and y. A table of more than 25
          million numbers stays sparse.
    target : str, default=None
        A column that the table must have.
    header : bool, default=True
        Whether the first line of a CSV or TSV file has the names of the columns. Otherwise they
        are x0, x1, ...
    text : collection of str, default=()
        Columns of a CSV or TSV file that stay text, even if all of their cells are numbers.
    part : {"train", "test"}, default=None
        Which arrays of an NPZ file to read, ``X_train`` or ``X_test``. None is ``X`` or, if there
        is none, ``X_train``.
    columns : collection of str, default=()
        Columns that a LIBSVM file need not mention, because they are zero.

    Returns
    -------
    pandas.DataFrame
        ``attrs["target"]`` is the column to predict, where the format says so.

    Raises
    ------
    ValueError
        If the file is empty or not such a table. The message names the file, the line where
        possible, and what would be right.
    OSError
        If the file is missing or cannot be read.

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
    if part is not None and part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {shown(part)}")
    name, data, size = _content(source)
    kind = format_of(name, data) if format is None else format
    if kind == "parquet":
        frame = read_parquet(data, name, most_unpacked(size))
    elif kind == "npz":
        frame = read_npz(data, name, part, most_unpacked(size))
    elif kind == "libsvm":
        frame = read_libsvm(data, name, columns)
    else:
        frame = read_text(data, name, tabs=kind == "tsv", header=header, text=text)
    if target is not None:
        try:
            find_column(frame, target, "target")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return frame


def _content(source: str | os.PathLike[str]) -> tuple[str, bytes, int]:
    """The name of a source in messages, its unpacked bytes, and how many it has itself."""
    if source == STANDARD_INPUT:
        name, packed = "standard input", sys.stdin.buffer.read()
        size = len(packed)
        with unpacked(io.BytesIO(packed), size, name) as stream:
            data = stream.read()
    else:
        name, path = os.fspath(source), Path(source)
        if path.exists() and not path.is_file():  # a pipe is for "-"
            raise ValueError(f"{name}: {'a folder' if path.is_dir() else 'not a regular file'}")
        size = path.stat().st_size
        with open_binary(path) as stream:
            data = stream.read()
    if not data.strip():
        raise ValueError(f"{name}: the file is empty")
    return name, data, size
