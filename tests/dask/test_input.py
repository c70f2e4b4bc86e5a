# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be fitted on Dask is refused, with a sentence that says what would be right."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from co2forest.dask import ClusterError, DaskCO2ForestClassifier, DaskCO2ForestRegressor

RANDOM = np.random.RandomState(0)
X = da.from_array(RANDOM.normal(size=(100, 3)), chunks=(25, 3))
Y = (X[:, 0] > 0).astype(int)
UNKNOWN = X[X[:, 0] < 10]  # all rows, but nobody knows


def replaced(array, row, value):
    """An array with another value in one row."""
    values = array.compute()
    values[row] = value
    return da.from_array(values, chunks=array.chunks)


def frame(**columns):
    values = {"a": np.arange(20.0), "b": np.arange(20.0) ** 2} | columns
    return dd.from_pandas(pd.DataFrame(values), npartitions=2)


def objects(*values):
    """Two kinds of values by turns."""
    column = np.empty(100, dtype=object)
    column[0::2], column[1::2] = values
    return da.from_array(column, chunks=25)


def turned():
    """A data frame whose second partition has its columns in another order than Dask believes."""
    values = frame().compute()
    parts = [dask.delayed(values[:10]), dask.delayed(values.iloc[10:, ::-1])]
    return dd.from_delayed(parts, meta=values[:0], verify_meta=False)


def floats(array):
    return array.astype(np.float64)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((X.compute(), Y), TypeError, "X must be a dask.array or a dask.dataframe, got ndarray"),
        ((X, Y.compute()), TypeError, "y must be a dask.array or a column .* got ndarray"),
        ((X, None), ValueError, "the target y is None"),
        ((X[:, 0], Y), ValueError, "X must have two dimensions, rows and features, got 1"),
        ((X, Y[:90]), ValueError, "X has 100 rows, but y has 90"),
        ((UNKNOWN, Y.rechunk(50)), ValueError, "X has 4 partitions and y has 2, .* repartition"),
        (
            (UNKNOWN, Y.rechunk(((25, 25, 20, 30),))),
            ValueError,
            r"partition [23]: X has 25 rows, but y",
        ),
        ((X, Y, Y.compute()), TypeError, "sample_weight must be a dask.array .* got ndarray"),
        ((X, Y, floats(Y) - 1), ValueError, r"partition \d: sample_weight must not be negative"),
        ((X, Y, floats(Y) * 0), ValueError, "zero for every row; at least one must be positive"),
        ((replaced(X, 30, np.inf), Y), ValueError, "partition 1: Input X contains infinity"),
        ((replaced(X, 30, 1e300), Y), ValueError, "partition 1: Input X contains infinity"),
        ((X, replaced(floats(Y), 60, np.nan)), ValueError, "partition 2: Input y contains NaN"),
        ((X, X[:, 1]), ValueError, r"partition \d: Unknown label type: continuous"),
        ((X, X[:, :2]), ValueError, r"partition \d: y has 2 columns, so each must be a label"),
        ((X[:0], Y[:0]), ValueError, "X has no rows: all of its 1 partitions are empty"),
        ((frame().a, frame().a > 3), TypeError, "X must be a dask.array or a dask.dataframe, got"),
        ((frame(c=["x"] * 20), frame().a > 3), ValueError, "column 'c' of X has dtype"),
        ((frame(), frame(c=["x", None] * 10).c), ValueError, r"partition \d: y has missing values"),
        ((X, objects("x", None)), ValueError, r"partition \d: y has missing values"),
        ((X, objects("x", 3)), ValueError, r"partition \d: y has labels of kinds that cannot be"),
        ((dask.delayed(1), Y), TypeError, "X must be a dask.array or a dask.dataframe, got Del"),
        ((X, dask.delayed(1)), TypeError, "y must be a dask.array or a column .* got Delayed"),
        ((frame(c=pd.Categorical(["x"] * 20)), frame().a > 3), ValueError, "'c' .* dtype category"),
        ((turned(), frame().a > 3), ValueError, "columns of partition 1 differ from partition 0"),
        ((X.astype(complex), Y), ValueError, r"partition \d: Complex data not supported"),
        ((X[:, :0], Y), ValueError, r"partition \d: Found array with 0 feature"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_data_for_classes(threads, data, error, message):
    forest = DaskCO2ForestClassifier(2)
    with pytest.raises(error, match=message):
        forest.fit(*data)
    assert vars(forest).keys() == vars(DaskCO2ForestClassifier()).keys()  # as it was


@pytest.mark.parametrize(
    ("y", "params", "message"),
    [
        (replaced(X[:, 0], 99, np.nan), {}, "partition 3: Input y contains NaN"),
        (X[:, 0], {"loss": "poisson"}, "loss='poisson' is for counts and rates: y must not be"),
        (X[:, 0] * 0, {"loss": "poisson"}, "must have a positive number"),
        (X[:, 0], {"keep_targets": True}, "keep_targets=True is for forests of one machine"),
    ],
    ids=str,
)
def test_data_for_numbers(threads, y, params, message):
    with pytest.raises(ValueError, match=message):
        DaskCO2ForestRegressor(2, **params).fit(X, y)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_samples": 101}, ValueError, "max_samples=101 is more than the 100 rows of X"),
        ({"max_samples": 0}, ValueError, "'max_samples' parameter"),
        ({"trees_per_task": 0}, ValueError, "'trees_per_task' parameter"),
        ({"trees_per_task": "many"}, ValueError, "'trees_per_task' parameter"),
        ({"checkpoint": 3}, ValueError, "'checkpoint' parameter"),
        ({"oob_score": min}, ValueError, "'oob_score' parameter"),
        ({"client": "tcp://here"}, TypeError, "client must be a distributed.Client or None, got"),
        ({"class_weight": {0: -1}}, ValueError, r"class_weight\[0\] must be a finite number"),
        ({"class_weight": {0: 0, 1: 0}}, ValueError, "zero for every row"),
        ({"cost_matrix": [[0, 1]]}, ValueError, "cost_matrix must be a square array"),
        (
            {"bootstrap": False, "oob_score": True, "mixture": None},
            ValueError,
            "oob_score needs rows that a tree",
        ),
    ],
    ids=str,
)
def test_parameters(threads, params, error, message):
    with pytest.raises(error, match=message):
        DaskCO2ForestClassifier(2, **params).fit(X, Y)


def test_without_a_cluster(monkeypatch):
    def no_client():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", no_client)
    with pytest.raises(ValueError, match="there is no Dask cluster to work on: start one"):
        DaskCO2ForestClassifier(2).fit(X, Y)


def test_a_client_that_is_closed(threads):
    client = Client(threads.cluster, set_as_default=False)
    client.close()
    forest = DaskCO2ForestClassifier(2).fit(X, Y).set_params(client=client)
    for use in (lambda: forest.fit(X, Y), lambda: forest.predict(X), lambda: forest.score(X, Y)):
        with pytest.raises(ClusterError, match="not connected to a Dask scheduler"):
            use()
    assert forest.set_params(client=None).score(X, Y) > 0.9


def test_data_that_change_while_they_are_read(threads):
    """Recomputed for a wave, they must be what they were when they were surveyed."""
    lengths = iter([25, 25, 10] + [25] * 100)

    def rows(block):
        return block[: next(lengths)] if len(block) else block

    changing = X.map_blocks(rows, chunks=((np.nan,) * 4, (3,)), meta=np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"partition \d"):
        DaskCO2ForestClassifier(2).fit(changing, Y)


def test_it_is_an_estimator_of_scikit_learn(threads):
    forest = DaskCO2ForestClassifier(
        3, max_samples=50, nu=2.0, trees_per_task=2, client=threads, random_state=0
    )
    copy = clone(forest)
    theirs, ours = copy.get_params(), forest.get_params()
    assert theirs.pop("estimator") is not ours.pop("estimator")
    assert theirs == ours
    assert copy.client is threads
    assert "trees_per_task=2" in repr(copy)
    with pytest.raises(NotFittedError):
        copy.predict(X)
    with pytest.raises(NotFittedError):
        copy.to_local()


@pytest.mark.parametrize("estimator", [DaskCO2ForestClassifier, DaskCO2ForestRegressor])
def test_it_has_all_parameters_of_the_local_forest(estimator):
    """With the same defaults but bootstrap's."""
    ours = estimator().estimator.get_params()
    local = type(estimator().estimator)().get_params()
    assert ours.keys() == local.keys()
    differing = {name for name in local if ours[name] != local[name]}
    assert differing == {"bootstrap"}
