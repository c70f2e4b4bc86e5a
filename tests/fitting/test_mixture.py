# SPDX-License-Identifier: BSD-3-Clause
"""Forests that choose their own kinds of trees, and honest probabilities."""

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_friedman1
from sklearn.metrics import log_loss

from co2forest import CO2ForestClassifier, CO2ForestRegressor, load_model
from co2forest.data.outputs.calibration import Calibration, LeftOut, fit_calibration
from co2forest.exceptions import ModelFormatError
from co2forest.fitting.mixture import Member, Mixture
from co2forest.fitting.plan import kind_of_trees


def noisy(n, seed, n_irrelevant=30):
    """Two columns decide, by an axis-aligned rule, and a quarter of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + n_irrelevant)).astype(np.float32)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.5)
    return X, np.where(rng.random(n) < 0.25, ~y, y).astype(int)


X, Y = noisy(700, seed=0)
X_NEW, Y_NEW = noisy(3000, seed=1)


@pytest.fixture(scope="module")
def mixed():
    return CO2ForestClassifier(30, mixture="auto", random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def plain():
    return CO2ForestClassifier(30, mixture=None, random_state=0).fit(X, Y)


def same_trees(one, other):
    left, right = one._forest.arrays(), other._forest.arrays()
    return all(np.array_equal(left[name], right[name]) for name in left)


# --- what is chosen


def test_irrelevant_columns_and_noise_do_not_hurt(mixed, plain):
    assert mixed.score(X_NEW, Y_NEW) > plain.score(X_NEW, Y_NEW) + 0.03
    loss = log_loss(Y_NEW, mixed.predict_proba(X_NEW))
    assert loss < log_loss(Y_NEW, plain.predict_proba(X_NEW))
    axis = sum(kind["n_trees"] for kind in mixed.mixture_ if kind["split"] == "axis")
    assert axis > 10


def test_every_kind_is_told(mixed, plain):
    assert sum(kind["n_trees"] for kind in mixed.mixture_) == 30
    assert mixed.mixture_[0]["split"] == "co2"
    losses = [kind["loss"] for kind in mixed.mixture_]
    assert all(0 < loss < 1 for loss in losses)
    assert plain.mixture_ == []


def test_clean_pixels_keep_the_forest_of_hyperplanes():
    pixels, labels = load_digits(return_X_y=True)
    auto = CO2ForestClassifier(10, mixture="auto", random_state=0).fit(pixels[:900], labels[:900])
    alone = CO2ForestClassifier(10, mixture=None, random_state=0).fit(pixels[:900], labels[:900])
    assert same_trees(auto, alone)
    new = pixels[900:]
    assert np.array_equal(auto.predict(new), alone.predict(new))
    truth = labels[900:]
    assert log_loss(truth, auto.predict_proba(new)) < log_loss(truth, alone.predict_proba(new))


def test_numbers():
    rows, y = make_friedman1(900, n_features=40, noise=3, random_state=0)
    auto, alone = (
        CO2ForestRegressor(40, mixture=kind, random_state=0).fit(rows[:500], y[:500])
        for kind in ("auto", None)
    )
    assert auto.score(rows[500:], y[500:]) > alone.score(rows[500:], y[500:]) + 0.02
    assert sum(kind["n_trees"] for kind in auto.mixture_) == 40


def test_a_size_of_leaves_that_is_asked_for_is_kept():
    forest = CO2ForestClassifier(10, mixture="auto", min_samples_leaf=3, random_state=0).fit(X, Y)
    assert {kind["min_samples_leaf"] for kind in forest.mixture_} == {3}
    arrays = forest._forest.arrays()
    assert arrays["sample_count"][arrays["left"] < 0].min() >= 3


@pytest.mark.parametrize(
    ("estimator", "rows", "y"),
    [
        (CO2ForestClassifier(3), X[:40], Y[:40]),
        (CO2ForestClassifier(3), X, np.zeros(len(X))),
        (CO2ForestClassifier(3, refine=1), X, Y),
        (CO2ForestClassifier(3), sp.csr_array(X), Y),
        (CO2ForestClassifier(3), X, np.stack([Y, 1 - Y], axis=1)),
        (CO2ForestClassifier(3, cost_matrix=[[0, 1], [5, 0]]), X, Y),
        (CO2ForestRegressor(3, loss="huber"), X, X[:, 0]),
    ],
    ids=["few rows", "one class", "refine", "sparse", "several labels", "costs", "huber"],
)
def test_where_nothing_is_tried_the_forest_is_that_of_hyperplanes(estimator, rows, y):
    estimator.set_params(random_state=0, mixture=None).fit(rows, y)
    before = estimator._forest
    estimator.set_params(mixture="auto").fit(rows, y)
    assert estimator.mixture_ == [] or all(kind["n_trees"] in (0, 3) for kind in estimator.mixture_)
    arrays = before.arrays()
    assert all(np.array_equal(arrays[name], a) for name, a in estimator._forest.arrays().items())


def test_columns_that_are_constant_or_alone():
    for rows in (X[:, :1], np.hstack([X[:, :1], np.ones((len(X), 3))])):
        forest = CO2ForestClassifier(5, mixture="auto", random_state=0).fit(rows, Y)
        assert np.isfinite(forest.predict_proba(rows)).all()


def test_missing_values_and_weights_of_zero():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    weights = np.r_[np.zeros(200), np.ones(len(X) - 200)]
    forest = CO2ForestClassifier(5, mixture="auto", random_state=0).fit(rows, Y, weights)
    assert np.allclose(forest.predict_proba(rows).sum(axis=1), 1)


# --- the same forest everywhere


def test_it_does_not_depend_on_threads_or_processes(mixed):
    for jobs in (2, 3):
        other = CO2ForestClassifier(30, mixture="auto", n_jobs=jobs, random_state=0).fit(X, Y)
        assert same_trees(mixed, other)
        assert np.array_equal(mixed.predict_proba(X_NEW), other.predict_proba(X_NEW))
    with joblib.parallel_config("loky", n_jobs=2):
        other = CO2ForestClassifier(30, mixture="auto", n_jobs=2, random_state=0).fit(X, Y)
    assert same_trees(mixed, other)


def test_a_warm_start_goes_on_with_the_mixture(mixed):
    forest = CO2ForestClassifier(7, mixture="auto", warm_start=True, random_state=0).fit(X, Y)
    forest.set_params(n_estimators=30).fit(X, Y)
    assert same_trees(forest, mixed)
    assert forest.mixture_ == mixed.mixture_
    assert np.array_equal(forest.predict_proba(X_NEW), mixed.predict_proba(X_NEW))


def test_files_and_pickles(mixed, tmp_path):
    mixed.save(tmp_path / "model")
    for twin in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(mixed))):
        assert twin.mixture_ == mixed.mixture_
        assert np.array_equal(twin.predict_proba(X_NEW), mixed.predict_proba(X_NEW))
        twin.set_params(warm_start=True, n_estimators=33).fit(X, Y)
        assert sum(kind["n_trees"] for kind in twin.mixture_) == 33


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((), "must have some kinds"),
        ((Member("oblique", 1, 0.1, 1.0),), "must name splits"),
        ((Member("co2", 1, 0.1, 0.4),), "must sum to one"),
        ((Member("co2", 1, float("nan"), 1.0),), "'loss' of 'mixture' must be a number"),
        ((Member("co2", "1", 0.1, 1.0),), "'min_samples_leaf' of 'mixture' must be a number"),
    ],
)
def test_a_forged_mixture_is_refused(mixed, members, message):
    forged = pickle.loads(pickle.dumps(mixed))
    forged._mixture = Mixture(members)
    data = pickle.dumps(forged)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(data)


@pytest.mark.parametrize("stored", [None, 3, [], [{"split": "co2"}], ["co2"]])
def test_a_mixture_of_a_file_is_checked(stored):
    with pytest.raises(ModelFormatError, match="mixture"):
        Mixture.restore(stored).check()


@pytest.mark.parametrize(
    "calibration", [Calibration(0.0, 0.1), Calibration(1, 0.1), Calibration(2.0, float("inf"))]
)
def test_a_forged_calibration_is_refused(mixed, calibration):
    forged = pickle.loads(pickle.dumps(mixed))
    forged._outputs = replace(forged._outputs, calibration=calibration)
    data = pickle.dumps(forged)
    with pytest.raises(ModelFormatError, match="must be a number from"):
        pickle.loads(data)


# --- probabilities


def test_probabilities_are_calibrated_and_decisions_stay(mixed):
    raw = CO2ForestClassifier(30, mixture="auto", calibrate=False, random_state=0).fit(X, Y)
    votes, probabilities = raw.predict_proba(X_NEW), mixed.predict_proba(X_NEW)
    assert np.array_equal(raw.predict(X_NEW), mixed.predict(X_NEW))
    order = np.argsort(votes[:, 1])
    assert (np.diff(probabilities[order, 1]) > -1e-12).all()
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert probabilities.min() > 0
    assert log_loss(Y_NEW, probabilities) < 1.02 * log_loss(Y_NEW, votes)
    assert np.array_equal(np.mean([t.predict_proba(X) for t in mixed.estimators_], 0).argmax(1),
                          mixed.predict(X))  # fmt: skip


def test_a_calibration_finds_the_exponent_that_votes_lack():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([1, 1, 1], size=20_000)
    codes = (rng.random(len(truth))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    votes = truth**0.5 / (truth**0.5).sum(axis=1, keepdims=True)
    left_out = LeftOut(votes, np.full(len(votes), 1000))
    ones = np.empty(0, dtype=np.float32)
    found = fit_calibration(left_out, left_out, codes, ones, 1000)
    assert found.exponent == pytest.approx(2, abs=0.1)
    few = LeftOut(votes[:20], left_out.used[:20])
    assert fit_calibration(few, few, codes[:20], ones, 9) is None


def test_out_of_bag_probabilities_are_calibrated():
    forest = CO2ForestClassifier(60, mixture="auto", oob_score=True, max_samples=0.7)
    forest.set_params(random_state=0).fit(X, Y)
    assert np.allclose(forest.oob_decision_function_.sum(axis=1), 1)
    assert forest.oob_score_ == pytest.approx(forest.score(X_NEW, Y_NEW), abs=0.05)


# --- the parts


def test_any_number_of_first_trees_has_the_shares():
    shares = (0.5, 0.3, 0.2)
    kinds = kind_of_trees(shares, 100)
    assert kinds[:37] == kind_of_trees(shares, 37)
    for n in (1, 10, 33, 100):
        counts = np.bincount(kinds[:n], minlength=3)
        assert (np.abs(counts - n * np.array(shares)) <= 1).all()
