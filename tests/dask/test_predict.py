# SPDX-License-Identifier: BSD-3-Clause
"""Predictions on Dask are lazy, equal to those of the local forest, with one model a worker."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from co2forest import CO2ForestClassifier, CO2ForestRegressor, load_model, save_model
from co2forest.dask import DaskCO2ForestClassifier, DaskCO2ForestRegressor
from dask_faults import wait_until

RANDOM = np.random.RandomState(0)
ROWS = RANDOM.normal(size=(300, 4)).astype(np.float32)
LABELS = np.where(ROWS[:, 0] > 0, "yes", "no")
NAMES = ["a", "b", "c", "d"]
ARRAY = da.from_array(ROWS, chunks=(80, 4))
FRAME = dd.from_pandas(pd.DataFrame(ROWS, columns=NAMES), npartitions=3)


@pytest.fixture(scope="module")
def forest(threads):
    labels = da.from_array(LABELS, chunks=80)
    return DaskCO2ForestClassifier(5, random_state=0).fit(ARRAY, labels)


@pytest.fixture(scope="module")
def named(threads):
    """A forest of a data frame."""
    labels = dd.from_pandas(pd.Series(LABELS), npartitions=3)
    return DaskCO2ForestClassifier(5, random_state=0).fit(FRAME, labels)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "apply"])
def test_arrays(forest, method):
    lazy = getattr(forest, method)(ARRAY)
    expected = getattr(forest.to_local(), method)(ROWS)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    assert lazy.chunks[0] == ARRAY.chunks[0]
    np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_array_equal(getattr(forest, method)(ROWS), expected)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply"])
def test_frames(named, method):
    lazy = getattr(named, method)(FRAME)
    expected = getattr(named.to_local(), method)(FRAME.compute())
    found = lazy.compute()
    pd.testing.assert_index_equal(found.index, FRAME.compute().index)
    np.testing.assert_array_equal(np.asarray(found), expected)
    if method == "predict_proba":
        assert list(lazy.columns) == ["no", "yes"]
    if method == "predict":
        assert lazy.name == "prediction"
        assert lazy.dtype == found.dtype


def test_numbers_of_frames(threads):
    targets = FRAME[["a", "b"]] * 2
    forest = DaskCO2ForestRegressor(5, random_state=0).fit(FRAME, targets)
    found = forest.predict(FRAME)
    assert list(found.columns) == ["0", "1"]
    np.testing.assert_array_equal(found.compute(), forest.to_local().predict(FRAME.compute()))
    one = DaskCO2ForestRegressor(5, random_state=0).fit(FRAME, FRAME["a"] * 2)
    assert one.predict(FRAME).compute().shape == (300,)


def test_nothing_is_computed_before_it_is_asked_for(forest):
    def fail(block):
        raise AssertionError

    lazy = ARRAY.map_blocks(fail, meta=np.empty((0, 4), np.float32))
    prediction = forest.predict(lazy)
    with pytest.raises(AssertionError):
        prediction.compute()


def test_a_block_is_a_task_and_the_model_another(forest):
    graph = dict(dask.optimize(forest.predict(ARRAY))[0].__dask_graph__())
    tasks = [key for key in graph if "predict_block" in str(key)]
    assert len(tasks) == ARRAY.npartitions


def test_each_worker_gets_the_model_once(client):
    """Counted where it arrives."""
    forest = DaskCO2ForestClassifier(3, random_state=0, client=client)
    forest.fit(ARRAY, da.from_array(LABELS, chunks=80))
    first, second = forest.predict(ARRAY), forest.predict_proba(ARRAY)
    dask.compute(first, second)
    holders = client.who_has()[forest._model_key]
    assert 1 <= len(holders) <= 2

    def models():
        return [key for key in client.who_has() if str(key).startswith("co2forest-model-")]

    wait_until(lambda: models() == [forest._model_key])  # those of other clients go with them


def test_without_a_cluster_dasks_own_schedulers_do(forest):
    alone = pickle.loads(pickle.dumps(forest))
    assert alone.client is None
    with dask.config.set(scheduler="threads"):
        lazy = alone.predict(ARRAY)
        np.testing.assert_array_equal(lazy.compute(), forest.predict(ROWS))


def test_chunks_of_columns_and_empty_blocks(forest):
    in_parts = da.from_array(ROWS, chunks=(80, 3))
    np.testing.assert_array_equal(forest.predict(in_parts).compute(), forest.predict(ROWS))
    some = ARRAY[ARRAY[:, 0] > 1]  # blocks of unknown lengths
    np.testing.assert_array_equal(
        forest.predict(some).compute(), forest.predict(ROWS[ROWS[:, 0] > 1])
    )
    none = ARRAY[ARRAY[:, 0] > 100]
    assert forest.predict(none).compute().shape == (0,)
    assert forest.predict_proba(none).compute().shape == (0, 2)


def test_other_features_are_refused_at_once(forest, named):
    with pytest.raises(ValueError, match="X has 3 features, but the forest expects 4"):
        forest.predict(ARRAY[:, :3])
    with pytest.raises(ValueError, match="features with other names, or in another order"):
        named.predict(FRAME[["b", "a", "c", "d"]])


def test_methods_for_data_in_memory_say_so(forest):
    with pytest.raises(TypeError, match="takes no Dask collection; predict"):
        forest.decision_path(ARRAY)


def test_the_local_forest_needs_no_dask(forest, tmp_path):
    local = forest.to_local()
    assert type(local) is CO2ForestClassifier
    forest.save(tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert type(loaded) is CO2ForestClassifier
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), local.predict_proba(ROWS))
    assert loaded.get_params()["max_samples"] is None
    with pytest.raises(AttributeError, match="which rows a tree drew is not known"):
        _ = loaded.estimators_samples_
    assert len(loaded.estimators_) == 5
    with pytest.raises(ValueError, match=r"only the estimator of co2forest\.dask can add trees"):
        loaded.set_params(warm_start=True, n_estimators=6).fit(ROWS, LABELS)
    fitted_here = loaded.set_params(warm_start=False).fit(ROWS, LABELS)
    assert len(fitted_here.estimators_samples_) == 6


def test_the_local_regressor_is_whole(threads, tmp_path):
    y = da.from_array(ROWS[:, 0] * 2.0, chunks=80)
    forest = DaskCO2ForestRegressor(3, random_state=0, loss="huber").fit(ARRAY, y)
    save_model(forest, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert type(loaded) is CO2ForestRegressor
    np.testing.assert_array_equal(loaded.predict(ROWS), forest.predict(ARRAY).compute())


def test_scores(forest):
    labels = da.from_array(LABELS, chunks=(100, 100, 100))
    weights = da.from_array(np.arange(300.0), chunks=50)
    local = forest.to_local()
    assert forest.score(ARRAY, labels) == pytest.approx(local.score(ROWS, LABELS))
    assert forest.score(ARRAY, labels, weights) == pytest.approx(
        local.score(ROWS, LABELS, np.arange(300.0))
    )
    assert forest.score(ROWS, LABELS) == local.score(ROWS, LABELS)


def test_scores_of_missing_targets_are_refused(threads):
    targets = ARRAY[:, 0]
    forest = DaskCO2ForestRegressor(2, random_state=0).fit(ARRAY, targets)
    with pytest.raises(ValueError, match=r"partition \d: Input y contains NaN"):
        forest.score(ARRAY, targets * np.nan)
    with pytest.raises(ValueError, match=r"partition \d: Input sample_weight contains NaN"):
        forest.score(ARRAY, targets, targets * np.nan)
