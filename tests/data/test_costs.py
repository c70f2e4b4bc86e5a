# SPDX-License-Identifier: BSD-3-Clause
"""Confusions that have costs."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    ModelFormatError,
    load_model,
)
from co2forest.data.outputs.costs import least_cost
from fitted_state import change

COSTS = np.array([[0.0, 1.0, 1.0], [10.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
FOREST = CO2ForestClassifier(20, cost_matrix=COSTS, random_state=0, mixture=None)
TREE = CO2TreeClassifier(cost_matrix=COSTS, random_state=0)
both = pytest.mark.parametrize("estimator", [FOREST, TREE], ids=["forest", "tree"])


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(
        900, 8, n_informative=5, n_classes=3, flip_y=0.2, class_sep=0.7, random_state=0
    )
    return X[:450], X[450:], np.array(["a", "b", "c"])[y[:450]], y[450:]


def paid(model, X, y):
    return COSTS[y, np.searchsorted(model.classes_, model.predict(X))].mean()


def test_costs_are_lower(classes):
    X, X_test, y, y_test = classes
    forest = clone(FOREST).set_params(n_estimators=100).fit(X, y)
    plain = clone(forest).set_params(cost_matrix=None).fit(X, y)
    assert paid(forest, X_test, y_test) < 0.8 * paid(plain, X_test, y_test)
    cheapest = min(COSTS[y_test, decision].mean() for decision in range(3))
    assert paid(forest, X_test, y_test) < 0.95 * cheapest


@both
def test_the_decision_has_the_least_expected_cost(classes, estimator):
    X, X_test, y, _ = classes
    model = clone(estimator).set_params(min_samples_leaf=5).fit(X, y)
    proba = model.predict_proba(X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-6)
    expected = model.classes_[(proba @ COSTS).argmin(axis=1)]
    np.testing.assert_array_equal(model.predict(X_test), expected)
    assert (model.predict(X_test) != model.classes_[proba.argmax(axis=1)]).any()


def test_ties_do_not_depend_on_the_number_of_rows():
    """A matrix product would break some in another way: it adds in an order of its own."""
    rng = np.random.default_rng(0)
    other_order = 0
    for _ in range(200):
        probabilities = rng.integers(4, size=(50, 4)) + np.array([1.0, 0.0, 0.0, 0.0])
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        costs = rng.integers(1, 8, size=(4, 4)) * (1.0 - np.eye(4))
        expected = np.cumsum(probabilities[:, :, None] * costs, axis=1)[:, -1]
        decided = least_cost(probabilities, costs)
        np.testing.assert_array_equal(decided, expected.argmin(axis=1))
        backwards = np.cumsum((probabilities[:, :, None] * costs)[:, ::-1], axis=1)[:, -1]
        other_order += np.count_nonzero(backwards.argmin(axis=1) != decided)
    assert other_order > 0


def test_leaves_hold_probabilities_of_classes():
    y, weight = np.array([2, 0, 0, 1]), np.array([1.0, 2.0, 1.0, 4.0])
    tree = clone(TREE).fit(np.ones((4, 2)), y, weight)
    np.testing.assert_allclose(
        tree.predict_proba(np.ones((1, 2))), [[3 / 8, 4 / 8, 1 / 8]], rtol=1e-6
    )


def test_splits_part_what_is_expensive_to_confuse():
    """Feature 0 tells classes 0 and 1 apart, feature 1 classes 2 and 3, both as well."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = np.c_[np.where(y < 2, 2.0 * (y == 1), 1.0), np.where(y >= 2, 2.0 * (y == 3), 1.0)]
    X += rng.normal(scale=0.1, size=X.shape)
    for pair, feature in (((0, 1), 0), ((2, 3), 1)):
        costs = np.full((4, 4), 0.01) * (1 - np.eye(4))
        costs[pair], costs[pair[::-1]] = 1.0, 1.0
        tree = CO2TreeClassifier(cost_matrix=costs, max_leaf_nodes=2, random_state=0).fit(X, y)
        assert tree.feature_importances_[feature] > 0.9


def test_only_ratios_of_costs_matter(classes, assert_same_trees):
    X, X_test, y, _ = classes
    expected = clone(FOREST).fit(X, y)
    for unit in (2.0**-900, 2.0**1000):
        model = clone(FOREST).set_params(cost_matrix=(COSTS * unit).tolist()).fit(X, y)
        assert_same_trees(model, expected)
        np.testing.assert_array_equal(model.predict(X_test), expected.predict(X_test))


def test_integer_weights_are_repeats(classes, assert_same_trees):
    X, _, y, _ = classes
    weight = np.random.default_rng(0).integers(0, 4, 450)
    repeated = np.repeat(np.arange(450), weight)
    assert_same_trees(
        clone(FOREST).fit(X, y, weight),
        clone(FOREST).fit(X[repeated], y[repeated]),
        ignore=("sample_count",),
    )


def test_one_seed_one_forest(classes, digest_of):
    X, _, y, _ = classes
    assert len({digest_of(clone(FOREST).set_params(n_jobs=n).fit(X, y)) for n in (1, 2, 3)}) == 1


def test_class_weights_go_together_with_costs(classes, assert_same_trees):
    X, _, y, _ = classes
    by_class = clone(FOREST).set_params(class_weight={"a": 2, "b": 1, "c": 4}).fit(X, y)
    weight = np.array([2.0, 1.0, 4.0])[np.searchsorted(["a", "b", "c"], y)]
    assert_same_trees(by_class, clone(FOREST).fit(X, y, weight))
    with pytest.raises(ValueError, match="'balanced_subsample' does not go together with cost_mat"):
        clone(FOREST).set_params(class_weight="balanced_subsample").fit(X, y)


def test_out_of_bag_estimates(classes):
    X, _, y, _ = classes
    seen = []

    def score(truth, predicted):
        seen.append((truth, predicted))
        return 0.5

    forest = clone(FOREST).set_params(bootstrap=True, oob_score=score).fit(X, y)
    ((truth, predicted),) = seen
    np.testing.assert_array_equal(truth, y)
    decided = (forest.oob_decision_function_ @ COSTS).argmin(axis=1)
    np.testing.assert_array_equal(predicted, forest.classes_[decided])


@both
@pytest.mark.parametrize("way", ["pickle", "file"])
def test_round_trips(classes, estimator, way, path, recwarn):
    X, X_test, y, _ = classes
    model = clone(estimator).fit(X, y)
    if way == "file":
        model.save(path)
        twin = load_model(path)
        assert twin.cost_matrix == COSTS.tolist()
    else:
        twin = pickle.loads(pickle.dumps(model))
    assert not recwarn.list
    np.testing.assert_array_equal(twin.cost_matrix_, COSTS)
    np.testing.assert_array_equal(twin.predict(X_test), model.predict(X_test))
    np.testing.assert_array_equal(clone(twin).fit(X, y).predict(X_test), model.predict(X_test))


def test_trees_decide_by_costs(classes):
    X, X_test, y, _ = classes
    forest = clone(FOREST).set_params(min_samples_leaf=10).fit(X, y)
    for tree in forest.estimators_[:3]:
        decided = (tree.predict_proba(X_test) @ COSTS).argmin(axis=1)
        np.testing.assert_array_equal(tree.predict(X_test), tree.classes_[decided])


@both
@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones((2, 2)) - np.eye(2), r"for each of the 3 classes .*got shape \(2, 2\)"),
        ([0, 1, 2], r"got shape \(3,\)"),
        ([[0, 1, 1], [1, 0, 1]], r"got shape \(2, 3\)"),
        ([[0, 1], [1, 0, 1], [1, 1, 0]], "cost_matrix must be a square array"),
        ([["a", "b", "c"]] * 3, "cost_matrix must be a square array of numbers"),
        (-COSTS, r"cost_matrix\[0\]\[1\]=-1.0 must be a finite number that is not negative"),
        (np.where(COSTS == 10, np.nan, COSTS), r"cost_matrix\[1\]\[0\]=nan must be"),
        (np.where(COSTS == 3, np.inf, COSTS), r"cost_matrix\[2\]\[1\]=inf must be"),
        (COSTS + np.diag([0, 0, 1]), r"cost_matrix\[2\]\[2\]=1.0 must be zero"),
        (np.zeros((3, 3)), "cost_matrix is zero everywhere"),
        ("balanced", "'cost_matrix' parameter"),
        ({"a": {"b": 1}}, "cost_matrix"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_costs(classes, estimator, costs, message):
    X, _, y, _ = classes
    model = clone(estimator).set_params(cost_matrix=costs)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_costs_of_a_file_are_checked(classes):
    X, _, y, _ = classes
    for costs in (-COSTS, np.zeros((2, 2)), np.full((3, 3), np.nan), "free"):
        tree = clone(TREE).fit(X, y)
        change(tree, {"_outputs.costs": costs})
        data = pickle.dumps(tree)
        with pytest.raises(ModelFormatError, match="cost_matrix"):
            pickle.loads(data)


def test_many_classes():
    """The impurity is a sum over decisions, each up to a bit."""
    rng = np.random.default_rng(0)
    y = np.arange(1500) % 150
    costs = rng.integers(0, 2, (150, 150)) * (1 - np.eye(150))
    tree = CO2TreeClassifier(cost_matrix=costs, max_leaf_nodes=8, random_state=0)
    tree.fit(rng.normal(size=(1500, 3)), y)
    assert tree._forest.arrays()["impurity"][0] > 64
    assert pickle.loads(pickle.dumps(tree)).get_n_leaves() == 8


def test_one_class():
    tree = CO2TreeClassifier(cost_matrix=[[0.0]]).fit(np.eye(3), ["a"] * 3)
    assert tree.predict(np.eye(3)).tolist() == ["a"] * 3


def test_a_fit_without_costs_forgets_them(classes):
    X, X_test, y, _ = classes
    forest = clone(FOREST).fit(X, y).set_params(cost_matrix=None).fit(X, y)
    assert forest.cost_matrix_ is None
    best = forest.predict_proba(X_test).argmax(axis=1)
    np.testing.assert_array_equal(forest.predict(X_test), forest.classes_[best])
