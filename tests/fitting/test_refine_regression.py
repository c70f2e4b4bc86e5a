# SPDX-License-Identifier: BSD-3-Clause
"""Refining of regression trees: the loss that a tree was grown with never rises."""

import itertools

import numpy as np
import pytest

from co2forest import CO2ForestRegressor, CO2TreeRegressor

PASSES = 4
LIMITS = [{}, {"max_depth": 4}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 12}]


def squared(error):
    return error**2


def quantile(error, alpha=0.7):
    return np.maximum(alpha * error, (alpha - 1) * error)


def huber(error, delta):
    return np.where(np.abs(error) <= delta, error**2 / 2, delta * (np.abs(error) - delta / 2))


def training_loss(loss, y, prediction):
    """Of each row, by the definitions, up to what does not depend on the prediction."""
    if loss == "squared":
        return squared(y - prediction)
    if loss == "quantile":
        return quantile(y - prediction)
    if loss == "huber":
        return huber(y - prediction, 1.35 * 1.4826 * np.median(np.abs(y - np.median(y))))
    return prediction - np.where(y > 0, y * np.log(np.where(y > 0, prediction, 1)), 0)


def smooth_data(rng, n, kind="smooth"):
    """A smooth function of a few angles, as of a robot's arm, with a little noise."""
    X = rng.uniform(-1, 1, size=(n, 6)).astype(np.float32)
    y = np.cos(X[:, 0] + X[:, 1]) + np.sin(2 * X[:, 2]) * X[:, 3] + 0.3 * X[:, 4]
    if kind == "counts":
        return X, rng.poisson(np.exp(y)).astype(float)
    return X, y + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "poisson"])
def test_training_loss_and_size_never_rise(loss, weighted, limits):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = smooth_data(rng, 200, "counts" if loss == "poisson" else "smooth")
        # The scale of Huber's loss is a weighted median, which the test leaves to other tests.
        weight = rng.integers(1, 4, size=len(y)) if weighted and loss != "huber" else None
        trees = [
            CO2TreeRegressor(loss=loss, alpha=0.7, refine=k, random_state=0, **limits).fit(
                X, y, weight
            )
            for k in range(PASSES + 1)
        ]
        losses = [
            np.average(training_loss(loss, y, tree.predict(X)), weights=weight) for tree in trees
        ]
        leaves = [tree.get_n_leaves() for tree in trees]
        assert all(b <= a + 1e-5 * (0.1 + abs(a)) for a, b in itertools.pairwise(losses))
        assert leaves == sorted(leaves, reverse=True)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "poisson"])
def test_training_loss_falls_if_leaves_are_few(loss):
    X, y = smooth_data(np.random.default_rng(0), 500, "counts" if loss == "poisson" else "smooth")
    grown, refined = (
        CO2TreeRegressor(loss=loss, alpha=0.7, refine=k, random_state=0, max_depth=4).fit(X, y)
        for k in (0, 3)
    )
    constant = training_loss(loss, y, np.full(len(y), np.mean(y))).mean()
    fall = [constant - training_loss(loss, y, tree.predict(X)).mean() for tree in (grown, refined)]
    assert fall[1] > 1.01 * fall[0]


@pytest.mark.parametrize("outputs", [1, 2])
def test_predictions_of_smooth_data_do_not_get_worse(outputs):
    X, y = smooth_data(np.random.default_rng(0), 2000)
    y = y if outputs == 1 else np.column_stack([y, X[:, 0] * X[:, 5]])
    for model in (
        CO2TreeRegressor(max_depth=5),
        CO2ForestRegressor(10, mixture=None),
        CO2TreeRegressor(),
    ):
        scores = [
            model.set_params(refine=k, random_state=0)
            .fit(X[:1000], y[:1000])
            .score(X[1000:], y[1000:])
            for k in (0, 2)
        ]
        assert scores[1] > scores[0] - 0.01
