# SPDX-License-Identifier: BSD-3-Clause
"""Readers of the file formats in which public data sets come."""

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from co2forest.tables.libsvm import parse_libsvm
from datasets.packed import open_binary
from datasets.table import check_count, read_table

_BYTES_AT_ONCE = 1 << 20
_MAX_DIMENSIONS = 32

# The third byte of an IDX file says what it holds; numbers are big-endian.
_IDX_DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}

_PathLike = str | os.PathLike[str]


def read_uci(
    path: _PathLike,
    *,
    separator: str | None = ",",
    label: Literal["first", "last"] = "last",
    n_features: int | None = None,
    categories: Sequence[str] | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.str_]]:
    """Read a table of text: one row per line, one column of it the label.

    Parameters
    ----------
    path : path
        The file, plain or compressed (gzip, bzip2, xz, compress).
    separator : str or None, default=","
        The character between columns; None means any white space.
    label : {"first", "last"}, default="last"
        The label's column.
    n_features : int or None, default=None
        The number of other columns; None takes it from the first line.
    categories : sequence of str or None, default=None
        If given, cells are names, not numbers, and each becomes as many columns of 0 and 1.

    Returns
    -------
    X : array of shape (rows, features)
        float32, or uint8 with `categories`.
    labels : array of str of shape (rows,)
        As they are in the file, without white space around; 100 characters at most.

    Raises
    ------
    ValueError
        If the file is empty, or a line has another number of columns or something else than
        finite numbers. The message names file and line.
    """
    return read_table(
        Path(path),
        separator=separator,
        label=label,
        n_features=n_features,
        categories=categories,
    )


def read_libsvm(
    path: _PathLike, n_features: int | None = None
) -> tuple[Any, npt.NDArray[np.float64]]:
    """Read a file in the format of LIBSVM: ``label index:value index:value ...``, from index 1.

    Parameters
    ----------
    path : path
        The file, plain or compressed (gzip, bzip2, xz, compress).
    n_features : int or None, default=None
        The number of features; None takes the largest index in the file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float32
        Sparse, so that one absurd index costs no memory.
    labels : array of float64 of shape (rows,)

    Raises
    ------
    ValueError
        If the file is empty or not in this format. The message names the file.
    """
    path = Path(path)
    with open_binary(path) as stream:
        check_count("n_features", n_features)
        return parse_libsvm(stream, path, n_features)


def read_idx(path: _PathLike) -> npt.NDArray[Any]:
    """Read an IDX file, the format of MNIST: one array of any shape.

    Parameters
    ----------
    path : path
        The file, plain or compressed (gzip, bzip2, xz, compress).

    Returns
    -------
    array
        In the byte order of this machine.

    Raises
    ------
    ValueError
        If the file is no IDX file, or has more or fewer bytes than its header promises. No more
        memory is taken than the file has bytes.
    """
    path = Path(path)
    with open_binary(path) as stream:
        magic = stream.read(4)
        if not magic:
            raise ValueError(f"{path}: the file is empty")
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _IDX_DTYPES:
            raise ValueError(f"{path}: not an IDX file, it begins with 0x{magic.hex()}")
        if not 1 <= magic[3] <= _MAX_DIMENSIONS:
            raise ValueError(f"{path}: {magic[3]} dimensions, expected 1 to {_MAX_DIMENSIONS}")
        header = stream.read(4 * magic[3])
        if len(header) < 4 * magic[3]:
            raise ValueError(f"{path}: ends within the header")
        shape = tuple(int(size) for size in np.frombuffer(header, dtype=">u4"))
        dtype = np.dtype(_IDX_DTYPES[magic[2]])
        expected = math.prod(shape) * dtype.itemsize
        content = bytearray()
        # In pieces, because read(n) takes n bytes of memory before it knows how many there are.
        while len(content) <= expected and (piece := stream.read(_BYTES_AT_ONCE)):
            content += piece
    if len(content) != expected:
        more = "more than " if len(content) > expected else ""
        raise ValueError(
            f"{path}: {more}{min(len(content), expected)} bytes of data, but the shape {shape} "
            f"in its header needs {expected}"
        )
    # NumPy limits the product of the others even if one of them is 0.
    if math.prod(size or 1 for size in shape) * dtype.itemsize > sys.maxsize:
        raise ValueError(f"{path}: the shape {shape} in its header is too large for an array")
    return np.frombuffer(content, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
