# SPDX-License-Identifier: BSD-3-Clause
"""Refining of grown trees: what it promises, on many small data sets."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co2forest import CO2ForestClassifier, CO2TreeClassifier, load_model
from forest_arrays import depths, leaves_per_tree
from refine_reference import Refiner

# Few rows of many classes.
pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes is greater")

PASSES = 4


def training_loss(tree, X, y, weight=None):
    """Squared distance between each row's probabilities and its class, summed."""
    truth = np.eye(tree.n_classes_)[np.searchsorted(tree.classes_, y)]
    loss = ((tree.predict_proba(X) - truth) ** 2).sum(axis=1)
    return float(np.sum(loss if weight is None else loss * weight))


def refined(X, y, weight=None, **params):
    """The same tree after no pass, one, two, ..."""
    params = {"scale": "global", "random_state": 0} | params
    return [
        CO2TreeClassifier(refine=passes, **params).fit(X, y, weight) for passes in range(PASSES + 1)
    ]


@st.composite
def problems(draw):
    """Rows of every kind, labels, weights and the limits of a tree."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, 120)), draw(st.sampled_from([1, 2, 5, 17, 80]))
    classes = draw(st.sampled_from([2, 3, 7, 70]))
    centres = rng.normal(size=(classes, p)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    y = rng.integers(classes, size=n)
    X = (rng.normal(size=(n, p)) + centres[y]).astype(np.float32)
    kind = draw(st.sampled_from(["float", "bytes", "sparse", "missing", "coarse"]))
    if kind == "bytes":
        X = np.clip(X * 40 + 128, 0, 255).astype(np.uint8)
    elif kind == "sparse":
        X = sp.csr_array(X * (np.abs(X) > 0.7))
    elif kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    elif kind == "coarse":  # many rows that are alike, of several classes
        X = np.round(X)
    weight = draw(st.sampled_from([None, "real", "whole"]))
    if weight == "real":
        weight = rng.random(n) + 0.01
    elif weight == "whole":
        weight = rng.integers(0, 4, size=n).astype(float)
        weight[0] = 1
    limits = draw(
        st.sampled_from(
            [
                {},
                {"max_depth": 2},
                {"min_samples_leaf": 4},
                {"max_leaf_nodes": 5},
                {"min_weight_fraction_leaf": 0.05},
            ]
        )
    )
    return X, y, weight, limits


@given(problems())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
def test_training_loss_and_size_never_rise(problem):
    X, y, weight, limits = problem
    trees = refined(X, y, weight, **limits)
    losses = [training_loss(tree, X, y, weight) for tree in trees]
    leaves = [tree.get_n_leaves() for tree in trees]
    assert all(b <= a + 1e-5 * (1 + a) for a, b in itertools.pairwise(losses))
    assert leaves == sorted(leaves, reverse=True)


@given(problems())
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
def test_numbers_of_nodes_are_those_of_the_refined_tree(problem):
    """Every node has rows, as many as stored; leaves hold their shares; limits still hold."""
    X, y, weight, limits = problem
    w = np.ones(len(y)) if weight is None else weight
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    tree = CO2TreeClassifier(refine=2, scale="global", random_state=0, **limits).fit(X, y, w)
    arrays = tree._forest.arrays()
    path = tree.decision_path(X)
    np.testing.assert_array_equal(arrays["sample_count"], path.sum(axis=0))
    assert arrays["sample_count"].min() > 0
    np.testing.assert_allclose(arrays["weighted_count"], path.T @ w, rtol=1e-5)
    codes = np.searchsorted(tree.classes_, y)
    weights = path.T @ (np.eye(tree.n_classes_)[codes] * w[:, None])
    shares = weights / weights.sum(axis=1, keepdims=True)
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    np.testing.assert_allclose(arrays["impurity"], bits, atol=1e-4)
    np.testing.assert_allclose(tree.predict_proba(X), shares[tree.apply(X)], atol=1e-5)

    leaf = arrays["left"] < 0
    assert leaf.sum() <= limits.get("max_leaf_nodes", len(y))
    assert depths(arrays).max() <= limits.get("max_depth", len(y))
    assert arrays["sample_count"][leaf].min() >= min(limits.get("min_samples_leaf", 1), len(y))
    least = limits.get("min_weight_fraction_leaf", 0) * w.sum()
    assert arrays["weighted_count"][leaf].min() >= least * (1 - 1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_every_row_ends_where_the_reference_sends_it(seed):
    """Votes, fits, acceptance and pruning, against plain NumPy, for two passes."""
    rng = np.random.default_rng(seed)
    n, p, classes = [(40, 3, 2), (80, 4, 3), (120, 6, 5)][seed % 3]
    y = rng.integers(classes, size=n)
    X = (rng.normal(size=(n, p)) + rng.normal(size=(classes, p))[y]).astype(np.float32)
    weight = np.ones(n) if seed % 2 else rng.integers(1, 4, size=n).astype(float)
    params = {"max_depth": 3 if seed % 4 > 1 else None}
    grown, *passes = refined(X, y, weight, **params)[:3]
    reference = Refiner(grown, X.astype(float), y, weight)
    for tree in passes:
        reference.refine()
        expected = [id(reference.root.leaf(z)) for z in reference.Z]
        pairs = set(zip(expected, tree.apply(X), strict=True))
        assert len(pairs) == len(set(expected)) == tree.get_n_leaves()


def test_accuracy_rises_and_leaves_get_fewer(digits):
    X_train, X_test, y_train, y_test = digits
    scores, leaves = {}, {}
    for refine in (0, 3):
        forest = CO2ForestClassifier(20, refine=refine, random_state=0, mixture=None).fit(
            X_train, y_train
        )
        scores[refine] = np.mean([tree.score(X_test, y_test) for tree in forest.estimators_])
        leaves[refine] = leaves_per_tree(forest._forest.arrays()).mean()
        assert all(tree.score(X_train, y_train) == 1.0 for tree in forest.estimators_)
    assert 1 - scores[3] < 0.9 * (1 - scores[0])
    assert leaves[3] < 0.9 * leaves[0]


@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_same_for_every_number_of_threads(digits, assert_same_trees, bootstrap):
    X, _, y, _ = digits
    params = {"refine": 2, "random_state": 0, "bootstrap": bootstrap}
    one = CO2ForestClassifier(5, n_jobs=1, **params, mixture=None).fit(X, y)
    assert_same_trees(one, CO2ForestClassifier(5, n_jobs=3, **params, mixture=None).fit(X, y))
    assert one.feature_importances_.sum() == pytest.approx(1.0)


def test_whole_weights_are_repeats(blobs, assert_same_trees):
    X, y = blobs
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    model = CO2ForestClassifier(3, refine=2, random_state=0, mixture=None)
    weighted = model.fit(X, y, weight)._forest
    repeated = CO2ForestClassifier(3, refine=2, random_state=0, mixture=None)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    a, b = weighted.arrays(), repeated._forest.arrays()
    for name in a.keys() - {"sample_count"}:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_dense_and_sparse_rows_give_the_same_partition(digits):
    X, _, y, _ = digits
    X = X[:300].astype(np.float32)
    trees = [
        CO2TreeClassifier(refine=2, scale="global", random_state=0).fit(rows, y[:300])
        for rows in (X, sp.csr_array(X))
    ]
    assert trees[0].score(X, y[:300]) == trees[1].score(sp.csr_array(X), y[:300]) == 1.0


def test_out_of_bag_rows_are_those_not_drawn(digits):
    X, _, y, _ = digits
    forest = CO2ForestClassifier(
        30, refine=2, bootstrap=True, oob_score=True, random_state=0, mixture=None
    )
    forest.fit(X, y)
    assert 0.9 < forest.oob_score_ < 1.0


def test_a_file_keeps_the_parameter(path, blobs):
    tree = CO2TreeClassifier(refine=2, random_state=0).fit(*blobs)
    tree.save(path)
    assert load_model(path).refine == 2


@pytest.mark.parametrize("value", [-1, 1.5, "auto", None])
def test_refine_must_be_a_number_of_passes(blobs, value):
    with pytest.raises(ValueError, match="'refine' parameter"):
        CO2TreeClassifier(refine=value).fit(*blobs)


def test_a_very_large_number_of_passes_ends(blobs):
    X, y = blobs
    CO2TreeClassifier(refine=10**30, random_state=0).fit(X, y)
