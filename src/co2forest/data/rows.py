# SPDX-License-Identifier: BSD-3-Clause
"""Turns validated data into the rows that the native core reads, without a copy where it can."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from co2forest import _native
from co2forest.data.columns.columns import Columns, categorical_columns, has_columns
from co2forest.data.columns.frames import Frame, is_frame
from co2forest.data.sparse import check_sparse
from co2forest.files.arrays import aligned

# What is read as it is; every other dtype becomes the first.
ROW_DTYPES = (np.float32, np.uint8)


def plain_rows(X: Any) -> npt.NDArray[Any] | None:
    """What scikit-learn's validation makes of a plain array of numbers; None for all else.

    It finds that out in 1/20 of the time, which matters where rows are predicted one by one, and
    without a search of all installed packages for kinds of data frames, which matters in the first
    fit of a process. What may have to be rejected or reported is left to scikit-learn.
    """
    if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or X.ndim != 2 or X.size == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        dtype = X.dtype if X.dtype in ROW_DTYPES else ROW_DTYPES[0]
        rows = X.astype(dtype, order="C", copy=False)
        known_finite = rows.dtype == np.uint8 or math.isfinite(rows.sum())
    return rows if known_finite else None


def native_rows(X: Any) -> _native.Rows:
    """Rows of a C-contiguous float32 or uint8 array, or of a CSR matrix."""
    if not sp.issparse(X):
        return _native.dense_rows(X if X.flags.aligned and X.size else aligned(X))
    X = X.astype(np.float32, copy=False)
    if not X.has_canonical_format:  # the core wants increasing columns without repeats
        X = X.copy()
        X.sum_duplicates()
    indices, data = X.indices[: X.nnz], X.data[: X.nnz]  # arrays may have room for more
    return _native.sparse_rows(
        aligned(np.ascontiguousarray(X.indptr, dtype=np.int64)),
        aligned(np.ascontiguousarray(indices, dtype=np.int32)),
        aligned(np.ascontiguousarray(data)),
        X.shape[1],
    )


def rows_to_fit(estimator: Any, X: Any) -> tuple[Any, Columns | None]:
    """Check the rows of a fit; a warm start must go on to see the same features.

    Returns X as the native core takes it, and its columns where they may be more than numbers.
    """
    check_sparse(X)
    names = getattr(estimator, "feature_names_in_", None)
    goes_on = getattr(estimator, "warm_start", False) and hasattr(estimator, "_forest")
    earlier = getattr(estimator, "_column_views", None) if goes_on else None
    given = getattr(estimator, "categorical_features", None)
    columns = None
    if earlier is not None and earlier.columns.has_categories:
        frame = _frame(estimator, X, reset=True)
        columns, X = earlier.columns, earlier.columns.encode(frame)
    elif has_columns(X, given):
        frame = _frame(estimator, X, reset=True)
        wanted = categorical_columns(frame, given, named=is_frame(X))
        columns, X = Columns.learn(frame, wanted)
    else:
        X = validated_rows(estimator, X, reset=True)
    if names is not None and goes_on:
        check_same_names(names, getattr(estimator, "feature_names_in_", None))
    if columns is None and _may_have_gaps(X):
        columns = Columns.numbers(_names(estimator, X.shape[1]))
    return X, columns


def _frame(estimator: Any, X: Any, *, reset: bool) -> Frame:
    """The columns of X, whose number and names are set by a fit, and checked later."""
    frame = Frame.of(X)
    if frame.n_rows == 0 or frame.n_columns == 0:
        raise ValueError(
            f"X has {frame.n_rows} rows and {frame.n_columns} columns; at least one of each is "
            "needed"
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return frame


def _encoded(estimator: Any, X: Any, columns: Columns) -> Any:
    """Rows to predict, column by column."""
    return columns.encode(_frame(estimator, X, reset=False))


def unknown_categories(estimator: Any, X: Any) -> dict[str, dict[str, int]]:
    """By column, categories that training did not have or had once, and their numbers of rows."""
    views = getattr(estimator, "_column_views", None)
    if views is None or not views.columns.has_categories:
        return {}
    frame = _frame(estimator, X, reset=False)
    found: dict[str, dict[str, int]] = views.columns.unknown(frame)
    return found


def _may_have_gaps(X: Any) -> bool:
    if sp.issparse(X) or X.dtype != np.float32:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return not math.isfinite(X.sum())


def _names(estimator: Any, n_features: int) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_features)] if names is None else list(names)


def check_same_names(earlier: npt.NDArray[np.object_], names: Any) -> None:
    """Raise if a warm start has features with other names than before; it may have none."""
    if names is not None and not np.array_equal(earlier, names):
        raise ValueError(
            "warm_start=True, but the features have other names or another order than in the "
            f"first fit: {list(names)}, not {list(earlier)}"
        )


def validated_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Rows as `native_rows` takes them; ``reset`` sets the number and names of features.

    Columns of categories hold their codes.
    """
    check_sparse(X)
    views = None if reset else getattr(estimator, "_column_views", None)
    columns = None if views is None else views.columns
    if not reset and columns is None and has_columns(X, None):
        columns = Columns.numbers(Frame.of(X).names)  # so that an error names the column
        return _encoded(estimator, X, columns)
    if columns is not None and (columns.has_categories or has_columns(X, None)):
        return _encoded(estimator, X, columns)
    rows = plain_rows(X)
    if rows is not None and reset:
        estimator.n_features_in_ = rows.shape[1]
        if hasattr(estimator, "feature_names_in_"):  # from an earlier fit
            del estimator.feature_names_in_
        return rows
    if (
        rows is not None
        and rows.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    ):
        return rows
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=list(ROW_DTYPES),
        order="C",
        ensure_all_finite="allow-nan",
    )
