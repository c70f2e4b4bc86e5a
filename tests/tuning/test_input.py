# SPDX-License-Identifier: BSD-3-Clause
"""What tune_forest takes, and what it says to what it does not take."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from co2forest import CO2ForestClassifier, CO2TreeClassifier
from co2forest.baselines import TwoProbeForestClassifier
from co2forest.tuning import tune_forest

QUICK = {
    "grid": {"nu": [1]},
    "max_features_grid": None,
    "trial_n_estimators": 2,
    "random_state": 0,
    "estimator": CO2ForestClassifier(2, mixture=None),
}


def scores(result):
    return [row["score"] for row in result.table]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "grid"}, r"method must be one of \('holdout', 'halving', 'oob'\), got 'grid'"),
        ({"holdout_size": 0}, "holdout_size must be a fraction of the rows between 0 and 1, got 0"),
        ({"holdout_size": 20}, "holdout_size must be .* got 20"),
        ({"holdout_size": "x"}, "holdout_size must be .* got 'x'"),
        ({"n_splits": 0}, "n_splits must be a whole number of at least 1, got 0"),
        ({"trial_n_estimators": 1.5}, "trial_n_estimators must be a whole number .* got 1.5"),
        ({"standard_errors": -1}, "standard_errors must be a number .* got -1"),
        ({"standard_errors": float("nan")}, "standard_errors must be a number .* got nan"),
        ({"checkpoint": 3}, "checkpoint must be None or the name of a file, got 3"),
        ({"scoring": "speed"}, "scoring='speed' is not a scorer of scikit-learn"),
        ({"scoring": 3}, "scoring must be None, the name of a scorer or a callable .* got 3"),
        ({"max_features_grid": 0.5}, "max_features_grid must be None or a list of exponents"),
        ({"max_features_grid": [2]}, r"max_features_grid must be .* between 0 and 1, got \[2\]"),
        ({"max_features_grid": "sqrt"}, "max_features_grid must be .* got 'sqrt'"),
        ({"grid": {"n": [1]}}, "grid has 'n', which is not a parameter of .*; valid ones: .*nu,"),
        ({"grid": {"n_estimators": [1]}}, "grid has 'n_estimators', which is not chosen by tuning"),
        ({"grid": {"nu": 1}}, r"grid\['nu'\] must be a list of values, got 1"),
        ({"grid": {"solver": "cccp"}}, r"grid\['solver'\] must be a list of values, got 'cccp'"),
        ({"grid": {"nu": []}}, r"grid\['nu'\] is empty"),
        ({"grid": {"nu": [-1]}}, "grid has a value that is not allowed: The .nu. .* Got -1"),
        ({"grid": [{"nu": [1]}, 3]}, "grid must be a dict of lists .* got 3"),
        ({"grid": 3}, "grid must be a dict of lists .* got 3"),
        ({"grid": "nu"}, "grid must be a dict of lists .* got 'n"),
        ({"estimator": CO2ForestClassifier}, "give an instance, not the class"),
        (
            {"estimator": CO2TreeClassifier()},
            "estimator must be a forest of co2forest, got CO2Tree",
        ),
        (
            {"estimator": RandomForestClassifier()},
            "estimator must be a forest of co2forest, got Ra",
        ),
        ({"estimator": CO2ForestClassifier(nu=-1, mixture=None)}, "The 'nu' parameter"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"groups": np.ones(300)}, "groups has one value only, .*1.0.*; a hold-out needs"),
        ({"groups": np.arange(300), "method": "oob"}, "groups needs rows held out"),
        ({"sample_weight": np.zeros(300)}, "at least one non-zero"),
        ({"sample_weight": np.ones(3)}, "sample_weight.shape"),
        ({"n_splits": 2, "method": "oob"}, "n_splits=2 needs rows held out, but method='oob'"),
        ({"method": np.array(["oob", "holdout"])}, "method must be one of .* got array"),
        ({"method": ["oob"]}, r"method must be one of .* got \['oob'\]"),
        ({"refit": "no"}, "refit must be True or False, got 'no'"),
        ({"refit": 1}, "refit must be True or False, got 1"),
        ({"verbose": "yes"}, "verbose must be a whole number, True or False, got 'yes'"),
        (
            {"estimator": CO2ForestClassifier(oob_score=True, mixture=None)},
            "the estimator as given could not be fitted on all rows: oob_score needs rows",
        ),
        (
            {"estimator": CO2ForestClassifier(max_samples=1000, mixture=None)},
            "the estimator as given could .*: max_samples=1000 is more than the 300 rows",
        ),
        (
            {"grid": {"max_samples": [0.5, 1000]}},
            "the candidate {'max_samples': 1000} could not be fitted .* more than the 300 rows",
        ),
        ({"random_state": "x"}, "'x' cannot be used to seed"),
        ({"random_state": -1}, "Seed must be between"),
    ],
)
def test_what_is_wrong_is_named_before_any_forest_grows(blobs, monkeypatch, arguments, message):
    monkeypatch.setattr(CO2ForestClassifier, "fit", lambda *_: pytest.fail("too late"))
    with pytest.raises((ValueError, TypeError), match=message):
        tune_forest(*blobs, **QUICK | arguments)


def test_data_are_refused_as_by_fit(blobs):
    X, y = blobs
    infinite = X.copy()
    infinite[3, 3] = np.inf
    for bad in ((infinite, y), (X, y[:-1]), (X[:, 0], y), (X, None), (X, np.full(300, np.nan))):
        with pytest.raises(ValueError, match=r".+") as by_fit:
            CO2ForestClassifier(2, mixture=None).fit(*bad)
        with pytest.raises(ValueError, match=r".+") as by_tuning:
            tune_forest(*bad, **QUICK)
        assert str(by_tuning.value) == str(by_fit.value)


def test_missing_values_are_fine(blobs):
    X, y = blobs
    missing = X.copy()
    missing[::7, 2] = np.nan
    assert tune_forest(missing, y, **QUICK).best_score > 0.5


def test_a_scorer_that_fails_says_who_called_it(blobs):
    def broken(estimator, X, y):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as error:
        tune_forest(*blobs, scoring=broken, **QUICK)
    assert "raised by scoring=" in error.value.__notes__[0]


def test_scorers_that_give_no_number(blobs):
    with pytest.raises(TypeError, match="must give a number, got 'good'"):
        tune_forest(*blobs, scoring=lambda *_: "good", **QUICK)
    with pytest.raises(ValueError, match="no candidate has a score that is a finite number"):
        tune_forest(*blobs, scoring=lambda *_: float("nan"), **QUICK)


def test_a_scorer_may_ask_the_forest_anything(blobs):
    def small(estimator, X, y):
        assert X.shape == (len(y), 8)
        return -float(estimator.feature_importances_.max()) + estimator.predict_proba(X).max()

    assert tune_forest(*blobs, scoring=small, **QUICK).scoring == "small"


@pytest.mark.parametrize("empty", [{}, []])
def test_an_empty_grid_leaves_the_number_of_features(blobs, empty):
    arguments = QUICK | {"grid": empty, "max_features_grid": [0.5, 0.9]}
    result = tune_forest(*blobs, **arguments)
    assert len(result.max_features_table) == 2
    assert set(result.best_params) <= {"max_features"}
    nothing = tune_forest(*blobs, **arguments | {"max_features_grid": []})
    assert (nothing.best_params, len(nothing.table)) == ({}, 1)


def test_forests_without_the_parameters_of_the_paper(blobs):
    result = tune_forest(*blobs, estimator=TwoProbeForestClassifier(2), trial_n_estimators=2)
    assert (result.best_params, len(result.table), result.max_features_table) == ({}, 1, [])


@pytest.mark.parametrize("method", ["holdout", "halving", "oob"])
def test_one_class(blobs, method):
    X, y = blobs
    result = tune_forest(X, np.zeros(len(y)), method=method, **QUICK)
    assert (result.best_params, result.best_score) == ({}, 1.0)


def test_a_class_with_one_row_is_not_stratified(blobs):
    X, y = blobs
    y = y.copy()
    y[17] = 99
    with pytest.warns(UserWarning, match="not stratified: 4 classes, the smallest with 1 of 300"):
        result = tune_forest(X, y, **QUICK)
    assert result.estimator.n_classes_ == 4


@pytest.mark.filterwarnings("ignore:the hold-out is not stratified")
@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("method", ["holdout", "halving", "oob"])
@pytest.mark.parametrize("rows", [2, 3, 5])
def test_tiny_data(rows, method):
    X = np.arange(2.0 * rows).reshape(rows, 2)
    search = QUICK | {"trial_n_estimators": 10}
    result = tune_forest(X, np.arange(rows) % 2, method=method, **search)
    assert result.estimator.predict(X).shape == (rows,)


def test_out_of_bag_without_any_row():
    search = QUICK | {"trial_n_estimators": 1, "random_state": 0}
    with pytest.raises(ValueError, match="every tree drew every row: try more trees"):
        tune_forest([[0.0], [1.0]], [0, 1], method="oob", **search)


def test_one_row_cannot_be_held_out():
    with pytest.raises(ValueError, match="a hold-out needs at least 2 rows, but X has 1"):
        tune_forest(np.ones((1, 2)), [0], **QUICK)


def test_one_feature(blobs):
    X, y = blobs
    result = tune_forest(X[:, :1], y, **QUICK | {"max_features_grid": [0.5, 0.9]})
    assert len(result.max_features_table) == 1


@pytest.mark.parametrize("labels", [["a", "b", "c"], [True, False, True], [-5, 7, 9]])
def test_labels_of_any_kind(blobs, labels):
    X, y = blobs
    named = np.array(labels)[y]
    result = tune_forest(X, named, **QUICK)
    assert set(result.estimator.predict(X)) <= set(named)
    if len(set(labels)) == 3:
        assert scores(result) == scores(tune_forest(X, y, **QUICK))


@pytest.mark.parametrize("method", ["holdout", "oob"])
def test_the_same_data_in_other_containers(blobs, method):
    X, y = blobs
    expected = scores(tune_forest(X, y, method=method, **QUICK))
    names = [f"f{i}" for i in range(8)]
    containers = {
        "pandas": pd.DataFrame(X, columns=names, index=np.arange(1000, 1300)),
        "polars": pl.DataFrame(X, schema=names),
        "list": X.tolist(),
        "float64": X.astype(np.float64),
        "column by column": np.asfortranarray(X),
    }
    for name, container in containers.items():
        result = tune_forest(container, pd.Series(y, index=y + 5), method=method, **QUICK)
        assert scores(result) == expected, name
        if name in ("pandas", "polars"):
            assert list(result.estimator.feature_names_in_) == names
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        result = tune_forest(kind(X), y, method=method, **QUICK)
        assert scores(result) == pytest.approx(expected, abs=0.05), kind


def test_frames_in_checkpoints(blobs, tmp_path):
    X, y = blobs
    file = tmp_path / "search.json"
    frame = pd.DataFrame(X).rename(columns=str)
    first = tune_forest(frame, y, checkpoint=file, **QUICK)
    assert tune_forest(frame, y, checkpoint=file, **QUICK).table == first.table
    with pytest.raises(ValueError, match="differs in X"):
        tune_forest(frame * 2, y, checkpoint=file, **QUICK)


def test_more_draws_than_the_hold_out_leaves(blobs):
    estimator = CO2ForestClassifier(2, max_samples=290, bootstrap=True, mixture=None)
    result = tune_forest(*blobs, **QUICK | {"estimator": estimator})
    assert result.estimator.max_samples == 290


def test_rows_held_out_without_any_weight(blobs):
    X, y = blobs
    weights = np.zeros(300)
    weights[:2] = 1
    with pytest.raises(ValueError, match="sample_weight is zero for"):
        tune_forest(X, y, sample_weight=weights, **QUICK | {"random_state": 1})


def test_the_data_are_not_changed(blobs):
    X, y = blobs
    before = X.copy(), y.copy()
    tune_forest(X, y, **QUICK)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
