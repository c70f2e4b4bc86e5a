# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of ensembles add up to what is predicted, and carry votes on as they should."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.integrate import quad_vec

from co2forest import CO2EnsembleClassifier, CO2EnsembleRegressor
from co2forest.data.outputs.calibration import Calibration
from co2forest.data.outputs.scores import log_softmax
from co2forest.inspection import (
    explain,
    plot_error_curve,
    plot_importances,
    plot_path,
    plot_tree,
)
from co2forest.inspection._probabilities import to_probabilities
from co2forest.tables import fit_table

SMALL = {"n_estimators": 10, "n_rounds": 20, "random_state": 0}
SURE, MODEST = Calibration(4.0, 0.005), Calibration(0.4, 0.5)
MAPS = [None, SURE, MODEST]


def probabilities(outputs, calibration):
    return np.exp(log_softmax(outputs)) if calibration is None else calibration(outputs)


def outputs_of(calibration, n_classes, size=1.0):
    """A base, and contributions of five features that add up to votes or scores of 20 rows."""
    random = np.random.default_rng(n_classes)
    if calibration is None:
        return size * random.normal(size=(20, 5, n_classes)), random.normal(size=n_classes)
    base, *votes = random.dirichlet(np.full(n_classes, 0.3), size=21)
    change = (np.array(votes) - base)[:, None]
    shares = random.normal(size=(20, 5, n_classes))
    shares += (1 - shares.sum(axis=1, keepdims=True)) / 5
    return shares * change, base


# --- from votes or scores to probabilities


@pytest.mark.parametrize("calibration", MAPS)
@pytest.mark.parametrize("n_classes", [2, 7])
def test_contributions_are_integrals(calibration, n_classes):
    contributions, base = outputs_of(calibration, n_classes)
    found, _ = to_probabilities(contributions, base, calibration)
    row = 3
    end = contributions[row].sum(axis=0)

    def derivative(t):
        """Of the probabilities by each feature's step, by differences."""
        here, tiny = base + t * end, 1e-7
        ahead, behind = here + tiny * contributions[row], here - tiny * contributions[row]
        change = probabilities(ahead, calibration) - probabilities(behind, calibration)
        return change / (2 * tiny)

    expected, _ = quad_vec(derivative, 1e-6, 1 - 1e-6, epsabs=1e-9)
    np.testing.assert_allclose(found[row], expected, atol=2e-5)


@pytest.mark.parametrize("calibration", MAPS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1000.0])
def test_contributions_add_up(calibration, size):
    contributions, base = outputs_of(calibration, 4, size)
    contributions = contributions if size else np.zeros_like(contributions)
    found, start = to_probabilities(contributions, base, calibration)
    expected = probabilities(base + contributions.sum(axis=1), calibration)
    np.testing.assert_allclose(start + found.sum(axis=1), expected, atol=1e-9)
    if size <= 1:  # no probability changes as fast as those of absurd scores
        np.testing.assert_allclose(found.sum(axis=2), 0.0, atol=1e-9)


@pytest.mark.parametrize("calibration", [None, MODEST])
def test_of_two_classes_all_change_in_proportion(calibration):
    contributions, base = outputs_of(calibration, 2)
    if calibration is not None:  # what one class gets, the other one loses
        contributions[:, :, 1] = -contributions[:, :, 0]
    found, start = to_probabilities(contributions, base, calibration)
    step = contributions[:, :, 1] - contributions[:, :, 0]
    outputs = base + contributions.sum(axis=1)
    change = probabilities(outputs, calibration)[:, 1] - start[1]
    expected = step * (change / step.sum(axis=1))[:, None]
    np.testing.assert_allclose(found[:, :, 1], expected, atol=1e-9)
    np.testing.assert_allclose(found[:, :, 0], -expected, atol=1e-9)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    contributions, base = outputs_of(SURE, 4)
    found, _ = to_probabilities(contributions, base, SURE)
    monkeypatch.setattr("co2forest.inspection._probabilities._BLOCK", 50)
    np.testing.assert_array_equal(to_probabilities(contributions, base, SURE)[0], found)


# --- ensembles


def assert_adds_up(why, expected):
    total = why.base + why.contributions.sum(axis=1)
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(why.prediction, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes, blobs):
    X, y = blobs
    model = CO2EnsembleClassifier(**SMALL).fit(X, np.minimum(y, n_classes - 1))
    why = explain(model, X)
    assert why.explains == "probability of each class"
    assert why.contributions.shape == (300, 8, n_classes)
    assert_adds_up(why, model.predict_proba(X))
    np.testing.assert_allclose(why.base.sum(), 1.0)
    np.testing.assert_allclose(why.contributions.sum(axis=2), 0.0, atol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_numbers(n_outputs, blobs):
    X, _ = blobs
    y = 1e6 + 1e3 * X[:, 0] if n_outputs == 1 else X[:, :2]
    model = CO2EnsembleRegressor(**SMALL).fit(X, y)
    why = explain(model, X)
    assert why.explains == "prediction"
    assert_adds_up(why, model.predict(X))
    parts = explain(model.forest_, X), explain(model.boosting_, X)
    w = model.forest_share_
    blended = w * parts[0].contributions + (1 - w) * parts[1].contributions
    np.testing.assert_allclose(why.contributions, blended, rtol=1e-12)


def test_sparse_rows_have_the_same_explanation(blobs):
    X, y = blobs
    X = np.where(X > 0.5, X, 0)
    model = CO2EnsembleClassifier(**SMALL).fit(X, y)
    dense, sparse = (explain(model, rows) for rows in (X[:20], sp.csr_array(X[:20])))
    np.testing.assert_allclose(sparse.contributions, dense.contributions, atol=1e-12)


def test_tables():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=200), "kind": random.choice([*"uvw"], 200)})
    frame["answer"] = np.where((frame["a"] > 0) | (frame["kind"] == "u"), "yes", "no")
    model = fit_table(frame, "answer", estimator=CO2EnsembleClassifier(**SMALL))
    why = explain(model, frame)
    assert_adds_up(why, model.predict_proba(frame))
    assert why.output_names == ["no", "yes"]
    columns = why.by_column()
    assert columns.feature_names == ["a", "kind"]
    assert_adds_up(columns, model.predict_proba(frame))


def test_features_that_matter_come_first(informative):
    X, y = informative
    why = explain(CO2EnsembleClassifier(**SMALL).fit(X, y), X)
    strength = np.abs(why.contributions).mean(axis=(0, 2))
    assert set(np.argsort(-strength)[:2]) == {2, 6}


def test_pictures_of_the_whole(blobs):
    X, y = blobs
    model = CO2EnsembleClassifier(**SMALL).fit(X, y)
    axes = plot_path(model, X[0], output="1")
    expected = model.predict_proba(X[:1])[0, 1]
    assert axes.get_title() == f"probability of 1: {100 * expected:.0f}%"
    bars = plot_importances(model, n=8).patches
    found = sorted((bar.get_width() for bar in bars), reverse=True)
    np.testing.assert_allclose(found, np.sort(model.feature_importances_)[::-1])


def test_a_tree_is_that_of_a_member(blobs):
    model = CO2EnsembleClassifier(**SMALL).fit(*blobs)
    with pytest.raises(
        TypeError, match=r"CO2EnsembleClassifier is .* pass its forest_ or boosting"
    ):
        plot_tree(model)
    with pytest.raises(TypeError, match="pass its forest_"):
        plot_path(model, blobs[0][0], tree=0)
    with pytest.raises(TypeError, match="pass its forest_"):
        plot_error_curve(model, *blobs)
