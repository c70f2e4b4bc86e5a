# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows and classes, and labels."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

from co2forest import CO2ForestClassifier

pytestmark = pytest.mark.threads

# What a node keeps of the number of the caller's rows; weights and repeats differ in nothing else.
COUNTS = ("sample_count",)


@pytest.fixture(scope="module")
def imbalanced():
    X, y = make_classification(
        1500, 6, n_informative=3, weights=[0.93], class_sep=0.6, flip_y=0.05, random_state=0
    )
    return X[:750], X[750:], y[:750], y[750:]


@pytest.mark.parametrize(
    "class_weight", [{0: 1.0, 1: 13.0}, "balanced", "balanced_subsample"], ids=str
)
def test_class_weights_favour_the_rare_class(imbalanced, class_weight):
    X, X_test, y, y_test = imbalanced
    params = {"n_estimators": 30, "max_depth": 3, "bootstrap": True, "random_state": 0}
    plain = CO2ForestClassifier(**params, mixture=None).fit(X, y).predict(X_test)
    forest = CO2ForestClassifier(class_weight=class_weight, **params, mixture=None).fit(X, y)
    weighted = forest.predict(X_test)
    assert weighted.sum() > 2 * plain.sum()
    gain = balanced_accuracy_score(y_test, weighted) - balanced_accuracy_score(y_test, plain)
    assert gain > 0.05


def test_class_weights_multiply_sample_weights(blobs, assert_same_trees):
    X, y = blobs
    weight = np.arange(300) % 3 + 1.0
    by_class = CO2ForestClassifier(4, class_weight={0: 2, 1: 1, 2: 4}, random_state=0, mixture=None)
    by_row = CO2ForestClassifier(4, random_state=0, mixture=None)
    assert_same_trees(by_class.fit(X, y, weight), by_row.fit(X, y, weight * np.array([2, 1, 4])[y]))


def test_balanced_weights_are_those_of_scikit_learn(blobs, assert_same_trees):
    X, y = blobs
    weight = sklearn.utils.compute_sample_weight("balanced", y)
    balanced = CO2ForestClassifier(4, class_weight="balanced", random_state=0, mixture=None).fit(
        X, y
    )
    assert_same_trees(
        balanced, CO2ForestClassifier(4, random_state=0, mixture=None).fit(X, y, weight)
    )


def test_balanced_subsample_without_a_sample_is_balanced(blobs, assert_same_trees):
    X, y = blobs
    balanced = CO2ForestClassifier(4, class_weight="balanced", random_state=0, mixture=None).fit(
        X, y
    )
    subsample = CO2ForestClassifier(
        4, class_weight="balanced_subsample", random_state=0, mixture=None
    )
    assert_same_trees(balanced, subsample.fit(X, y), ignore=("weighted_count", "mean", "spread"))


def test_balanced_subsample_balances_the_drawn_rows(imbalanced):
    X, _, y, _ = imbalanced
    forest = CO2ForestClassifier(
        5,
        class_weight="balanced_subsample",
        bootstrap=True,
        max_depth=1,
        random_state=0,
        mixture=None,
    ).fit(X, y)
    arrays = forest._forest.arrays()
    # Both classes weigh the same in every root: one bit of entropy, and the weight of the draws.
    roots = arrays["tree_begin"][:-1]
    np.testing.assert_allclose(arrays["impurity"][roots], 1.0, atol=1e-5)
    np.testing.assert_allclose(arrays["weighted_count"][roots], len(y), rtol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "cccp"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_row_of_weight_zero_is_absent(blobs, solver, storage, assert_same_trees):
    X, y = blobs
    X = X * (np.abs(X) > 0.5)
    rng = np.random.default_rng(0)
    weight = (rng.random(300) < 0.6).astype(float)
    X[weight == 0] *= 50.0  # would change every mean, range and split
    forest = CO2ForestClassifier(5, solver=solver, random_state=0, mixture=None)
    with_zeros = clone(forest).fit(storage(X), y, weight)
    without = clone(forest).fit(storage(X[weight > 0]), y[weight > 0])
    assert_same_trees(with_zeros, without)


def test_a_class_of_weight_zero_has_a_column_of_zeros(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y, (y != 1).astype(float))
    assert forest.n_classes_ == 3
    np.testing.assert_array_equal(forest.predict_proba(X)[:, 1], 0.0)


@pytest.mark.parametrize("n", [30, 300, 3000])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", ["auto", "cccp"])
def test_integer_weights_are_repeats(n, storage, solver, assert_same_trees):
    rng = np.random.default_rng(n)
    X, y = make_classification(n, 12, n_informative=6, n_classes=3, flip_y=0.2, random_state=n)
    X = (X * (rng.random(X.shape) < 0.6)).astype(np.float32)
    weight = rng.integers(0, 4, n)
    forest = CO2ForestClassifier(4, solver=solver, random_state=0, n_jobs=2, mixture=None)
    weighted = clone(forest).fit(storage(X), y, weight)
    repeated = np.repeat(np.arange(n), weight)
    assert_same_trees(weighted, clone(forest).fit(storage(X[repeated]), y[repeated]), ignore=COUNTS)
    # Repeats at the end instead of side by side.
    rounds = [np.flatnonzero(weight > i) for i in range(3)]
    order = np.concatenate([np.flatnonzero(weight), *rounds[1:]])
    assert_same_trees(weighted, clone(forest).fit(storage(X[order]), y[order]), ignore=COUNTS)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**39])
def test_the_unit_of_weights_does_not_matter(blobs, unit):
    X, y = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    forest = CO2ForestClassifier(10, random_state=0, mixture=None)
    a = clone(forest).fit(X, y, weight).predict_proba(X)
    b = clone(forest).fit(X, y, weight * unit).predict_proba(X)
    assert np.mean(a.argmax(axis=1) == b.argmax(axis=1)) > 0.97


@pytest.mark.parametrize("n", [300, 1000])
def test_permuting_the_labels_permutes_the_columns(n):
    X, y = make_classification(n, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=3)
    X[:, 0] *= 100.0  # a unit of its own
    number = CO2ForestClassifier(10, random_state=0, mixture=None).fit(X, y)
    proba = number.predict_proba(X + 0.1)
    for order in itertools.permutations("abc"):
        names = np.array(order)
        name = CO2ForestClassifier(10, random_state=0, mixture=None).fit(X, names[y])
        columns = np.searchsorted(name.classes_, names)
        np.testing.assert_allclose(name.predict_proba(X + 0.1)[:, columns], proba, atol=1e-12)


def test_renaming_the_labels_in_order_changes_nothing(blobs, assert_same_trees):
    X, y = blobs
    number = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    assert_same_trees(
        number, CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y * 10 - 7)
    )
