# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files."""

from typing import Any

from co2forest.files.messages import listed, one_line
from co2forest.tables._frames import check_width
from co2forest.tables._optional import library

_MOST_CELLS = 1 << 31  # a few bytes can stand for any number of equal rows


def read_parquet(data: bytes, name: str) -> Any:
    """A frame; what pandas has written about its own types is not looked at."""
    pyarrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data))
        about = file.metadata
        check_width(about.num_columns, name)
        if about.num_rows * about.num_columns > _MOST_CELLS:
            raise ValueError(
                f"{name}: {about.num_rows} rows of {about.num_columns} columns, at most "
                f"{_MOST_CELLS} cells can be read"
            )
        table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{name}: not a Parquet file, or damaged ({one_line(error)})") from None
    names = table.column_names
    repeated = sorted({column for column in names if names.count(column) > 1})
    if repeated:
        raise ValueError(f"{name}: columns have the same name: {listed(repeated)}")
    if table.num_rows == 0 or not names:
        raise ValueError(f"{name}: has {table.num_rows} rows of {len(names)} columns")
    return table.to_pandas(ignore_metadata=True)
