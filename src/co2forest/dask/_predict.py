# SPDX-License-Identifier: BSD-3-Clause
"""Lazy predictions of collections, one task per block, and scores that partitions contribute to.

The model is sent to each worker once, and no process needs all rows.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import dask
import dask.array as da
import distributed
import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite

from co2forest.dask._blocks import take, to_rows, to_weights
from co2forest.dask._cluster import find_client, run_all
from co2forest.dask._collections import Partitions, is_frame
from co2forest.dask._survey import Data
from co2forest.dask._tasks import Source, counted_rows
from co2forest.dask._threads import threads_of_worker
from co2forest.data.rows import native_rows

_MANY = 64  # threads, more than a block of rows can use
_CLUSTER = (None, "dask.distributed", "distributed")  # settings for which a cluster is used

Row = npt.NDArray[np.float64]


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
    return da.map_blocks(
        _predict_block, X, sent, method, none, dtype=none.dtype, meta=none, **shape
    )


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


def _predict_block(block: Any, model: Any, method: str, none: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a method gives for a block; ``none`` if there are no rows."""
    if block.shape[0] == 0:
        return none
    with threads_of_worker(_MANY) as n_threads:
        model = copy.copy(model)  # others use it at the same time
        model.n_jobs = n_threads
        result: npt.NDArray[Any] = getattr(model, method)(block)
    return np.asarray(result)


def _predict_frame(block: Any, model: Any, method: str, meta: Any) -> Any:
    if len(block) == 0:
        return meta
    values = _predict_block(block, model, method, np.empty(0))
    return _as_frame(values, block.index, getattr(meta, "columns", None))


def _as_frame(values: npt.NDArray[Any], index: Any, columns: Any) -> Any:
    import pandas as pd  # installed if there is a data frame

    if columns is None:
        return pd.Series(values, index=index, name="prediction")
    return pd.DataFrame(values, index=index, columns=columns)


@dataclass(frozen=True)
class Accuracy:
    """The weight of right predictions, and of all."""

    right: float
    weight: float

    @classmethod
    def of(cls, truth: npt.NDArray[Any], prediction: npt.NDArray[Any], weight: Row) -> Self:
        """Score one partition; with several labels a row must have them all right."""
        equal = np.asarray(truth == prediction)
        right = equal.all(axis=1) if equal.ndim == 2 else equal
        return cls(float(weight[right].sum()), float(weight.sum()))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.right + other.right, self.weight + other.weight)

    def score(self) -> float:
        """The accuracy."""
        return self.right / self.weight if self.weight > 0 else float("nan")


@dataclass(frozen=True)
class RSquared:
    """What is left of the variance of each output."""

    weight: float
    mean: Row
    squares: Row  # around the mean
    residual: Row  # squares around the predictions

    @classmethod
    def of(cls, truth: npt.NDArray[Any], prediction: npt.NDArray[Any], weight: Row) -> Self:
        """Score one partition."""
        truth, prediction = truth.reshape(len(truth), -1), prediction.reshape(len(truth), -1)
        total, column = float(weight.sum()), weight[:, None]
        mean = (truth * column).sum(axis=0) / max(total, 1e-300)
        return cls(
            total,
            mean,
            ((truth - mean) ** 2 * column).sum(axis=0),
            ((truth - prediction) ** 2 * column).sum(axis=0),
        )

    def __add__(self, other: Self) -> Self:
        # Chan, Golub and LeVeque 1979: sums of squares without a loss of digits.
        total = self.weight + other.weight
        if total == 0:
            return self
        distance = other.mean - self.mean
        fraction = other.weight / total
        return type(self)(
            total,
            self.mean + distance * fraction,
            self.squares + other.squares + distance**2 * (self.weight * fraction),
            self.residual + other.residual,
        )

    def score(self) -> float:
        """The coefficient of determination, averaged over outputs, as scikit-learn defines it."""
        if self.weight == 0:
            return float("nan")
        constant = np.where(self.residual > 0, 0.0, 1.0)
        explained = 1.0 - self.residual / np.where(self.squares > 0, self.squares, 1.0)
        return float(np.mean(np.where(self.squares > 0, explained, constant)))


def score_on_cluster(client: Any, partitions: Partitions, model: Any) -> float:
    """The score of a fitted local forest on all partitions."""
    score = dask.delayed(_score_block, pure=False)
    sent, numbers = dask.delayed(model, traverse=False), range(len(partitions))
    tasks = [score(number, *partitions.blocks(number), sent) for number in numbers]
    return _total(client, tasks, numbers)


def score_out_of_bag(client: Any, data: Data, model: Any) -> float:
    """The score on rows by those trees that did not draw them, which a partition finds out."""
    score = dask.delayed(_score_left_out, pure=False)
    source = data.source(model._draws)  # noqa: SLF001
    sent, shared = (dask.delayed(value, traverse=False) for value in (model, source))
    draws = [source.draws_of(tree) for tree in range(model._forest.n_trees)]  # noqa: SLF001
    numbers = np.flatnonzero(data.sizes).tolist()
    tasks = [
        score(number, *data.partitions.blocks(number), shared, [n[number] for n in draws], sent)
        for number in numbers
    ]
    return _total(client, tasks, numbers)


def _total(client: Any, tasks: Sequence[Any], numbers: Sequence[int]) -> float:
    scores = run_all(client, tasks, [f"partition {number}" for number in numbers])
    found = [score for score in scores if score is not None]
    return float(reduce(add, found).score()) if found else float("nan")


def _kind(model: Any) -> type[Accuracy] | type[RSquared]:
    return RSquared if model._outputs.task == "numbers" else Accuracy  # noqa: SLF001


def _score_block(number: int, X: Any, y: Any, weight: Any, model: Any) -> Any:
    if len(y) == 0:
        return None
    prediction = _predict_block(X, model, "predict", np.empty(0))
    truth = np.asarray(y)
    if prediction.ndim == 1:
        truth = truth.reshape(len(truth))
    if truth.shape != prediction.shape:
        raise ValueError(
            f"partition {number}: y has shape {truth.shape}, but the predictions have "
            f"{prediction.shape}"
        )
    try:
        assert_all_finite(truth, input_name="y")
        weights = to_weights(weight, len(y))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error
    ones = np.ones(len(y)) if weights is None else weights.astype(np.float64)
    return _kind(model).of(truth, prediction, ones)


def _score_left_out(
    number: int, X: Any, y: Any, weight: Any, source: Source, draws: list[int], model: Any
) -> Any:
    values = source.targets.values(y)
    counted, _, _ = counted_rows(number, values, weight, source)
    rows = native_rows(to_rows(take(X, counted), source.dtype))
    forest, outputs = model._forest, model._outputs  # noqa: SLF001
    raw, used = np.zeros((len(counted), forest.n_outputs)), np.zeros(len(counted))
    with threads_of_worker(_MANY) as n_threads:
        for tree, n_draws in enumerate(draws):
            left_out = np.ones(len(counted))
            if n_draws > 0:
                drawn, _ = source.rows(tree, n_draws, number)
                left_out[drawn] = 0.0
            raw += forest.tree(tree).predict(rows, n_threads) * left_out[:, None]
            used += left_out
    seen = used > 0
    if not seen.any():
        return None
    prediction = outputs.decide(raw[seen] / used[seen, None])
    return _kind(model).of(values[counted[seen]], prediction, np.ones(len(prediction)))
