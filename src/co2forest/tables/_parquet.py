# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from co2forest.files.messages import listed, one_line, warn_caller
from co2forest.tables._frames import check_width
from co2forest.tables._optional import library

_ROWS_AT_ONCE = 1 << 18
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}  # bytes in memory; of others 8


def read_parquet(data: bytes, name: str, limit: int) -> Any:
    """A frame of at most so many bytes; what pandas has written about its own types is not read.

    A few bytes of a file can stand for any number of equal cells.
    """
    pyarrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data))
        schema = _plain_columns(file, name)
        _check_size(_said_size(file.metadata, set(schema.names)), limit, name)
        size, pieces = 0, [schema.empty_table()]
        for piece in _pieces(data, file.metadata, schema):
            size += _size(piece, schema)
            _check_size(size, limit, name)  # before texts are written out
            pieces.append(piece.cast(schema))
        table = pyarrow.concat_tables(pieces)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(name, error) from None
    if table.num_rows == 0 or not schema.names:
        raise ValueError(f"{name}: has {table.num_rows} rows of {len(schema.names)} columns")
    try:
        return table.to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OverflowError, ValueError) as error:  # such as the year 47954
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> ValueError:
    return ValueError(f"{name}: not a Parquet file, or damaged ({one_line(error)})")


def _plain_columns(file: Any, name: str) -> Any:
    """The schema without lists and structures, of which a model could make no feature."""
    check_width(file.metadata.num_columns, name)
    counts = Counter(file.schema_arrow.names)
    repeated = sorted(column for column, count in counts.items() if count > 1)
    if repeated:
        raise ValueError(f"{name}: columns have the same name: {listed(repeated)}")
    is_nested = library("pyarrow.types").is_nested
    nested = [field.name for field in file.schema_arrow if is_nested(field.type)]
    if nested:
        warn_caller(f"{name}: left out what has lists or structures in its cells: {listed(nested)}")
    plain = [field for field in file.schema_arrow if not is_nested(field.type)]
    return library("pyarrow").schema(plain)


def _check_size(size: int, limit: int, name: str) -> None:
    if size > limit:
        raise ValueError(
            f"{name}: {size} bytes unpacked or more, but at most {limit} are allowed; if it is "
            "right, write it unpacked: compression='none' and use_dictionary=False of "
            "pyarrow.parquet.write_table"
        )


def _said_size(about: Any, names: set[str]) -> int:
    """What the file says of its size: its cells, or its pages before they were compressed.

    What it says of single pieces of columns is not asked: pyarrow ends the process if that is
    damaged.
    """
    columns = (about.schema.column(j) for j in range(about.num_columns))
    width = sum(
        _WIDTHS.get(column.physical_type, max(8, int(column.length)))
        for column in columns
        if column.path in names
    )
    # One below zero would hide others.
    pages = sum(
        max(int(about.row_group(i).total_byte_size), 0) for i in range(about.num_row_groups)
    )
    return max(width * int(about.num_rows), pages)


def _pieces(data: bytes, about: Any, schema: Any) -> Iterator[Any]:
    """Some rows at a time, whose texts are still numbers of words: one could be in every row."""
    pyarrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    columns = (about.schema.column(j) for j in range(about.num_columns))
    texts = [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]
    file = parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=texts)
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=schema.names):
        yield pyarrow.Table.from_batches([batch]).select(schema.names)


def _size(piece: Any, schema: Any) -> int:
    """Bytes of a table when its texts are written out, except for those of categories."""
    is_dictionary, compute = library("pyarrow.types").is_dictionary, library("pyarrow.compute")
    size = int(piece.nbytes)
    for column, field in zip(piece.columns, schema, strict=True):
        if is_dictionary(column.type) and not is_dictionary(field.type):
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary).cast("int64")
                size += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return size
