"""Predictions of collections: lazy, a task for each block, the model sent to each worker once."""

import copy
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
import numpy.typing as npt

from co2forest.dask._collections import is_frame
from co2forest.dask._threads import threads_of_worker

MANY = 64  # threads that rows can make use of


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

    ``like`` is its result without any rows; ``columns`` name those of a result that has several.
    """
    sent = _sent(model, key, client)
    if is_frame(X):
        meta = _as_frame(like, X._meta.index[:0], columns)  # noqa: SLF001
        return X.map_partitions(_predict_frame, sent, method, like, columns, meta=meta)
    if like.ndim == 1:
        return da.map_blocks(
            predict_block, X, sent, method, like, dtype=like.dtype, drop_axis=1, meta=like
        )
    chunks = (X.chunks[0], (like.shape[1],))
    return da.map_blocks(
        predict_block, X, sent, method, like, dtype=like.dtype, chunks=chunks, meta=like
    )


def _sent(model: Any, key: str, client: Any) -> Any:
    """The model as a task of its own: workers get it from each other, and again if one is lost.

    Without a cluster it is a part of the graph, for Dask's local schedulers.
    """
    try:
        client = distributed.get_client() if client is None else client
    except ValueError:
        return dask.delayed(model, name=key, traverse=False)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_same, model, key=key)


def _same(model: Any) -> Any:
    return model


def predict_block(block: Any, model: Any, method: str, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a method gives for a block; ``like`` if there are no rows."""
    if block.shape[0] == 0:
        return like
    with threads_of_worker(MANY) as n_threads:
        model = copy.copy(model)  # others use it at the same time
        model.n_jobs = n_threads
        result: npt.NDArray[Any] = getattr(model, method)(block)
    return np.asarray(result)


def _predict_frame(
    block: Any, model: Any, method: str, like: npt.NDArray[Any], columns: list[str] | None
) -> Any:
    return _as_frame(predict_block(block, model, method, like), block.index, columns)


def _as_frame(values: npt.NDArray[Any], index: Any, columns: list[str] | None) -> Any:
    import pandas as pd  # which a data frame brings

    if columns is None:
        return pd.Series(values, index=index, name="prediction")
    return pd.DataFrame(values, index=index, columns=columns)
