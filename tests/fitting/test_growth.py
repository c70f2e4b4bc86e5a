# SPDX-License-Identifier: BSD-3-Clause
"""Warm starts, stopping rules and the rows that trees draw."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
)
from co2forest.baselines import AxisForestRegressor
from forest_arrays import depths, leaves_per_tree, weights_of

# What a node keeps of the number of the caller's rows; weights and repeats differ in nothing else.


COUNTS = ("sample_count",)


# --- warm start


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_warm_start_equals_one_fit(blobs, bootstrap, storage, assert_same_trees):
    X, y = blobs
    X = X.copy()
    X[::7, 3] = np.nan
    params = {"bootstrap": bootstrap, "random_state": 5}
    grown = CO2ForestClassifier(50, warm_start=True, **params, mixture=None).fit(storage(X), y)
    grown.set_params(n_estimators=100).fit(storage(X), y)
    at_once = CO2ForestClassifier(100, **params, mixture=None).fit(storage(X), y)
    assert_same_trees(grown, at_once)
    np.testing.assert_array_equal(grown.n_iter_, at_once.n_iter_)
    for a, b in zip(grown.estimators_samples_, at_once.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_warm_start_without_a_seed_goes_on_with_its_own(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(2, warm_start=True, mixture=None).fit(X, y)
    first = [tree.apply(X) for tree in forest.estimators_]
    forest.set_params(n_estimators=4).fit(X, y)
    trees = [tree.apply(X) for tree in forest.estimators_]
    for a, b in zip(first, trees[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.array_equal(a, b) for a, b in itertools.combinations(trees, 2))


def test_without_warm_start_a_second_fit_starts_anew(blobs, assert_same_trees):
    X, y = blobs
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X[:, :4], y)
    assert_same_trees(
        forest.fit(X, y), CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    )


def test_warm_start_that_adds_nothing_warns(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(3, warm_start=True, random_state=0, mixture=None).fit(X, y)
    before = forest.predict_proba(X)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        forest.fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(X), before)


@pytest.mark.parametrize(
    "make",
    [
        CO2ForestClassifier,
        CO2ForestRegressor,
        CO2BoostingClassifier,
        CO2BoostingRegressor,
        AxisForestRegressor,
    ],
)
def test_warnings_point_at_the_call_of_fit(blobs, make):
    model = make(n_estimators=2, warm_start=True, random_state=0)
    if hasattr(model, "oob_score"):
        model.set_params(bootstrap=True, oob_score=True)
        with pytest.warns(UserWarning, match="rows were drawn by every tree") as caught:
            model.fit(*blobs)
        assert [warning.filename for warning in caught] == [__file__]
    else:
        model.fit(*blobs)
    for estimator in (model, make_pipeline(model)):
        with pytest.warns(UserWarning, match="n_estimators has not grown") as caught:
            estimator.fit(*blobs)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_estimators": 2}, r"n_estimators=2 must be at least the 3 trees"),
        ({"features": 5}, r"another number of features.*5 features"),
        ({"classes": 4}, r"other classes"),
    ],
)
def test_warm_start_misuse(blobs, change, message):
    X, y = blobs
    forest = CO2ForestClassifier(3, warm_start=True, random_state=0, mixture=None).fit(X, y)
    before = forest.predict_proba(X)
    forest.set_params(n_estimators=change.get("n_estimators", 6))
    other_y = np.arange(300) % change.get("classes", 3)
    with pytest.raises(ValueError, match=message):
        forest.fit(X[:, : change.get("features", 8)], other_y)
    assert forest.n_features_in_ == 8
    np.testing.assert_array_equal(forest.predict_proba(X), before)


def test_a_warm_start_with_other_features_is_refused(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    forest = CO2ForestClassifier(2, warm_start=True, random_state=0, mixture=None).fit(frame, y)
    forest.set_params(n_estimators=3)
    with pytest.raises(ValueError, match="features have other names or another order"):
        forest.fit(frame[frame.columns[::-1]], y)
    assert list(forest.feature_names_in_) == list("abcdefgh")
    assert forest.fit(frame, y).predict(frame).shape == (300,)


def test_out_of_bag_estimates_of_a_warm_start_need_the_same_rows(blobs):
    X, y = blobs
    params = {"warm_start": True, "bootstrap": True, "random_state": 0}
    forest = CO2ForestClassifier(20, **params, mixture=None).fit(X[:200], y[:200])
    forest.set_params(n_estimators=21).fit(X, y)  # other rows alone are fine
    forest = CO2ForestClassifier(20, **params, mixture=None).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="X has 300, but the trees there are were drawn from 200"):
        forest.set_params(n_estimators=21, oob_score=True).fit(X, y)


# --- stopping rules


@pytest.mark.parametrize("solver", ["auto", "cccp"])
@pytest.mark.parametrize("max_depth", [1, 2, 5])
def test_max_depth(blobs, solver, max_depth):
    X, y = blobs
    forest = CO2ForestClassifier(
        5, max_depth=max_depth, solver=solver, random_state=0, mixture=None
    ).fit(X, y)
    assert depths(forest._forest.arrays()).max() == max_depth
    assert max(tree.get_depth() for tree in forest.estimators_) == max_depth


@pytest.mark.parametrize("solver", ["auto", "cccp"])
@pytest.mark.parametrize(("value", "rows"), [(17, 17), (0.1, 30), (0.0999, 30)])
def test_min_samples_leaf(blobs, solver, value, rows):
    X, y = blobs
    forest = CO2ForestClassifier(
        10, min_samples_leaf=value, solver=solver, random_state=0, mixture=None
    )
    arrays = forest.fit(X, y)._forest.arrays()
    assert len(arrays["left"]) > 10  # it does split
    assert arrays["sample_count"].min() >= rows
    leaves = forest.apply(X)
    assert min(np.unique(column, return_counts=True)[1].min() for column in leaves.T) >= rows


@pytest.mark.parametrize("value", [300, 0.1])
@pytest.mark.parametrize("solver", ["auto", "cccp"])
def test_leaves_larger_than_the_sample_that_starts_a_node(solver, value):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = (y[:, None] + rng.normal(size=(3000, 4))).astype(np.float32)
    tree = CO2TreeClassifier(min_samples_leaf=value, solver=solver, random_state=0).fit(X, y)
    assert tree.get_n_leaves() >= 4
    assert np.bincount(tree.apply(X)).max() < 1500
    assert min(c for c in np.bincount(tree.apply(X)) if c) >= 300


def test_large_batches():
    """Batches are grouped by class, but the rows that start a node must be of all classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 6)).astype(np.float32)
    X[:, 5] += 4 * y
    stumps = CO2ForestClassifier(
        10,
        max_depth=1,
        max_iter=1,
        learning_rate=1e-9,
        batch_size=1500,
        max_features=None,
        mixture=None,
    )
    assert stumps.fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize(("value", "rows"), [(40, 40), (0.2, 60), (0.1999, 60)])
def test_min_samples_split(blobs, value, rows):
    X, y = blobs
    forest = CO2ForestClassifier(10, min_samples_split=value, random_state=0, mixture=None).fit(
        X, y
    )
    arrays = forest._forest.arrays()
    inner = arrays["left"] >= 0
    assert arrays["sample_count"][inner].min() >= rows
    assert arrays["sample_count"][~inner].min() < rows  # the rule is not one about leaves
    # Every impure node that is large enough was split.
    assert np.all(arrays["impurity"][~inner & (arrays["sample_count"] >= rows)] == 0)


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 12])
def test_max_leaf_nodes(blobs, bootstrap, max_leaf_nodes):
    X, y = blobs
    forest = CO2ForestClassifier(
        8, max_leaf_nodes=max_leaf_nodes, bootstrap=bootstrap, random_state=0, mixture=None
    ).fit(X, y)
    np.testing.assert_array_equal(leaves_per_tree(forest._forest.arrays()), max_leaf_nodes)


def test_max_leaf_nodes_takes_the_most_useful_splits_first(blobs):
    """A larger limit only adds splits, each of which decreases the impurity by less."""
    X, y = blobs
    impurity = []
    for limit in range(2, 15):
        tree = CO2TreeClassifier(max_leaf_nodes=limit, random_state=0).fit(X, y)
        arrays = tree._forest.arrays()
        leaf = arrays["left"] < 0
        impurity.append(np.sum(arrays["impurity"][leaf] * arrays["weighted_count"][leaf]) / 300)
    decrease = -np.diff(impurity)
    assert np.all(decrease > 0)
    by_depth = CO2TreeClassifier(max_depth=3, random_state=0).fit(X, y)
    arrays = by_depth._forest.arrays()
    leaf = arrays["left"] < 0
    of_depth = np.sum(arrays["impurity"][leaf] * arrays["weighted_count"][leaf]) / 300
    assert impurity[leaf.sum() - 2] <= of_depth + 1e-6


def test_without_a_binding_limit_the_order_of_growth_does_not_matter(blobs, assert_same_trees):
    X, y = blobs
    breadth_first = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    best_first = CO2ForestClassifier(5, max_leaf_nodes=300, random_state=0, mixture=None).fit(X, y)
    assert_same_trees(breadth_first, best_first)


def test_min_impurity_decrease(blobs):
    X, y = blobs
    least = 0.02
    plain = CO2ForestClassifier(10, random_state=0, mixture=None).fit(X, y)._forest.arrays()
    pruned = CO2ForestClassifier(10, min_impurity_decrease=least, random_state=0, mixture=None).fit(
        X, y
    )
    arrays = pruned._forest.arrays()
    assert 20 < len(arrays["left"]) < len(plain["left"])
    total = np.repeat(arrays["tree_begin"][:-1], np.diff(arrays["tree_begin"]))
    impurity = arrays["impurity"] * arrays["weighted_count"]
    inner = np.flatnonzero(arrays["left"] >= 0)
    left = total[inner] + arrays["left"][inner]
    decrease = (impurity[inner] - impurity[left] - impurity[left + 1]) / 300
    assert decrease.min() >= least - 1e-6


def test_max_features_is_the_number_of_candidates(informative):
    """With one candidate a stump starts at a random feature, with all of them at the best one."""
    X, y = informative
    X[:, 2] = np.where(y, 1, -1) + 0.01 * X[:, 2]

    def starts(max_features):
        forest = CO2ForestClassifier(
            40, max_features=max_features, max_depth=1, max_iter=1, learning_rate=1e-6, mixture=None
        ).fit(X, y)
        arrays = forest._forest.arrays()
        return {np.abs(weights_of(arrays, node)).argmax() for node in arrays["tree_begin"][:-1]}

    for max_features in (10, None, 1.0, 100):
        assert starts(max_features) == {2}
    for max_features in (1, 0.1, 0.01):
        assert len(starts(max_features)) > 5
    for max_features in ("sqrt", "log2"):  # three
        assert 2 < len(starts(max_features)) < 10


# --- samples of rows


@pytest.mark.parametrize(("max_samples", "drawn"), [(40, 40), (0.25, 75), (1, 1), (1.0, 300)])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_max_samples(blobs, bootstrap, max_samples, drawn):
    X, y = blobs
    forest = CO2ForestClassifier(
        6, max_samples=max_samples, bootstrap=bootstrap, random_state=0, mixture=None
    ).fit(X, y)
    arrays = forest._forest.arrays()
    roots = arrays["tree_begin"][:-1]
    np.testing.assert_allclose(arrays["weighted_count"][roots], drawn)
    samples = forest.estimators_samples_
    assert [len(rows) for rows in samples] == [drawn] * 6
    if not bootstrap:
        assert all(len(np.unique(rows)) == drawn for rows in samples)
    elif drawn > 10:
        assert any(len(np.unique(rows)) < drawn for rows in samples)
    if 1 < drawn < 300 or (bootstrap and drawn > 1):
        assert not np.array_equal(samples[0], samples[1])


@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_samples_named_are_those_the_trees_were_grown_on(blobs, bootstrap):
    X, y = blobs
    forest = CO2ForestClassifier(
        8, max_samples=100, bootstrap=bootstrap, random_state=1, mixture=None
    ).fit(X, y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert np.all(np.diff(rows) >= 0)
        assert tree.score(X[rows], y[rows]) == 1.0  # grown to pure leaves
        arrays = tree._forest.arrays()
        leaf, count = np.unique(tree.apply(X[rows]), return_counts=True)
        np.testing.assert_allclose(arrays["weighted_count"][leaf], count)


def test_a_bootstrap_draws_each_row_equally_often():
    X = np.arange(50, dtype=np.float32)[:, None]
    forest = CO2ForestClassifier(400, bootstrap=True, max_depth=1, random_state=0, mixture=None)
    forest.fit(X, np.arange(50) % 2)
    drawn = np.bincount(np.concatenate(forest.estimators_samples_), minlength=50)
    assert drawn.sum() == 400 * 50
    assert np.abs(drawn - 400).max() < 5 * np.sqrt(400)
