# SPDX-License-Identifier: BSD-3-Clause
"""Axis-aligned forests are what scikit-learn's are: same splits, same limits, same quality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import brute_force
from co2forest.baselines import AxisForestClassifier, AxisForestRegressor

F32 = np.float32
KINDS = ["continuous", "ties", "bytes", "binary"]
WEIGHTS = ["none", "positive", "zeros"]


def rows_of(kind, n, p, rng):
    return {
        "continuous": lambda: rng.normal(size=(n, p)).astype(F32),
        "ties": lambda: rng.integers(-3, 9, size=(n, p)).astype(F32),
        "bytes": lambda: rng.integers(256, size=(n, p), dtype=np.uint8),
        "binary": lambda: rng.integers(2, size=(n, p), dtype=np.uint8),
    }[kind]()


def weights_of(kind, n, rng):
    weight = {
        "none": np.ones(n),
        "positive": rng.uniform(0.2, 3.0, n),
        "zeros": rng.integers(0, 3, n) * rng.uniform(0.5, 1.5, n),
    }[kind]
    weight[0] = 1.0
    return weight.astype(F32).astype(float)


def problem(kind, weights, seed, n=60, p=5, outputs=0):
    """Rows, targets that depend on them (``outputs`` columns of numbers, or labels), weights."""
    rng = np.random.default_rng(seed)
    X = rows_of(kind, n, p, rng)
    signal = (X[:, 0] > X[:, 0].mean()) + 0.7 * (X[:, -1] > X[:, -1].mean())
    if outputs:
        y = signal[:, None] * np.arange(1, outputs + 1) + rng.normal(size=(n, outputs))
        y = y[:, 0] if outputs == 1 else (y - y.mean(axis=0)) / y.std(axis=0)
    else:
        y = np.clip(np.round(signal + rng.normal(size=n) * 0.6), 0, 2).astype(int)
    return X, y, weights_of(weights, n, rng)


def tree_of(y, **params):
    kind = AxisForestRegressor if y.dtype.kind == "f" else AxisForestClassifier
    return kind(1, max_features=None, bootstrap=False, random_state=0, **params)


def scikit_learns(y, **params):
    if y.dtype.kind == "f":
        return DecisionTreeRegressor(random_state=0, **params)
    return DecisionTreeClassifier(criterion="entropy", random_state=0, **params)


def in_core(y, weight):
    """Targets as the core sees them, but for their zero: columns of variance one."""
    if y.dtype.kind != "f":
        return y
    y = y.reshape(len(y), -1)
    return (y - np.average(y, axis=0, weights=weight)) / spread_of(y, weight)


def spread_of(y, weight):
    mean = np.average(y, axis=0, weights=weight)
    spread = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weight))
    return np.where(spread > 0, spread, 1.0)


def least_decrease(params, y, weight):
    """Of the impurity of targets as the core sees them; scikit-learn's is a mean over outputs."""
    given = params.get("min_impurity_decrease", 0.0)
    if y.dtype.kind != "f":
        return given
    y = y.reshape(len(y), -1)
    return given * y.shape[1] / np.mean(spread_of(y, weight) ** 2)


def best_splits(X, y, weight, limits):
    """The decrease, feature and gap of every split, best first."""
    found = [
        (gain, feature, low, high)
        for feature, values in enumerate(X.T)
        for gain, low, high in brute_force.best_cut(values, y, weight, limits)
    ]
    return sorted(found, reverse=True)


# --- the first split


def assert_same_first_split(X, y, weight, **params):
    ours = tree_of(y, max_depth=1, **params).fit(X, y, weight)
    theirs = scikit_learns(y, max_depth=1, **params).fit(X, y, weight).tree_
    used = weight > 0
    X, core, weight = X[used], in_core(y[used], weight[used]), weight[used]
    if theirs.node_count == 1:
        assert len(ours._forest.arrays()["left"]) == 1
        return
    best = best_splits(X.astype(float), core, weight, brute_force.Limits())
    plane, threshold = brute_force.hyperplane(ours, 0)
    (feature,) = np.flatnonzero(plane)
    assert plane[feature] == 1.0
    gain = brute_force.decrease(core, weight, X[:, feature] >= threshold)
    tolerance = 1e-6 * weight.sum()
    assert gain == pytest.approx(best[0][0], abs=tolerance)
    if len(best) == 1 or best[1][0] < best[0][0] - 2 * tolerance:
        assert feature == theirs.feature[0]
        right = X[:, feature] > theirs.threshold[0]
        np.testing.assert_array_equal(X[:, feature] >= threshold, right)
        np.testing.assert_allclose(threshold, theirs.threshold[0], rtol=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outputs", [0, 1])
def test_first_split_is_scikit_learns(kind, weights, outputs):
    for seed in range(5):
        assert_same_first_split(*problem(kind, weights, seed, outputs=outputs))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(-1, 1), st.integers(0, 2), st.integers(0, 3)),
        min_size=2,
        max_size=30,
    ),
    st.booleans(),
)
def test_first_split_of_few_values_is_scikit_learns(rows, regression):
    a, b, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    weight[0] = 1
    y = label.astype(float) if regression else label
    assert_same_first_split(np.c_[a, b].astype(F32), y, weight.astype(float))


@pytest.mark.parametrize("class_weight", [{0: 5.0, 2: 0.5}, {1: 0.0}, "balanced"], ids=str)
def test_first_split_with_class_weights_is_scikit_learns(class_weight):
    for seed in range(5):
        X, y, weight = problem("continuous", "positive", seed)
        params = {"max_depth": 1, "class_weight": class_weight}
        ours = tree_of(y, **params).fit(X, y, weight)
        theirs = scikit_learns(y, **params).fit(X, y, weight)
        plane, threshold = brute_force.hyperplane(ours, 0)
        assert np.flatnonzero(plane) == theirs.tree_.feature[0]
        assert threshold == pytest.approx(theirs.tree_.threshold[0], rel=1e-6)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


# --- whole trees


LIMITS = {
    "none": {},
    "rows": {"min_samples_leaf": 7},
    "part of the rows": {"min_samples_leaf": 0.1},
    "rows of a split": {"min_samples_split": 21},
    "weight": {"min_weight_fraction_leaf": 0.12},
    "decrease": {"min_impurity_decrease": 0.04},
    "depth": {"max_depth": 3},
}


def limits_of(params, weight):
    rows = params.get("min_samples_leaf", 1)
    return brute_force.Limits(
        int(np.ceil(rows * len(weight))) if rows < 1 else rows,
        params.get("min_weight_fraction_leaf", 0.0) * weight.sum(),
    )


def may_split(rows, depth, params):
    return len(rows) >= params.get("min_samples_split", 2) and depth < params.get("max_depth", 99)


def assert_every_node_is_right(X, y, weight, params):
    """Each split is the best that the limits allow, and each leaf has none."""
    forest = tree_of(y, **params).fit(X, y, weight)
    # A part of the rows is one of all rows, with weight or not.
    limits, target = limits_of(params, weight), in_core(y, weight)
    depth = {0: 0}
    left_of = forest._forest.arrays()["left"]
    for node, ids, right in brute_force.nodes_of(forest, X):
        rows = ids[weight[ids] > 0]
        best = best_splits(X[rows].astype(float), target[rows], weight[rows], limits)
        tolerance = 1e-6 * weight.sum()
        enough = least_decrease(params, y, weight) * weight.sum()
        if right is None:
            impure = brute_force.impurity(target[rows], weight[rows]) > tolerance
            if impure and best and may_split(rows, depth[node], params):
                assert best[0][0] < enough + tolerance
            continue
        assert may_split(rows, depth[node], params)
        depth |= {left_of[node]: depth[node] + 1, left_of[node] + 1: depth[node] + 1}
        gain = brute_force.decrease(target[rows], weight[rows], right[rows])
        assert gain == pytest.approx(best[0][0], abs=tolerance)
        assert gain >= enough - tolerance
        assert limits.allow(weight[rows], right[rows], rows)
    return len(left_of)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_every_split_is_the_best(kind, outputs):
    for seed, weights in enumerate(WEIGHTS):
        data = problem(kind, weights, seed, n=30, p=3, outputs=outputs)
        assert assert_every_node_is_right(*data, {}) > 3


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("outputs", [0, 2])
def test_limits_are_kept_and_stop_nothing_else(limit, outputs):
    for seed, weights in enumerate(WEIGHTS):
        data = problem("ties", weights, seed, n=50, p=2, outputs=outputs)
        assert assert_every_node_is_right(*data, LIMITS[limit]) > 1


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_whole_trees_are_scikit_learns(limit, outputs):
    """One feature: of equal splits both take the first."""
    params = LIMITS[limit]
    for seed, weights in enumerate(WEIGHTS):
        X, y, weight = problem("continuous", weights, seed, n=120, p=1, outputs=outputs)
        if outputs > 1:  # which count alike here, whatever their units
            y = in_core(y, weight).reshape(y.shape)
        ours = tree_of(y, **params).fit(X, y, weight)
        tree = scikit_learns(y, **params).fit(X, y, weight)
        used = X[weight > 0]
        assert np.count_nonzero(ours._forest.arrays()["left"] < 0) == tree.get_n_leaves()
        expected = tree.predict(used)
        np.testing.assert_allclose(ours.predict(used).reshape(expected.shape), expected, atol=1e-5)


# --- forests


def test_a_forest_for_classes_is_as_good_as_scikit_learns():
    X, y = make_classification(
        2000, 12, n_informative=6, n_classes=3, flip_y=0.05, class_sep=0.8, random_state=0
    )
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    ours = AxisForestClassifier(100, random_state=0).fit(X, y).score(X_test, y_test)
    theirs = RandomForestClassifier(100, criterion="entropy", random_state=0).fit(X, y)
    assert abs(ours - theirs.score(X_test, y_test)) < 0.03
    assert ours > 0.75


@pytest.mark.parametrize("max_features", [1.0, 3])
def test_a_forest_for_numbers_is_as_good_as_scikit_learns(max_features):
    X, y = make_friedman1(1500, noise=1.0, random_state=0)
    y = np.c_[y, -1000.0 * X[:, 3]]
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    params = {"n_estimators": 60, "max_features": max_features, "random_state": 0}
    ours = AxisForestRegressor(**params).fit(X, y).score(X_test, y_test)
    # There the output of the larger unit would decide alone.
    theirs = RandomForestRegressor(**params).fit(X, y / y.std(axis=0))
    assert abs(ours - theirs.score(X_test, y_test / y.std(axis=0))) < 0.02
    assert ours > 0.85
