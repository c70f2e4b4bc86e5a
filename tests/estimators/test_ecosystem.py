# SPDX-License-Identifier: BSD-3-Clause
"""The progress bar, and the classifiers within scikit-learn and its surroundings."""

import io
import re
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from co2forest import CO2ForestClassifier

# --- progress


def test_verbose_shows_progress_and_the_time_left(digits, capfd):
    X, _, y, _ = digits
    CO2ForestClassifier(300, verbose=1, random_state=0, mixture=None).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert re.fullmatch(r"co2forest \[\.{30}\] 0/300 trees, 0 s", lines[0])
    assert re.fullmatch(r"co2forest \[#{30}\] 300/300 trees, \d+ s", lines[-1])
    between = [
        re.fullmatch(r"co2forest \[#*\.+\] (\d+)/300 trees, \d+ s, \d+ s left", line)
        for line in lines[1:-1]
    ]
    assert between
    assert all(between)
    done = [int(match.group(1)) for match in between]
    assert done == sorted(done)
    assert len(lines) <= 12  # not a terminal: about one line for every tenth


def test_a_terminal_shows_one_line_that_is_redrawn(digits, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    X, _, y, _ = digits
    CO2ForestClassifier(200, verbose=1, random_state=0, mixture=None).fit(X, y)
    text = terminal.getvalue()
    assert text.endswith("\n")
    assert text.count("\n") == 1
    parts = text[:-1].split("\r")[1:]
    assert len(parts) > 2
    assert "200/200 trees" in parts[-1]
    assert len({len(part) for part in parts}) == 1  # each covers the one before


def test_silent_without_verbose(digits, capfd):
    X, X_test, y, _ = digits
    CO2ForestClassifier(20, bootstrap=True, oob_score=True, random_state=0, mixture=None).fit(
        X, y
    ).predict(X_test)
    assert capfd.readouterr() == ("", "")


def test_an_error_while_showing_progress_ends_the_fit(digits, monkeypatch):
    class Broken(io.StringIO):
        def write(self, text):
            if "left" in text:
                raise OSError("no space left on device")
            return len(text)

    X, _, y, _ = digits
    forest = CO2ForestClassifier(2000, verbose=1, random_state=0, mixture=None)
    monkeypatch.setattr(sys, "stderr", Broken())
    with pytest.raises(OSError, match="no space left"):
        forest.fit(X, y)


# --- with the rest of scikit-learn


def test_parameters_and_clone():
    forest = CO2ForestClassifier(
        7, nu=3.0, max_features=None, solver="cccp", warm_start=True, mixture=None
    )
    params = forest.get_params()
    assert params["n_estimators"] == 7
    assert params["nu"] == 3.0
    twin = clone(forest)
    assert twin.get_params() == params
    assert twin.set_params(nu="auto", n_estimators=2).nu == "auto"
    assert forest.nu == 3.0
    assert repr(forest).startswith("CO2ForestClassifier(")
    with pytest.raises(ValueError, match="Invalid parameter 'trees'"):
        forest.set_params(trees=3)


def test_fit_does_not_change_parameters_or_data(blobs):
    X, y = (array.copy() for array in blobs)
    weight = np.ones(300)
    X[3, 3] = np.nan
    kept = X.copy(), y.copy(), weight.copy()
    forest = CO2ForestClassifier(3, random_state=0, class_weight="balanced", mixture=None)
    params = forest.get_params()
    forest.fit(X, y, weight).predict(X)
    assert forest.get_params() == params
    for now, before in zip((X, y, weight), kept, strict=True):
        np.testing.assert_array_equal(now, before)


def test_pipeline_and_cross_validation(blobs):
    X, y = blobs
    model = make_pipeline(StandardScaler(), CO2ForestClassifier(10, random_state=0, mixture=None))
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.6


def test_grid_search(blobs):
    X, y = blobs
    search = GridSearchCV(
        CO2ForestClassifier(random_state=0, mixture=None),
        {"n_estimators": [1, 30], "max_depth": [1, 8]},
        cv=3,
        n_jobs=2,
    ).fit(X, y)
    assert search.best_params_ == {"n_estimators": 30, "max_depth": 8}
    assert search.best_estimator_._forest.n_trees == 30


def test_metadata_routing(blobs):
    X, y = blobs
    weight = np.where(y == 1, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = CO2ForestClassifier(5, random_state=0, mixture=None).set_fit_request(
            sample_weight=True
        )
        forest.set_score_request(sample_weight=False)
        results = cross_validate(
            forest, X, y, params={"sample_weight": weight}, cv=3, return_estimator=True
        )
        for fitted in results["estimator"]:
            np.testing.assert_array_equal(fitted.predict_proba(X)[:, 1], 0.0)
        deaf = CO2ForestClassifier(5, mixture=None).set_fit_request(sample_weight=False)
        assert deaf.get_metadata_routing().fit.requests == {"sample_weight": False}
