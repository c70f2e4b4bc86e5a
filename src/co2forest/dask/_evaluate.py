"""Scores of a forest on the rows of partitions: all of them, or those that trees left out."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import dask
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import assert_all_finite

from co2forest._rows import native_rows
from co2forest.dask._blocks import take, to_rows, to_weights
from co2forest.dask._cluster import run_all
from co2forest.dask._collections import Partitions
from co2forest.dask._predict import MANY, predict_block
from co2forest.dask._scores import Hits, Residuals
from co2forest.dask._survey import Data
from co2forest.dask._tasks import Source, counted_rows
from co2forest.dask._threads import threads_of_worker

Kind = type[Hits] | type[Residuals]


def score_on_cluster(client: Any, partitions: Partitions, model: Any, kind: Kind) -> float:
    """The score of a fitted local forest on all partitions."""
    score = dask.delayed(_score_block, pure=False)
    sent = dask.delayed(model, traverse=False)
    numbers = range(len(partitions))
    tasks = [score(number, *partitions.part(number), sent, kind) for number in numbers]
    return _total(run_all(client, tasks, [f"partition {number}" for number in numbers]))


def score_out_of_bag(
    client: Any, data: Data, source: Source, model: Any, kind: Kind, n_draws: int
) -> float:
    """The score on rows by those trees that did not draw them, which a partition finds out."""
    score = dask.delayed(_score_left_out, pure=False)
    sent = dask.delayed(model, traverse=False)
    shared = dask.delayed(source, traverse=False)
    n_trees = model._forest.n_trees  # noqa: SLF001
    draws = [source.draws(tree, n_draws) for tree in range(n_trees)]
    numbers = [number for number, size in enumerate(data.sizes) if size > 0]
    tasks = [
        score(
            number,
            *data.partitions.part(number),
            shared,
            [int(n[number]) for n in draws],
            sent,
            kind,
        )
        for number in numbers
    ]
    return _total(run_all(client, tasks, [f"partition {number}" for number in numbers]))


def _total(parts: Sequence[Any]) -> float:
    found = [part for part in parts if part is not None]
    return float(reduce(add, found).score()) if found else float("nan")


def _score_block(number: int, X: Any, y: Any, weight: Any, model: Any, kind: Kind) -> Any:
    if len(y) == 0:
        return None
    prediction = predict_block(X, model, "predict", np.empty(0))
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
    return kind.of(truth, prediction, ones)


def _score_left_out(
    number: int,
    X: Any,
    y: Any,
    weight: Any,
    source: Source,
    draws: list[int],
    model: Any,
    kind: Kind,
) -> Any:
    counted, encoded, _ = counted_rows(number, y, weight, source)
    rows = native_rows(to_rows(take(X, counted), source.dtype))
    forest = model._forest  # noqa: SLF001
    outputs, used = np.zeros((len(counted), forest.n_outputs)), np.zeros(len(counted))
    with threads_of_worker(MANY) as n_threads:
        for tree, n_draws in enumerate(draws):
            left_out = np.ones(len(counted))
            if n_draws > 0:
                drawn, _ = source.rows(tree, n_draws, number)
                left_out[drawn] = 0.0
            outputs += forest.tree(tree).predict(rows, n_threads) * left_out[:, None]
            used += left_out
    seen = used > 0
    if not seen.any():
        return None
    means = outputs[seen] / used[seen, None]
    decide = model._decide if is_classifier(model) else model._in_units_of_y  # noqa: SLF001
    truth = source.targets.decode(encoded[seen])
    return kind.of(truth, decide(means), np.ones(len(truth)))
