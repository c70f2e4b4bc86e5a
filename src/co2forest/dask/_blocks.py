# SPDX-License-Identifier: BSD-3-Clause
"""Turns the block of a partition, of NumPy, pandas or SciPy, into rows that the core takes."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from co2forest.data.rows import ROW_DTYPES, plain_rows
from co2forest.data.sparse import check_sparse

_ROWS_AT_ONCE = 4096  # that are converted to double precision for their sums


def take(block: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Some rows of a block."""
    return block.iloc[rows] if hasattr(block, "iloc") else block[rows]


def to_rows(block: Any, dtype: Any = None) -> Any:
    """A C-contiguous array of float32 or uint8, or a CSR matrix; an empty block has no rows."""
    plain = plain_rows(block)
    if plain is not None and dtype in (None, plain.dtype):
        return plain
    check_sparse(block)
    with np.errstate(over="ignore"):  # numbers too large for float32 are refused as infinite
        return check_array(
            block,
            accept_sparse="csr",
            dtype=list(ROW_DTYPES) if dtype is None else dtype,
            order="C",
            ensure_all_finite="allow-nan",
            ensure_min_samples=0,
            input_name="X",
        )


def to_weights(block: Any, n_rows: int) -> npt.NDArray[np.float32] | None:
    """Check that weights are finite and not negative."""
    if block is None:
        return None
    weights: npt.NDArray[np.float32] = check_array(
        block, ensure_2d=False, dtype=np.float32, ensure_min_samples=0, input_name="sample_weight"
    )
    weights = weights.ravel() if weights.ndim == 2 and weights.shape[1] == 1 else weights
    if weights.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows, but sample_weight has shape {weights.shape}")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min()}")
    return weights


def feature_sums(
    rows: Any, weights: npt.NDArray[np.float32] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The weighted sum of each feature's values that are not missing, and their weight.

    Rows are added in their order. A matrix product would add them in an order that depends on the
    machine, but all workers must find the same mean.
    """
    n_rows, n_features = rows.shape
    weight = np.ones(n_rows) if weights is None else weights.astype(np.float64)
    if sp.issparse(rows):
        entry_weight = np.repeat(weight, np.diff(rows.indptr))
        missing = np.isnan(rows.data)
        values = np.where(missing, 0.0, rows.data) * entry_weight
        lost = np.bincount(rows.indices, missing * entry_weight, n_features)
        return np.bincount(rows.indices, values, n_features).astype(np.float64), weight.sum() - lost
    sums = np.zeros(n_features, dtype=np.float64)
    present = np.zeros(n_features, dtype=np.float64)
    for begin in range(0, n_rows, _ROWS_AT_ONCE):
        block = rows[begin : begin + _ROWS_AT_ONCE].astype(np.float64)
        column = weight[begin : begin + _ROWS_AT_ONCE, None]
        missing = np.isnan(block)
        block[missing] = 0.0
        sums += (block * column).sum(axis=0)
        present += (~missing * column).sum(axis=0)
    return sums, present
