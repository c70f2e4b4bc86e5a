# SPDX-License-Identifier: BSD-3-Clause
"""Attributes, methods, importances and out-of-bag estimates of the classifiers."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils import get_tags

import co2forest
from co2forest import CO2ForestClassifier, CO2TreeClassifier
from forest_arrays import depths, leaves_per_tree

# What a node keeps of the number of the caller's rows; weights and repeats differ in nothing else.


COUNTS = ("sample_count",)


# --- attributes and methods


def test_attributes(blobs):
    X, y = blobs
    names = np.array(["red", "green", "blue"])
    forest = CO2ForestClassifier(
        7, bootstrap=True, oob_score=True, random_state=0, max_depth=6, mixture=None
    )
    with pytest.warns(UserWarning, match=r"rows were drawn by every tree"):
        assert forest.fit(X, names[y]) is forest
    np.testing.assert_array_equal(forest.classes_, ["blue", "green", "red"])
    assert forest.n_classes_ == 3
    assert forest.n_features_in_ == 8
    assert not hasattr(forest, "feature_names_in_")
    assert len(forest.estimators_) == 7
    assert all(isinstance(tree, CO2TreeClassifier) for tree in forest.estimators_)
    assert len(forest.estimators_samples_) == 7
    assert forest.feature_importances_.shape == (8,)
    assert 0.5 < forest.oob_score_ < 1.0
    assert forest.oob_decision_function_.shape == (300, 3)
    assert forest.n_iter_.shape == (7,)
    assert forest.scale_ in {"global", "soft"}
    # The root has 300 rows, so it takes 30 steps; a small node counts as one.
    assert np.all((forest.n_iter_ > 1) & (forest.n_iter_ <= 30))


def test_every_documented_attribute_exists_and_no_other(blobs):
    X, y = blobs
    for estimator in (
        CO2ForestClassifier(50, bootstrap=True, oob_score=True, mixture=None),
        CO2TreeClassifier(),
    ):
        doc = inspect.getdoc(type(estimator))
        section = re.search(r"Attributes\n-+\n(.*?)(\n\n|$)", doc, re.DOTALL).group(1)
        documented = set(re.findall(r"^(\w+_) :", section, re.MULTILINE))
        pd = pytest.importorskip("pandas")
        estimator.fit(pd.DataFrame(X, columns=list("abcdefgh")), y)
        assert {name for name in documented if not hasattr(estimator, name)} == set()
        public = {n for n in dir(estimator) if n.endswith("_") and not n.startswith("_")}
        assert public == documented


def test_every_parameter_is_documented():
    doc = inspect.getdoc(CO2ForestClassifier)  # __doc__ is indented before 3.13
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", doc, re.DOTALL).group(1)
    documented = set(re.findall(r"^(\w+) :", section, re.MULTILINE))
    assert documented == set(CO2ForestClassifier(mixture=None).get_params())
    assert set(CO2TreeClassifier().get_params()) < documented


def test_version_is_that_of_the_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", co2forest.__version__)
    assert set(co2forest.__all__) >= {"CO2ForestClassifier", "CO2TreeClassifier", "__version__"}


def test_tree_attributes(blobs):
    X, y = blobs
    tree = CO2TreeClassifier(random_state=0).fit(X, y)
    assert tree.score(X, y) == 1.0
    assert tree.n_iter_.shape == (1,)
    assert 1 < tree.n_iter_[0] <= 30
    arrays = tree._forest.arrays()
    assert tree.get_n_leaves() == leaves_per_tree(arrays)[0] == (len(arrays["left"]) + 1) / 2
    assert tree.get_depth() == depths(arrays).max()
    assert tree.apply(X).shape == (300,)


def test_probabilities(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(9, max_depth=3, random_state=0, mixture=None).fit(X[:200], y[:200])
    proba = forest.predict_proba(X)
    assert proba.shape == (300, 3)
    assert proba.dtype == np.float64
    assert proba.min() >= 0.0
    assert np.unique(proba).size > 100
    # scikit-learn's log_loss warns from 1.5e-8 on.
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(forest.predict(X), proba.argmax(axis=1))
    assert forest.score(X, y) == np.mean(forest.predict(X) == y)


def test_log_probabilities(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    log_proba, proba = forest.predict_log_proba(X), forest.predict_proba(X)
    assert np.any(proba == 0.0)
    np.testing.assert_array_equal(np.isneginf(log_proba), proba == 0.0)
    np.testing.assert_allclose(np.exp(log_proba), proba, rtol=1e-14)


def test_leaves_paths_and_trees_agree(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(6, random_state=0, max_depth=5, mixture=None).fit(X, y)
    leaves = forest.apply(X)
    indicator, begin = forest.decision_path(X)
    arrays = forest._forest.arrays()
    assert leaves.shape == (300, 6)
    assert indicator.shape == (300, len(arrays["left"]))
    assert indicator.has_canonical_format
    np.testing.assert_array_equal(begin, arrays["tree_begin"])
    assert set(np.unique(indicator.data)) == {1}
    depth = depths(arrays)
    mean = np.zeros((300, 3))
    for t, tree in enumerate(forest.estimators_):
        np.testing.assert_array_equal(tree.apply(X), leaves[:, t])
        path = tree.decision_path(X)
        part = indicator[:, begin[t] : begin[t + 1]]
        assert (path != part).nnz == 0
        # A path has as many nodes as the leaf is deep, begins at the root and ends at the leaf.
        np.testing.assert_array_equal(path.sum(axis=1), depth[begin[t] + leaves[:, t]] + 1)
        np.testing.assert_array_equal(path[:, [0]].toarray(), 1)
        np.testing.assert_array_equal(path[np.arange(300), leaves[:, t]], 1)
        mean += tree.predict_proba(X)
    np.testing.assert_allclose(mean / 6, forest.predict_proba(X), rtol=0, atol=1e-12)


def test_leaf_values_are_the_class_distribution_of_its_training_rows(blobs):
    X, y = blobs
    tree = CO2TreeClassifier(max_depth=3, random_state=0).fit(X, y)
    leaves, proba = tree.apply(X), tree.predict_proba(X)
    arrays = tree._forest.arrays()
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        share = np.bincount(y[inside], minlength=3) / inside.sum()
        np.testing.assert_allclose(proba[inside], np.tile(share, (inside.sum(), 1)), atol=1e-6)
        assert arrays["sample_count"][leaf] == arrays["weighted_count"][leaf] == inside.sum()


def test_trees_have_what_the_forest_has(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(
        3, max_depth=2, class_weight="balanced_subsample", random_state=0, mixture=None
    ).fit(X, y + 5)
    tree = forest.estimators_[1]
    np.testing.assert_array_equal(tree.classes_, [5, 6, 7])
    assert tree.n_classes_ == 3
    assert tree.n_features_in_ == 8
    assert tree.max_depth == 2
    assert tree.n_iter_ == forest.n_iter_[1]
    assert set(tree.predict(X)) <= {5, 6, 7}
    assert clone(tree).fit(X, y).n_classes_ == 3  # its parameters are those of a tree


# --- importances


def test_importances_find_the_informative_features(informative):
    X, y = informative
    importances = (
        CO2ForestClassifier(20, random_state=0, mixture=None).fit(X, y).feature_importances_
    )
    assert importances.sum() == pytest.approx(1.0)
    assert np.all(importances >= 0)
    assert set(np.argsort(importances)[-2:]) == {2, 6}
    assert importances[[2, 6]].min() > 2.5 * np.delete(importances, [2, 6]).max()


def test_importances_do_not_depend_on_units(informative):
    X, y = informative
    unit = np.ones(10, dtype=np.float32)
    unit[[2, 5]] = 2.0**20, 2.0**-20  # powers of two: exact in float32
    expected = CO2ForestClassifier(10, random_state=0, scale="standard", mixture=None).fit(X, y)
    actual = CO2ForestClassifier(10, random_state=0, scale="standard", mixture=None).fit(
        X * unit, y
    )
    np.testing.assert_allclose(
        actual.feature_importances_, expected.feature_importances_, rtol=0, atol=1e-6
    )


def test_importances_are_those_of_the_trees(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(5, random_state=0, mixture=None).fit(X, y)
    mean = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, mean, atol=1e-12)


def test_importances_of_a_forest_without_splits_are_zero():
    forest = CO2ForestClassifier(3, mixture=None).fit(np.zeros((5, 4)), [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(forest.feature_importances_, np.zeros(4))


# --- out-of-bag estimates


@pytest.mark.parametrize("sampling", [{"bootstrap": True}, {"max_samples": 0.7}])
def test_out_of_bag_score_is_close_to_the_test_score(digits, sampling):
    X_train, X_test, y_train, y_test = digits
    forest = CO2ForestClassifier(40, oob_score=True, random_state=0, **sampling, mixture=None)
    forest.fit(X_train, y_train)
    assert abs(forest.oob_score_ - forest.score(X_test, y_test)) < 0.02
    decided = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == np.mean(decided == y_train)
    assert forest.score(X_train, y_train) == 1.0  # so the rows drawn were not used


def test_out_of_bag_estimate_is_the_mean_of_the_trees_that_did_not_draw_a_row(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(
        40, bootstrap=True, oob_score=True, random_state=3, mixture=None
    ).fit(X, y)
    expected, used = np.zeros((300, 3)), np.zeros((300, 1))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(300), drawn)
        expected[left_out] += tree.predict_proba(X[left_out])
        used[left_out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_, expected / used, atol=1e-12)


def test_out_of_bag_score_by_a_function(blobs):
    X, y = blobs
    seen = []

    def score(truth, predicted):
        seen.append((truth, predicted))
        return balanced_accuracy_score(truth, predicted)

    names = np.array(["a", "b", "c"])[y]
    forest = CO2ForestClassifier(
        40, bootstrap=True, oob_score=score, random_state=0, mixture=None
    ).fit(X, names)
    (truth, predicted), *others = seen
    assert not others
    np.testing.assert_array_equal(truth, names)
    assert forest.oob_score_ == balanced_accuracy_score(truth, predicted)


def test_rows_without_an_out_of_bag_estimate_are_reported(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(2, bootstrap=True, oob_score=True, random_state=0, mixture=None)
    with pytest.warns(UserWarning, match=r"\d+ of \d+ rows were drawn by every tree") as caught:
        forest.fit(X, y)
    drawn_twice = np.intersect1d(*forest.estimators_samples_)
    assert str(len(drawn_twice)) in str(caught[0].message)
    np.testing.assert_array_equal(forest.oob_decision_function_[drawn_twice], 0.0)
    others = np.setdiff1d(np.arange(300), drawn_twice)
    np.testing.assert_allclose(forest.oob_decision_function_[others].sum(axis=1), 1.0)
    assert 0.4 < forest.oob_score_ <= 1.0


def test_out_of_bag_estimates_of_a_warm_start_are_those_of_one_fit(blobs):
    X, y = blobs
    params = {"bootstrap": True, "oob_score": True, "random_state": 0}
    grown = CO2ForestClassifier(30, warm_start=True, **params, mixture=None).fit(X, y)
    grown.set_params(n_estimators=60).fit(X, y)
    at_once = CO2ForestClassifier(60, **params, mixture=None).fit(X, y)
    np.testing.assert_array_equal(grown.oob_decision_function_, at_once.oob_decision_function_)


def test_a_fit_without_oob_score_forgets_the_old_one(blobs):
    X, y = blobs
    forest = CO2ForestClassifier(
        40, bootstrap=True, oob_score=True, random_state=0, mixture=None
    ).fit(X, y)
    forest.set_params(oob_score=False).fit(X, y)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")


def test_an_array_in_the_place_of_class_weights(blobs):
    """Tags are asked for before anything is checked."""
    forest = CO2ForestClassifier(class_weight=np.ones(3))
    assert not get_tags(forest).classifier_tags.multi_label
    with pytest.raises(ValueError, match="'class_weight' parameter"):
        forest.fit(*blobs)
