# SPDX-License-Identifier: BSD-3-Clause
"""Checks sparse matrices before SciPy converts them: its compiled code trusts their arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def check_sparse(X: Any) -> None:
    """Raise unless the arrays of a sparse matrix fit together.

    `scipy.sparse.load_npz` reads any arrays, and every attribute can be set. Dictionaries are
    checked by SciPy when they are converted.
    """
    if not sp.issparse(X) or X.ndim != 2:
        return
    n_rows, n_columns = X.shape
    if X.format == "lil":
        _check_lists(X)
    elif X.format == "dia":
        _check_data(X, 2)
        _check_length(X, X.offsets, "offsets", len(X.data))
        if X.offsets.dtype not in (np.int32, np.int64):  # SciPy adds numbers of rows to them
            raise ValueError(
                f"X.offsets of the {_words(X)} must be int32 or int64, got {X.offsets.dtype}"
            )
        _check_range(X, X.offsets, "offsets", n_columns, 1 - n_rows)
    elif X.format == "coo":
        _check_data(X, 1)
        _check_length(X, X.row, "row", len(X.data))
        _check_length(X, X.col, "col", len(X.data))
        _check_range(X, X.row, "row", n_rows)
        _check_range(X, X.col, "col", n_columns)
    elif X.format in ("csr", "csc", "bsr"):
        _check_data(X, 3 if X.format == "bsr" else 1)
        lines, others = (n_columns, n_rows) if X.format == "csc" else (n_rows, n_columns)
        if X.format == "bsr":
            lines, others = _numbers_of_blocks(X)
        _check_length(X, X.indices, "indices", len(X.data))
        _check_pointers(X, lines)
        _check_range(X, X.indices, "indices", others)


def _check_data(X: Any, n_dimensions: int) -> None:
    if not isinstance(X.data, np.ndarray) or X.data.ndim != n_dimensions:
        raise ValueError(f"X.data of the {_words(X)} must be a {n_dimensions}-D array")


def _numbers_of_blocks(X: Any) -> tuple[int, int]:
    """From top to bottom, and from left to right."""
    block = X.data.shape[1:]
    if 0 in block or X.shape[0] % block[0] or X.shape[1] % block[1]:
        raise ValueError(
            f"the {_words(X)} cannot be divided into blocks of {block[0]} x {block[1]}"
        )
    return X.shape[0] // block[0], X.shape[1] // block[1]


def _check_lists(X: Any) -> None:
    for name, lists in (("rows", X.rows), ("data", X.data)):
        if not isinstance(lists, np.ndarray) or lists.shape != X.shape[:1]:
            raise ValueError(
                f"X.{name} of the {_words(X)} must be an array with a list of each row"
            )
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise ValueError(
                f"row {row} of the {_words(X)} has {len(columns)} columns and {len(values)} "
                "values; there must be as many"
            )
        for column in (min(columns), max(columns)) if len(columns) else ():
            if not 0 <= column < X.shape[1]:
                raise ValueError(
                    f"row {row} of the {_words(X)} has an entry in column {column}; columns are "
                    f"from 0 to {X.shape[1] - 1}"
                )


def _check_length(X: Any, array: Any, name: str, wanted: int) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"X.{name} of the {_words(X)} must be a 1-D array of whole numbers")
    if len(array) != wanted:
        raise ValueError(
            f"X.{name} of the {_words(X)} has {len(array)} entries; {wanted} are needed"
        )


def _check_pointers(X: Any, lines: int) -> None:
    pointers: npt.NDArray[np.integer[Any]] = X.indptr
    _check_length(X, pointers, "indptr", lines + 1)
    first, last, stored = int(pointers[0]), int(pointers[-1]), len(X.indices)
    if first != 0 or last > stored or np.any(pointers[1:] < pointers[:-1]):
        raise ValueError(
            f"X.indptr of the {_words(X)} must go up from 0 to at most {stored}, the number of "
            f"entries; it goes from {first} to {last}, or down in between"
        )


def _check_range(
    X: Any, array: npt.NDArray[np.integer[Any]], name: str, end: int, begin: int = 0
) -> None:
    if len(array) == 0:
        return
    for value in (int(array.min()), int(array.max())):
        if not begin <= value < end:
            raise ValueError(
                f"X.{name} of the {_words(X)} must be from {begin} to {end - 1}, got {value}"
            )


def _words(X: Any) -> str:
    return f"sparse matrix ({X.format.upper()}, {X.shape[0]} x {X.shape[1]})"
