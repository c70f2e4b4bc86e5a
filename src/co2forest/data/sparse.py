# SPDX-License-Identifier: BSD-3-Clause
"""Checks sparse matrices before SciPy converts them: its compiled code trusts their arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def check_sparse(X: Any) -> None:
    """Raise unless the arrays of a sparse matrix fit together.

    `scipy.sparse.load_npz` reads any arrays, and every attribute can be set. The other formats,
    dictionaries and diagonals, are checked by SciPy when they are converted.
    """
    if not sp.issparse(X) or X.ndim != 2:
        return
    n_rows, n_columns = X.shape
    if X.format == "coo":
        _check_length(X, X.row, "row", X.data.shape[0])
        _check_length(X, X.col, "col", X.data.shape[0])
        _check_range(X, X.row, "row", n_rows)
        _check_range(X, X.col, "col", n_columns)
    elif X.format in ("csr", "csc", "bsr"):
        lines, others = (n_columns, n_rows) if X.format == "csc" else (n_rows, n_columns)
        if X.format == "bsr":
            if X.data.ndim != 3:
                raise ValueError(f"X.data of the {_words(X)} must have three dimensions")
            height, width = X.data.shape[1:]
            lines, others = lines // height, others // width
        _check_length(X, X.indices, "indices", X.data.shape[0])
        _check_pointers(X, lines)
        _check_range(X, X.indices, "indices", others)
    elif X.format == "lil":
        for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
            if len(columns) != len(values):
                raise ValueError(
                    f"row {row} of the {_words(X)} has {len(columns)} columns and {len(values)} "
                    "values; there must be as many"
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


def _check_range(X: Any, array: npt.NDArray[np.integer[Any]], name: str, end: int) -> None:
    if len(array) == 0:
        return
    for value in (int(array.min()), int(array.max())):
        if not 0 <= value < end:
            raise ValueError(
                f"X.{name} of the {_words(X)} must be from 0 to {end - 1}, got {value}"
            )


def _words(X: Any) -> str:
    return f"sparse matrix ({X.format.upper()}, {X.shape[0]} x {X.shape[1]})"
