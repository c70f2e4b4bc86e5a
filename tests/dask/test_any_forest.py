# SPDX-License-Identifier: BSD-3-Clause
"""`DaskForest` takes any forest of the library, and shows what the fitted one has."""

import pickle

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from co2forest import (
    CO2BoostingClassifier,
    CO2ForestClassifier,
    CO2ForestRegressor,
    baselines,
    load_model,
)
from co2forest.dask import DaskCO2ForestClassifier, DaskForest

RANDOM = np.random.RandomState(0)
ROWS = RANDOM.normal(size=(400, 5)).astype(np.float32)
LABELS = np.where(ROWS[:, 0] + ROWS[:, 1] > 0, "yes", "no")
NUMBERS = 3.0 * ROWS[:, 0] + ROWS[:, 1]
X = da.from_array(ROWS, chunks=(100, 5))
FORESTS = [CO2ForestClassifier, CO2ForestRegressor] + [
    getattr(baselines, name) for name in baselines.__all__
]


def lazy_targets(forest):
    return da.from_array(LABELS if is_classifier(forest) else NUMBERS, chunks=100)


@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: forest.__name__)
def test_every_forest_of_the_library(threads, tmp_path, forest):
    local = forest(5, bootstrap=True, oob_score=True, random_state=0)
    y = lazy_targets(local)
    fitted = DaskForest(local).fit(X, y)
    assert not hasattr(local, "_forest")  # it is a parameter
    assert type(fitted.estimator_) is forest
    assert fitted.to_local() is fitted.estimator_
    assert fitted.score(X, y) > 0.8
    assert 0.3 < fitted.oob_score_ < fitted.score(X, y)
    np.testing.assert_array_equal(fitted.predict(X).compute(), fitted.predict(ROWS))
    fitted.save(tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert type(loaded) is forest
    np.testing.assert_array_equal(loaded.predict(ROWS), fitted.predict(ROWS))


@pytest.mark.parametrize("forest", [CO2ForestClassifier, CO2ForestRegressor])
def test_the_fitted_forest_shows_through(threads, forest):
    fitted = DaskForest(forest(3, random_state=0))
    assert is_classifier(fitted) == is_classifier(forest())
    assert is_regressor(fitted) == is_regressor(forest())
    assert hasattr(fitted, "predict_proba") == is_classifier(fitted)
    with pytest.raises(AttributeError, match="'DaskForest' object has no attribute 'scale_'"):
        _ = fitted.scale_
    with pytest.raises(NotFittedError):
        fitted.predict(X)
    fitted.fit(X, lazy_targets(fitted))
    local = fitted.to_local()
    assert fitted.n_features_in_ == 5
    assert fitted.scale_ == local.scale_
    np.testing.assert_array_equal(fitted.n_iter_, local.n_iter_)
    np.testing.assert_array_equal(fitted.feature_importances_, local.feature_importances_)
    assert len(fitted.estimators_) == 3
    assert hasattr(fitted, "classes_") == is_classifier(fitted)
    assert hasattr(fitted, "solver_") == is_regressor(fitted)
    assert not hasattr(fitted, "feature_names_in_")
    indicator, _ = fitted.decision_path(ROWS)
    assert indicator.shape[0] == 400


def test_pickles_and_clones(threads):
    forest = DaskForest(
        CO2ForestClassifier(3, random_state=0, mixture=None), client=threads, trees_per_task=2
    )
    forest.fit(X, lazy_targets(forest))
    again = pickle.loads(pickle.dumps(forest))
    assert again.client is None
    assert again.trees_per_task == 2
    np.testing.assert_array_equal(again.predict_proba(ROWS), forest.predict_proba(ROWS))
    copy = clone(forest)
    assert copy.client is threads
    assert copy.estimator is not forest.estimator
    assert not hasattr(copy, "estimator_")


def test_the_short_names_build_the_same(threads):
    short = DaskCO2ForestClassifier(3, random_state=0, mixture=None, trees_per_task=2)
    assert isinstance(short, DaskForest)
    assert short.trees_per_task == 2
    long = DaskForest(CO2ForestClassifier(3, bootstrap=True, random_state=0, mixture=None))
    y = lazy_targets(long)
    np.testing.assert_array_equal(
        short.fit(X, y).predict_proba(ROWS), long.fit(X, y).predict_proba(ROWS)
    )
    with pytest.raises(TypeError, match="n_trees"):
        DaskCO2ForestClassifier(n_trees=3)


def test_several_labels_are_for_forests_that_take_them(threads):
    labels = da.from_array((ROWS[:, :2] > 0).astype(int), chunks=(100, 2))
    with pytest.raises(ValueError, match=r"AxisForestClassifier takes one class per row, got 2"):
        DaskForest(baselines.AxisForestClassifier(2)).fit(X, labels)


@pytest.mark.parametrize("wrong", [CO2BoostingClassifier(), 3, CO2ForestClassifier])
def test_other_estimators_are_refused(threads, wrong):
    with pytest.raises(ValueError, match="The 'estimator' parameter of DaskForest must be"):
        DaskForest(wrong).fit(X, da.from_array(LABELS, chunks=100))


def test_a_mixture_is_decided_on_a_sample_and_kept_by_a_warm_start(threads):
    noise = RANDOM.random(len(ROWS)) < 0.2
    y = da.from_array(((ROWS[:, 0] > 0) ^ (ROWS[:, 1] > 0) ^ noise).astype(int), chunks=100)
    local = CO2ForestClassifier(6, mixture="auto", bootstrap=True, warm_start=True, random_state=0)
    forest = DaskForest(local).fit(X, y)
    first = forest.to_local().mixture_
    assert sum(kind["n_trees"] for kind in first) == 6
    again = forest.set_params(estimator__n_estimators=9).fit(X, y).to_local().mixture_
    assert sum(kind["n_trees"] for kind in again) == 9
    assert [kind["loss"] for kind in again] == [kind["loss"] for kind in first]
