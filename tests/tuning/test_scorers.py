# SPDX-License-Identifier: BSD-3-Clause
"""What a scorer of the user's own sees: never a forest fitted on the rows that judge it."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import log_loss, make_scorer

from co2forest import CO2ForestClassifier
from co2forest.baselines import AxisForestRegressor
from co2forest.tuning import tune_forest

SEARCH = {
    "grid": {},
    "max_features_grid": None,
    "trial_n_estimators": 20,
    "random_state": 0,
    "refit": False,
}


@pytest.fixture
def noise():
    """Rows whose labels cannot be predicted."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 4)), rng.integers(0, 2, 200)


def by_log_proba(estimator, X, y):
    return float((estimator.predict_log_proba(X).argmax(axis=1) == y).mean())


@pytest.mark.parametrize(
    "scoring", [lambda e, X, y: e.score(X, y), by_log_proba, lambda e, X, y: e.score(list(X), y)]
)
def test_out_of_bag_scores_of_noise_are_those_of_chance(noise, scoring):
    expected = tune_forest(*noise, method="oob", **SEARCH).best_score
    assert expected < 0.6
    found = tune_forest(*noise, method="oob", scoring=scoring, **SEARCH).best_score
    assert found == pytest.approx(expected)


def test_out_of_bag_scores_of_regressors(noise):
    X, y = noise
    search = SEARCH | {"method": "oob", "estimator": AxisForestRegressor()}
    expected = tune_forest(X, y.astype(float), **search).best_score
    found = tune_forest(X, y.astype(float), scoring=lambda e, *rows: e.score(*rows), **search)
    assert found.best_score == pytest.approx(expected)
    assert expected < 0.2
    with pytest.raises(AttributeError, match="predict_proba"):
        tune_forest(X, y.astype(float), scoring=lambda e, X, y: e.predict_proba(X), **search)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("apply", lambda e, X: e.apply(X)),
        ("decision_path", lambda e, X: e.decision_path(X)),
        ("decision_function", lambda e, X: e.decision_function(X)),
        ("estimators_", lambda e, X: e.estimators_[0].predict(X)),
        ("_leaves", lambda e, X: e._leaves(X)),
        ("fit", lambda e, X: e.fit(X, X[:, 0] > 0)),
    ],
)
def test_out_of_bag_refuses_what_would_reveal_fitted_rows(noise, name, ask):
    def scoring(estimator, X, y):
        ask(estimator, X)
        return 1.0

    with pytest.raises(AttributeError, match=name) as error:
        tune_forest(*noise, method="oob", scoring=scoring, **SEARCH)
    if name != "decision_function":  # which no forest has
        assert "use predict, predict_proba" in str(error.value)


def test_out_of_bag_tells_what_reveals_nothing(noise):
    def scoring(estimator, X, y):
        assert estimator.get_params()["bootstrap"] is True
        return float(estimator.feature_importances_.max())

    assert tune_forest(*noise, method="oob", scoring=scoring, **SEARCH).best_score > 0


def test_some_of_the_rows(noise):
    def first(estimator, X, y):
        return float((estimator.predict(X[:10]) == y[:10]).mean())

    with pytest.raises(ValueError, match=r"outputs for the \d+ rows of X .* asked for 10"):
        tune_forest(*noise, method="oob", scoring=first, **SEARCH)
    score = tune_forest(*noise, scoring=first, **SEARCH).best_score
    assert score == pytest.approx(round(score * 10) / 10)  # of ten rows


@pytest.mark.parametrize("method", ["holdout", "oob"])
def test_scorers_of_scikit_learn_that_need_probabilities(blobs, method):
    scorer = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    search = SEARCH | {"method": method}
    found = tune_forest(*blobs, scoring=scorer, **search)
    assert found.best_score == tune_forest(*blobs, scoring="neg_log_loss", **search).best_score


def test_hold_outs_may_ask_the_trees(blobs):
    def depth(estimator, X, y):
        return -float(estimator.apply(X).max()) + estimator.estimators_[0].score(X, y)

    assert tune_forest(*blobs, scoring=depth, **SEARCH).best_score < 0


def test_many_hold_outs_take_no_more_memory_than_few():
    X = np.random.default_rng(0).normal(size=(400, 2000)).astype(np.float32)
    y = X[:, 0] > 0
    estimator = CO2ForestClassifier(1, max_depth=1, max_features=2, mixture=None)
    search = SEARCH | {"estimator": estimator, "trial_n_estimators": 1}
    tune_forest(X, y, **search)
    tracemalloc.start()
    try:
        tune_forest(X, y, n_splits=20, **search)
        assert tracemalloc.get_traced_memory()[1] < 5 * X.nbytes
    finally:
        tracemalloc.stop()
