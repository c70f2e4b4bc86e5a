# SPDX-License-Identifier: BSD-3-Clause
"""Errors of forests after each of their trees."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import root_mean_squared_error

import export_models
from co2forest import (
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.models import curves
from co2forest.models.curves import error_by_trees


def test_errors_are_those_of_shorter_forests(digits):
    X, X_test, y, y_test = digits
    model = CO2ForestClassifier(8, random_state=0, mixture=None).fit(X, y)
    numbers, errors = error_by_trees(model, X_test, y_test)
    assert numbers.tolist() == list(range(1, 9))
    for n in (1, 3, 8):
        shorter = CO2ForestClassifier(n, random_state=0, mixture=None).fit(X, y)
        np.testing.assert_allclose(errors[n - 1], 1 - shorter.score(X_test, y_test))


@pytest.mark.parametrize("name", export_models.MODELS)
def test_the_last_error_is_that_of_the_model(name):
    model, X = export_models.model(name)
    said = np.array(model.predict(X))
    y = said.copy()
    y[:40] = said[40:80]  # some are wrong
    errors = error_by_trees(model, X, y)[1]
    if hasattr(model, "predict_proba"):
        wrong = np.any((said != y).reshape(len(y), -1), axis=1)
        np.testing.assert_allclose(errors[-1], wrong.mean())
    else:
        ours, truth = said.reshape(len(y), -1), y.reshape(len(y), -1)
        unit = np.abs(truth).max(axis=0)  # squares of 1e200 overflow
        each = np.sqrt((((ours - truth) / unit) ** 2).mean(axis=0)) * unit
        np.testing.assert_allclose(errors[-1], each.mean(), rtol=1e-6)


@pytest.mark.parametrize("block", [2**20, 4096])
def test_out_of_bag(digits, block, monkeypatch):
    monkeypatch.setattr(curves, "_BLOCK", block)
    X, _, y, _ = digits
    sampled = {"bootstrap": True, "max_samples": 0.3, "oob_score": True, "random_state": 0}
    for forest in (
        CO2ForestClassifier(12, **sampled, mixture=None),
        RandomForestClassifier(12, **sampled),
    ):
        errors = error_by_trees(forest.fit(X, y), X, y, out_of_bag=True)[1]
        np.testing.assert_allclose(errors[-1], 1 - forest.oob_score_)
        first = forest.estimators_samples_[0]
        rest = np.setdiff1d(np.arange(len(y)), first)
        tree = forest.estimators_[0]
        wrong = tree.predict_proba(X[rest]).argmax(axis=1) != y[rest]
        np.testing.assert_allclose(errors[0], wrong.mean())


def test_random_forests_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    y = np.c_[y, -y]
    forest = RandomForestRegressor(5, random_state=0).fit(X[:300], y[:300])
    errors = error_by_trees(forest, X[300:], y[300:])[1]
    expected = root_mean_squared_error(y[300:], forest.predict(X[300:]))
    np.testing.assert_allclose(errors[-1], expected)


def test_rounds_of_boosting():
    X, y = load_diabetes(return_X_y=True)
    model = CO2BoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    errors = error_by_trees(model, X, y)[1]
    staged = [root_mean_squared_error(y, said) for said in model.staged_predict(X)]
    np.testing.assert_allclose(errors, staged, rtol=1e-6)


def test_what_has_no_errors(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(3, bootstrap=True, random_state=0, mixture=None).fit(X, y)
    with pytest.raises(ValueError, match=r"y has none of the model's classes \[0, 1, 2\]"):
        error_by_trees(forest, X, np.full(300, "a"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        error_by_trees(forest, X, y[:5])
    with pytest.raises(ValueError, match="X has 200 rows, but the trees were drawn from 300"):
        error_by_trees(forest, X[:200], y[:200], out_of_bag=True)
    everything = CO2ForestClassifier(2, bootstrap=False, random_state=0, mixture=None).fit(X, y)
    with pytest.raises(ValueError, match="every tree drew all rows"):
        error_by_trees(everything, X, y, out_of_bag=True)
    tree = CO2TreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="whose trees draw rows, got CO2TreeClassifier"):
        error_by_trees(tree, X, y, out_of_bag=True)
    forest._draws = replace(forest._draws, partitioned=True)
    with pytest.raises(ValueError, match="grown on Dask"):
        error_by_trees(forest, X, y, out_of_bag=True)
    numbers = CO2ForestRegressor(2, random_state=0, mixture=None).fit(X, y)
    with pytest.raises(ValueError, match="y has 2 columns, but the model predicts 1 outputs"):
        error_by_trees(numbers, X, np.c_[y, y])
