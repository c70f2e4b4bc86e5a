# SPDX-License-Identifier: BSD-3-Clause
"""Several labels per row: y is a matrix of zeros and ones, as scikit-learn's forests take it."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score

from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    ModelFormatError,
    load_model,
    save_model,
)
from co2forest.baselines import AxisForestClassifier
from co2forest.data.outputs.classes import ClassOutputs
from fitted_state import assert_same_state, change

FOREST = CO2ForestClassifier(10, random_state=0, mixture=None)
TREE = CO2TreeClassifier(random_state=0)
both = pytest.mark.parametrize("estimator", [FOREST, TREE], ids=["forest", "tree"])


@pytest.fixture(scope="module")
def labelled():
    """300 training and 300 test rows with any of four labels."""
    X, Y = make_multilabel_classification(600, 12, n_classes=4, n_labels=2, random_state=0)
    return X[:300], X[300:], Y[:300], Y[300:]


@both
def test_shapes_are_those_of_scikit_learn(labelled, estimator):
    X, X_test, Y, _ = labelled
    model = clone(estimator).fit(X, Y)
    other = RandomForestClassifier(10, random_state=0).fit(X, Y)
    assert model.n_outputs_ == other.n_outputs_ == 4
    assert model.n_classes_ == list(other.n_classes_)
    assert isinstance(model.classes_, list)
    for mine, theirs in zip(model.classes_, other.classes_, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert model.predict(X_test).shape == other.predict(X_test).shape
    for method in ("predict_proba", "predict_log_proba"):
        with np.errstate(divide="ignore"):
            ours, theirs = getattr(model, method)(X_test), getattr(other, method)(X_test)
        assert isinstance(ours, list)
        assert [p.shape for p in ours] == [p.shape for p in theirs]


@both
def test_predictions_follow_from_probabilities(labelled, estimator):
    X, X_test, Y, _ = labelled
    model = clone(estimator).fit(X, Y)
    proba = model.predict_proba(X_test)
    for p in proba:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert (p >= 0).all()
    expected = np.stack([p.argmax(axis=1) for p in proba], axis=1)
    np.testing.assert_array_equal(model.predict(X_test), expected)
    assert 0 < model.predict(X_test).mean() < 1
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X_test)[1], np.log(proba[1]))


def test_it_is_better_than_axis_aligned_forests(labelled):
    X, X_test, Y, Y_test = labelled
    ours = CO2ForestClassifier(50, random_state=0, mixture=None).fit(X, Y).predict(X_test)
    theirs = RandomForestClassifier(50, random_state=0).fit(X, Y).predict(X_test)
    assert np.mean(ours != Y_test) < np.mean(theirs != Y_test)
    assert np.mean(ours != Y_test) < 0.8 * np.mean((Y.mean(axis=0) > 0.5) != Y_test)


def test_a_leaf_holds_the_means_of_its_labels():
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
    weight = np.array([1.0, 2.0, 1.0, 4.0])
    tree = CO2TreeClassifier().fit(np.ones((4, 2)), Y, weight)
    proba = np.array(tree.predict_proba(np.ones((1, 2))))[:, 0, 1]
    np.testing.assert_allclose(proba, np.average(Y, axis=0, weights=weight), rtol=1e-6)


@both
def test_full_trees_know_their_rows(labelled, estimator):
    X, _, Y, _ = labelled
    np.testing.assert_array_equal(clone(estimator).fit(X, Y).predict(X), Y)


@pytest.mark.parametrize(
    "storage",
    [
        pytest.param(lambda Y: Y.tolist(), id="list"),
        pytest.param(pd.DataFrame, id="frame"),
        pytest.param(np.asfortranarray, id="fortran"),
        pytest.param(lambda Y: Y.astype(bool), id="bool"),
        pytest.param(lambda Y: Y.astype(float), id="float"),
        pytest.param(lambda Y: Y.astype(np.uint8), id="uint8"),
        pytest.param(lambda Y: pd.DataFrame(Y).astype({0: bool, 1: float}), id="mixed frame"),
    ],
)
def test_labels_of_any_storage(labelled, storage, assert_same_trees):
    X, X_test, Y, _ = labelled
    expected, model = clone(FOREST).fit(X, Y), clone(FOREST).fit(X, storage(Y))
    assert_same_trees(model, expected)
    np.testing.assert_array_equal(model.predict(X_test), expected.predict(X_test))
    stored = storage(Y)
    if isinstance(stored, np.ndarray):
        assert model.predict(X_test).dtype == stored.dtype
        assert model.classes_[0].dtype == stored.dtype


def test_a_label_that_nobody_or_everybody_has(labelled):
    X, X_test, Y, _ = labelled
    Y = np.c_[Y, np.zeros(300, int), np.ones(300, int)]
    forest = clone(FOREST).fit(X, Y)
    np.testing.assert_array_equal(forest.predict(X_test)[:, 4:], [[0, 1]] * 300)
    np.testing.assert_array_equal(forest.predict_proba(X_test)[4], [[1.0, 0.0]] * 300)


def test_rows_of_every_kind(labelled, assert_same_trees):
    X, _, Y, _ = labelled
    X = X.astype(np.uint8)
    expected = clone(FOREST).fit(X.astype(np.float32), Y)
    assert_same_trees(clone(FOREST).fit(X, Y), expected)
    sparse = clone(FOREST).fit(sp.csr_array(X.astype(np.float32)), Y)
    np.testing.assert_array_equal(sparse.predict(X), Y)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)
    forest = clone(FOREST).fit(holes, Y)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0).astype(np.float32), holes)
    np.testing.assert_array_equal(forest.predict_proba(holes), forest.predict_proba(filled))


def test_one_seed_one_forest(labelled, digest_of):
    X, _, Y, _ = labelled
    digests = {digest_of(clone(FOREST).set_params(n_jobs=n).fit(X, Y)) for n in (1, 2, 3)}
    assert len(digests) == 1


def test_integer_weights_are_repeats(labelled, assert_same_trees):
    X, _, Y, _ = labelled
    weight = np.random.default_rng(0).integers(0, 4, 300)
    repeated = np.repeat(np.arange(300), weight)
    assert_same_trees(
        clone(FOREST).fit(X, Y, weight),
        clone(FOREST).fit(X[repeated], Y[repeated]),
        ignore=("sample_count",),
    )


def test_balanced_labels(labelled):
    X, X_test, Y, _ = labelled
    rare = np.c_[Y[:, 0], np.arange(300) % 15 == 0].astype(int)
    plain = CO2ForestClassifier(20, max_depth=2, random_state=0, mixture=None)
    balanced = clone(plain).set_params(class_weight="balanced").fit(X, rare)
    rise = (
        balanced.predict_proba(X_test)[1][:, 1] - plain.fit(X, rare).predict_proba(X_test)[1][:, 1]
    )
    assert rise.mean() > 0.2


def test_out_of_bag_estimates(labelled, path):
    X, _, Y, _ = labelled
    forest = CO2ForestClassifier(
        30, bootstrap=True, oob_score=True, random_state=0, mixture=None
    ).fit(X, Y)
    expected, used = np.zeros((300, 2, 4)), np.zeros((300, 1, 1))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(300), drawn)
        expected[left_out] += np.stack(tree.predict_proba(X[left_out]), axis=2)
        used[left_out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_, expected / used, atol=1e-9)
    oob = forest.oob_decision_function_.argmax(axis=1)
    assert forest.oob_score_ == accuracy_score(Y, oob)
    forest.save(path)
    twin = load_model(path)
    np.testing.assert_array_equal(twin.oob_decision_function_, forest.oob_decision_function_)


@pytest.mark.filterwarnings("ignore:.* rows were drawn by every tree:UserWarning")
def test_rows_that_every_tree_drew_have_zeros(labelled):
    X, _, Y, _ = labelled
    forest = CO2ForestClassifier(
        1, bootstrap=True, oob_score=True, random_state=0, mixture=None
    ).fit(X, Y)
    drawn = np.unique(forest.estimators_samples_[0])
    assert not forest.oob_decision_function_[drawn].any()


def test_warm_starts(labelled, assert_same_trees):
    X, _, Y, _ = labelled
    grown = CO2ForestClassifier(4, warm_start=True, random_state=0, mixture=None).fit(X, Y)
    grown.set_params(n_estimators=10).fit(X, Y)
    assert_same_trees(grown, clone(FOREST).fit(X, Y))
    grown.set_params(n_estimators=11)
    for other in (Y[:, :3], Y[:, 0]):
        with pytest.raises(ValueError, match="other classes than in the first fit"):
            grown.fit(X, other)
    single = CO2ForestClassifier(4, warm_start=True, random_state=0, mixture=None).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="other classes than in the first fit"):
        single.set_params(n_estimators=5).fit(X, Y)


@both
@pytest.mark.parametrize("way", ["pickle", "file"])
def test_round_trips(labelled, estimator, way, path):
    X, X_test, Y, _ = labelled
    model = clone(estimator).fit(X, Y.astype(bool))
    if way == "file":
        save_model(model, path)
        twin = load_model(path)
    else:
        twin = pickle.loads(pickle.dumps(model))
    assert_same_state(model, twin)
    assert twin.n_classes_ == model.n_classes_ == [2] * 4
    np.testing.assert_array_equal(twin.classes_, model.classes_)
    assert twin.predict(X_test).dtype == bool
    np.testing.assert_array_equal(twin.predict_proba(X_test), model.predict_proba(X_test))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_outputs.n_labels": 3}, "names 3 outputs, but the forest has 4"),
        ({"_outputs.n_labels": [2, 2]}, "'n_labels' must be a whole number from 2"),
        ({"_outputs.values": np.array([0, 1, 2])}, "two values for each of 4 labels"),
        ({"_outputs.values": [0, 1]}, "two values for each of 4 labels"),
        ({"_outputs": ClassOutputs(np.arange(4))}, "leaves hold numbers, not probabilities"),
    ],
    ids=str,
)
def test_attributes_that_do_not_fit_together_are_refused(labelled, changes, message):
    X, _, Y, _ = labelled
    forest = clone(FOREST).fit(X, Y)
    change(forest, changes)
    data = pickle.dumps(forest)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(data)


@both
@pytest.mark.parametrize(
    ("y", "params", "message"),
    [
        ([[0, 1], [2, 0], [1, 1]], {}, r"2 columns.*0 elsewhere, got y\[1\]\[0\]="),
        ([[0.5, 1], [0, 0], [1, 1]], {}, r"0 elsewhere, got y\[0\]\[0\]="),
        ([["a", "b"], ["b", "b"], ["a", "a"]], {}, r"each must be a label"),
        ([[0, np.nan], [0, 0], [1, 1]], {}, "Input y contains NaN"),
        ([[0, 1], [0], [1, 1]], {}, "inhomogeneous|legacy multi-label|sequence"),
        (np.zeros((3, 2, 2)), {}, "Unknown label type|dim"),
        (sp.csr_array(np.eye(3)), {}, "dense array, got a sparse one"),
        ([[0, 1], [0, 1]], {}, "inconsistent numbers of samples"),
        (np.eye(3, dtype=int), {"cost_matrix": np.eye(2)}, "cost_matrix is for one class per row"),
        (np.eye(3, dtype=int), {"class_weight": {0: 1, 1: 2}}, "class_weight=.*one class per row"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_labels(estimator, y, params, message):
    model = clone(estimator).set_params(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(3), y)
    with pytest.raises(NotFittedError):
        model.predict(np.eye(3))


def test_balanced_subsample_is_refused():
    forest = CO2ForestClassifier(2, class_weight="balanced_subsample", mixture=None)
    with pytest.raises(ValueError, match=r"'balanced_subsample' does not go together with a y"):
        forest.fit(np.eye(3), np.eye(3, dtype=int))


def test_a_fit_to_classes_after_one_to_labels(labelled):
    X, _, Y, _ = labelled
    forest = clone(FOREST).fit(X, Y).fit(X, Y[:, 0])
    assert forest.n_outputs_ == 1
    assert forest.predict_proba(X).shape == (300, 2)


def test_cross_validation(labelled):
    X, _, Y, _ = labelled
    assert cross_val_score(FOREST, X, Y, cv=3).mean() > 0.2


def test_least_decrease_is_the_mean_entropy_in_bits():
    X = np.array([[0.0], [1.0]] * 20)
    Y = np.c_[X, np.zeros(40)].astype(int)  # a split gains one bit of one label out of two
    for least, leaves in ((0.49, 2), (0.51, 1)):
        tree = CO2TreeClassifier(min_impurity_decrease=least).fit(X, Y)
        assert tree.get_n_leaves() == leaves


def test_what_cannot_be_done(labelled):
    X, _, Y, _ = labelled
    with pytest.raises(ValueError, match=r"1d array|multi"):
        AxisForestClassifier(2).fit(X, Y)
