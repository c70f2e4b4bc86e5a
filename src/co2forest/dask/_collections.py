# SPDX-License-Identifier: BSD-3-Clause
"""Dask's arrays and data frames as lists of partitions that belong together."""

import math
from dataclasses import dataclass
from operator import getitem
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.delayed import Delayed

from co2forest.files.messages import shown


@dataclass(frozen=True)
class Partitions:
    """Lazy blocks of rows: those with the same number belong together."""

    X: list[Any]
    y: list[Any]
    weight: list[Any] | None
    feature_names: npt.NDArray[np.object_] | None  # if X has names that are all strings

    def __len__(self) -> int:
        return len(self.X)

    def blocks(self, number: int) -> tuple[Any, Any, Any]:
        """Rows, targets and weights of one partition; weights may be None."""
        return self.X[number], self.y[number], self.weight[number] if self.weight else None

    def persisted(self, client: Any) -> "Partitions":
        """The same partitions, computed once and then kept by the workers."""
        blocks = [*self.X, *self.y, *(self.weight or [])]
        kept = client.persist(blocks, optimize_graph=False)
        n = len(self)
        weight = kept[2 * n :] if self.weight else None
        return Partitions(kept[:n], kept[n : 2 * n], weight, self.feature_names)


def is_dask(X: Any) -> bool:
    """Whether it is an array, data frame or column of Dask."""
    return isinstance(X, da.Array) or _is_tabular(X)


def is_frame(X: Any) -> bool:
    """Whether it is a data frame of Dask; pandas need not be installed to ask."""
    return _is_tabular(X) and X.ndim == 2


def _is_tabular(X: Any) -> bool:
    known = dask.is_dask_collection(X) and not isinstance(X, Delayed)  # has any attribute
    return known and hasattr(X, "map_partitions") and hasattr(X, "ndim")


def partitions_of(X: Any, y: Any, sample_weight: Any) -> Partitions:
    """Partitions of training data; checks all that can be known without computing."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    X = rows_collection(X)
    _check_numbers(X)
    y = _beside("y", y, X)
    weight = [] if sample_weight is None else [_beside("sample_weight", sample_weight, X)]
    blocks = _blocks_of_all([X, y, *weight])
    return Partitions(blocks[0], blocks[1], blocks[2] if weight else None, names(X))


def rows_collection(X: Any) -> Any:
    """Make each partition of X have all columns."""
    if is_frame(X):
        return X
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be a dask.array or a dask.dataframe, got {type(X).__name__}; for data in the "
            "memory of this process there are the forests of co2forest itself"
        )
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, got {X.ndim}")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def names(X: Any) -> npt.NDArray[np.object_] | None:
    """Names of the features of a data frame, if all are strings."""
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    return np.array(list(X.columns), dtype=object)


def _check_numbers(X: Any) -> None:
    """Raise if a data frame has columns that are not numbers."""
    if not is_frame(X):
        return
    # Installed if there is a data frame.
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for name, dtype in X.dtypes.items():
        if not (is_numeric_dtype(dtype) or is_bool_dtype(dtype)):
            raise ValueError(
                f"the column {name!r} of X has dtype {dtype}, but features must be numbers: encode "
                "it, for example by dask.dataframe.get_dummies, or leave it out"
            )


def _beside(name: str, other: Any, X: Any) -> Any:
    """Split targets or weights into partitions that match those of X."""
    if not is_dask(other):
        raise TypeError(
            f"{name} must be a dask.array or a column of a dask.dataframe, as X is one, "
            f"got {type(other).__name__}"
        )
    if isinstance(other, da.Array):
        if other.ndim not in (1, 2):
            raise ValueError(f"{name} must have one or two dimensions, got {other.ndim}")
        if other.ndim == 2 and other.numblocks[1] > 1:
            other = other.rechunk({1: -1})
        if _known(other) and _known(X):
            if len(other) != len(X):
                raise ValueError(f"X has {len(X)} rows, but {name} has {len(other)}")
            return other.rechunk({0: X.chunks[0]}) if other.chunks[0] != X.chunks[0] else other
    if other.npartitions != X.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions and {name} has {other.npartitions}, and how many "
            "rows are in each is not known, so that they cannot be matched: repartition one of "
            "them, or make the lengths known by compute_chunk_sizes() and "
            "to_dask_array(lengths=True)"
        )
    return other


def _known(collection: Any) -> bool:
    """Whether the number of rows in each partition is known."""
    return isinstance(collection, da.Array) and not any(map(math.isnan, collection.chunks[0]))


def _blocks_of_all(collections: list[Any]) -> list[list[Any]]:
    """The delayed blocks of each collection."""
    if not any(isinstance(collection, da.Array) for collection in collections):
        return _blocks_of_frames(collections)
    if all(isinstance(collection, da.Array) for collection in collections):
        # Optimised together, and without fusing the tasks that read with those that compute: where
        # y is computed from X, each block is then read once, not twice.
        with dask.config.set({"optimization.fuse.active": False}):
            collections = list(dask.optimize(*collections))
    return [
        list(collection.to_delayed(optimize_graph=False).ravel())
        if isinstance(collection, da.Array)
        else collection.simplify().to_delayed(optimize_graph=False)
        for collection in collections
    ]


def _blocks_of_frames(collections: list[Any]) -> list[list[Any]]:
    """Blocks of data frames and columns; one task makes those of a partition.

    What they have in common is thus read once. `simplify` leaves out columns that are not needed.
    Further optimisation by Dask would change partitions: it merges small files where few of their
    columns are read, and then y would have fewer partitions than X.
    """
    together = collections[0].map_partitions(
        _tuple_of,
        *collections[1:],
        meta=(None, object),
        enforce_metadata=False,
        align_dataframes=False,
    )
    tuples = together.simplify().to_delayed(optimize_graph=False)
    pick = dask.delayed(getitem, pure=True)
    return [[pick(each, number) for each in tuples] for number in range(len(collections))]


def _tuple_of(*blocks: Any) -> tuple[Any, ...]:
    return blocks


def check_features(X: Any, n_features: int, names_in: npt.NDArray[np.object_] | None) -> None:
    """Raise if the features of a collection to predict are not those of the forest."""
    width = len(X.columns) if is_frame(X) else X.shape[1]
    if not math.isnan(width) and width != n_features:
        raise ValueError(f"X has {width} features, but the forest expects {n_features}")
    new = names(X)
    if names_in is not None and new is not None and not np.array_equal(names_in, new):
        raise ValueError(
            "X has features with other names, or in another order, than in fit: "
            f"{shown(list(new))}, not {shown(list(names_in))}"
        )
