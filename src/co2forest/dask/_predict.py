# SPDX-License-Identifier: BSD-3-Clause
"""Lazy predictions of collections: one task per block, the model sent to each worker once."""

import copy
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
import numpy.typing as npt

from co2forest.dask._cluster import find_client
from co2forest.dask._collections import is_frame
from co2forest.dask._threads import threads_of_worker

MANY = 64  # threads, more than a block of rows can use
_CLUSTER = (None, "dask.distributed", "distributed")  # settings for which a cluster is used


def predict_lazily(
    X: Any,
    model: Any,
    key: str,
    client: Any,
    method: str,
    like: npt.NDArray[Any],
    columns: list[str] | None,
) -> Any:
    """What a method of a fitted local forest gives for each block.

    ``like`` is a result for one row; ``columns`` name those of a result that has several.
    """
    sent = _sent(model, key, client)
    if is_frame(X):
        meta = _as_frame(like, None, columns).iloc[:0]
        meta.index = X._meta.index[:0]  # noqa: SLF001
        return X.map_partitions(_predict_frame, sent, method, meta, meta=meta)
    none = like[:0]
    shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], like.shape[1:])}
    return da.map_blocks(predict_block, X, sent, method, none, dtype=none.dtype, meta=none, **shape)


def _sent(model: Any, key: str, client: Any) -> Any:
    """The model as a task of its own, which workers get from each other, or again if one is lost.

    Without a cluster it is in the graph, for Dask's local schedulers.
    """
    client = _current_client() if client is None else find_client(client)
    if client is None:
        return dask.delayed(model, name=key, traverse=False)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_same, model, key=key)


def _current_client() -> Any:
    if dask.config.get("scheduler", None) not in _CLUSTER:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _same(model: Any) -> Any:
    return model


def predict_block(block: Any, model: Any, method: str, none: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a method gives for a block; ``none`` if there are no rows."""
    if block.shape[0] == 0:
        return none
    with threads_of_worker(MANY) as n_threads:
        model = copy.copy(model)  # others use it at the same time
        model.n_jobs = n_threads
        result: npt.NDArray[Any] = getattr(model, method)(block)
    return np.asarray(result)


def _predict_frame(block: Any, model: Any, method: str, meta: Any) -> Any:
    if len(block) == 0:
        return meta
    values = predict_block(block, model, method, np.empty(0))
    return _as_frame(values, block.index, getattr(meta, "columns", None))


def _as_frame(values: npt.NDArray[Any], index: Any, columns: Any) -> Any:
    import pandas as pd  # installed if there is a data frame

    if columns is None:
        return pd.Series(values, index=index, name="prediction")
    return pd.DataFrame(values, index=index, columns=columns)
