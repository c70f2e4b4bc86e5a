# SPDX-License-Identifier: BSD-3-Clause
"""The native core grows the trees that tests/helpers/reference.py grows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import reference
from co2forest import CO2ForestClassifier, CO2TreeClassifier, _native
from co2forest.fitting.decide import draw_seed
from co2forest.fitting.parameters import co2_params
from co2forest.models.view import ModelView
from forest_arrays import float_weights

RNG = np.random.default_rng(20150614)


def blobs(n, p, k, spread=1.5):
    y = RNG.integers(k, size=n)
    return RNG.normal(size=(k, p))[y] + spread * RNG.normal(size=(n, p)), y


def noise(n, p, k):
    return RNG.normal(size=(n, p)), RNG.integers(k, size=n)


def spirals(n, k):
    y, t = RNG.integers(k, size=n), RNG.uniform(0.5, 3.0, n)
    angle = 2.0 * t + 2 * np.pi * y / k
    return np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + RNG.normal(0, 0.05, (n, 2)), y


def digits(n, p):
    X, y = load_digits(return_X_y=True)
    return X[:n, 10 : 10 + p], y[:n] % 8


def imbalanced(n, p):
    X = RNG.normal(size=(n, p))
    return X, (X[:, 0] + 0.5 * RNG.normal(size=n) > 1.8) + 2 * (X[:, -1] < -2.0)


def repeated(n, p, k):
    """Rows on a coarse grid: many are alike, with the same label or with others."""
    return RNG.integers(3, size=(n, p)).astype(float), RNG.integers(k, size=n)


def units(n, p, k):
    """Columns that differ a thousandfold, and constant ones."""
    X, y = blobs(n, p, k)
    return np.hstack([X * np.logspace(-2, 1, p), np.full((n, 2), 3.5), np.zeros((n, 1))]), y


def missing(n, p, k, share):
    X, y = blobs(n, p, k)
    X[RNG.random(X.shape) < share] = np.nan
    X[:, 1] = np.nan  # never observed
    return X, y


def outliers(n, p, k):
    """Absurd values in columns 0 to 2 are clipped, those that are only rare or usual are not."""
    X, y = blobs(n, p, k)
    X[:3, 0], X[3:5, 1], X[5, 2] = -999.0, 1e9, -1e5
    X[RNG.random(n) < 0.2, 1] = np.nan
    X[6, 3] = 50.0  # some 30 standard deviations, but not most of the variance
    X[:, 4] = np.where(RNG.random(n) < 0.6, 0.0, np.abs(X[:, 4]))  # the median is a decile
    X[7, 4] = 1e4
    return X, y


def squares(n):
    """Four squares as in XOR: no axis-aligned split of the root gains anything to speak of."""
    X = RNG.uniform(-1, 1, (n, 2))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0)


PROBLEMS = {
    "one feature": (noise(30, 1, 2), {}),
    "twenty rows": (blobs(20, 5, 2), {}),
    "two classes": (blobs(120, 17, 2), {}),
    "eight classes": (blobs(250, 40, 8), {"max_features": "sqrt", "max_iter": 150}),
    "four hundred rows": (blobs(400, 16, 4, 1.0), {"max_features": 3, "max_iter": 120}),
    "random labels": (noise(70, 6, 3), {"max_iter": 100}),
    "random labels, small batches": (noise(60, 33, 2), {"batch_size": 16, "max_iter": 120}),
    "spirals": (spirals(90, 2), {"max_features": 1}),
    "three spirals": (spirals(120, 3), {"nu": 500.0, "max_iter": 90}),
    "digits": (digits(160, 40), {"max_features": "sqrt", "max_iter": 150}),
    "digits, paper's scaling": (digits(120, 30), {"scale": None, "nu": 0.1, "max_iter": 100}),
    "imbalanced": (imbalanced(250, 4), {"max_iter": 100}),
    "imbalanced, balanced weights": (
        imbalanced(150, 3),
        {"class_weight": "balanced", "max_iter": 100},
    ),
    "repeated rows": (repeated(100, 3, 3), {"max_iter": 60}),
    "repeated rows, one wide": (repeated(80, 9, 2), {"scale": "minmax", "max_iter": 80}),
    "different units": (units(100, 5, 3), {}),
    "different units, standard": (units(100, 5, 3), {"scale": "standard", "nu": 30.0}),
    "different units, soft": (units(80, 7, 2), {"scale": "soft", "learning_rate": 0.3}),
    "missing values": (missing(100, 6, 3, 0.1), {}),
    "many missing values": (missing(90, 20, 2, 0.6), {"max_features": "log2", "max_iter": 100}),
    "outliers": (outliers(100, 6, 3), {"scale": "standard"}),
    "outliers, global": (outliers(90, 20, 2), {"scale": "global", "max_iter": 100}),
    "four squares": (squares(100), {"max_features": 1}),
    "small nu, large rate": (blobs(100, 8, 3), {"nu": 0.3, "learning_rate": 5.0}),
    "large nu, small rate": (blobs(100, 8, 3), {"nu": 1e4, "learning_rate": 1e-3}),
    "short periods": (blobs(150, 10, 3), {"cccp_period": 2, "batch_size": 20, "max_iter": 70}),
    "batches of one": (blobs(40, 4, 2), {"batch_size": 1, "cccp_period": 30, "tol": 0.0}),
    "no momentum": (blobs(120, 12, 4), {"momentum": 0.0, "tol": 0.05, "scale": "global"}),
    "more rows than the axis search reads": (blobs(2600, 3, 2, 0.3), {"max_iter": 30}),
}
WEIGHTS = {
    "two classes": RNG.uniform(0.1, 3.0, 120),
    "random labels": RNG.integers(0, 3, 70),  # zero: as if the row were not there
    "imbalanced": RNG.exponential(1.0, 250),
    "repeated rows": RNG.uniform(0.0, 1.0, 100),
    "missing values": 10.0 ** RNG.integers(-3, 3, 100),
    "short periods": RNG.integers(1, 4, 150),
}


# Problems where the start is often better than all that the optimiser finds.
AXIS_ALIGNED = {
    "one feature",
    "repeated rows",
    "imbalanced",
    "imbalanced, balanced weights",
    "outliers, global",
    "large nu, small rate",
}


def native_nodes(forest):
    """What reference.Tree keeps of each node, and whether all features are stored."""
    a = {name: np.array(array) for name, array in forest.arrays().items()}
    weights = float_weights(a)
    for i, left in enumerate(a["left"]):
        weight = weights[a["weight_begin"][i] : a["weight_begin"][i + 1]]
        feature = a["feature"][a["feature_begin"][i] : a["feature_begin"][i + 1]]
        full = np.zeros(forest.n_features, dtype=np.float32)
        full[feature if len(feature) else slice(len(weight))] = weight
        yield left, full, a["threshold"][i], len(feature) == 0


def assert_same(forest, tree, X):
    """Compare all of two trees; returns the numbers of oblique and of axis-aligned splits."""
    nodes = list(native_nodes(forest))
    assert [node[0] for node in nodes] == [node[0] for node in tree.nodes]
    oblique = axis_aligned = 0
    for native, (left, weight, threshold) in zip(nodes, tree.nodes, strict=True):
        if left < 0:
            continue
        np.testing.assert_array_equal(native[1] != 0, weight != 0)  # the same features
        np.testing.assert_allclose(native[1], weight, rtol=1e-5)
        np.testing.assert_allclose(native[2], threshold, rtol=1e-5)
        used = np.count_nonzero(weight)
        fallback = used == 1 and weight.max() == 1.0
        assert native[3] == (2 * used >= len(weight) and not fallback)
        oblique, axis_aligned = oblique + (used > 1), axis_aligned + (used == 1)
    unseen = X + np.random.default_rng(0).normal(size=X.shape).astype(np.float32)
    for rows in (X, unseen):
        proba = forest.predict(_native.dense_rows(rows), 1)
        assert np.abs(proba - tree.predict(rows)).max() <= 1e-6
    return oblique, axis_aligned


def grow_reference(estimator, X, y, weight=None):
    _, data = estimator._read(X, y, weight)
    weights = data.weights if len(data.weights) else np.ones(len(X), dtype=np.float32)
    params = co2_params(estimator, X.shape[1], estimator.solver).native()
    seed = draw_seed(estimator.random_state)
    return reference.Tree(X, data.targets, weights, data.n_outputs, params, estimator.scale_, seed)


@pytest.mark.parametrize("name", PROBLEMS)
def test_tree_equals_reference(name):
    (X, y), params = PROBLEMS[name]
    X, weight = X.astype(np.float32), WEIGHTS.get(name)
    estimator = CO2TreeClassifier(solver="cccp", random_state=len(name), **params)
    estimator.fit(X, y, weight)
    X = ModelView.of(estimator).checked(X)  # columns with many gaps have a feature for them
    tree = grow_reference(estimator, X, y, weight)
    oblique, axis_aligned = assert_same(estimator._forest, tree, X)
    assert axis_aligned > 0 if name in AXIS_ALIGNED else oblique > 0


def test_forest_of_one_tree_equals_reference():
    X, y = blobs(80, 9, 3)
    X = X.astype(np.float32)
    forest = CO2ForestClassifier(1, solver="cccp", max_iter=100, random_state=5, mixture=None).fit(
        X, y
    )
    oblique, _ = assert_same(forest._forest, grow_reference(forest, X, y), X)
    assert oblique


def test_optimisation_on_a_part_of_the_rows_equals_reference():
    """A node with more than max_rows rows; the estimators do not let one choose that number."""
    X, y = blobs(200, 6, 3)
    X, y, weight = X.astype(np.float32), y.astype(np.int32), np.ones(200, dtype=np.float32)
    params = _native.TrainParams()
    params.scaling = _native.Scaling.standard
    params.seed = 3
    params.sampling.n_draws = 200
    solver = _native.Co2Params()
    solver.solver = _native.Solver.cccp
    solver.max_rows, solver.max_features = 30, 2
    params.grow.split = solver
    no_mean = np.empty(0, dtype=np.float32)
    forest, _ = _native.train(_native.dense_rows(X), y, weight, 3, no_mean, params)
    tree = reference.Tree(X, y, weight, 3, solver, "standard", 3)
    oblique, _ = assert_same(forest, tree, X)
    assert oblique
