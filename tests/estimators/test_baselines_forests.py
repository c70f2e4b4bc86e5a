# SPDX-License-Identifier: BSD-3-Clause
"""What every forest of the library promises, for the baselines and for numbers."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import is_regressor
from sklearn.datasets import make_classification

from baseline_models import (
    BASELINES,
    FORESTS,
    every_baseline,
    every_classifier,
    every_forest,
    fresh,
    name_of,
    outputs,
    targets,
)
from co2forest import TRUSTED_TYPES, ModelFormatError, _native, load_model
from co2forest.baselines import AxisForestClassifier, AxisForestRegressor
from co2forest.data.losses import SQUARED
from co2forest.data.outputs.classes import ClassOutputs
from fitted_state import assert_same_state, change
from hard_problems import assert_distributions, problems

SAMPLING = [{}, {"bootstrap": False}, {"max_samples": 0.6, "max_leaf_nodes": 9}]


@pytest.fixture(scope="module")
def pixels():
    """Small integers, half of them zero: the same in every dtype and storage."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = rng.integers(0, 100, (90, 9)) * (rng.random((90, 9)) < 0.5)
    X[np.arange(90), y] += 60
    return X.astype(np.uint8), y


# --- one seed, one forest


@every_forest
@pytest.mark.parametrize("params", SAMPLING, ids=str)
def test_the_file_does_not_depend_on_threads(pixels, estimator, params, digest_of):
    X, y = pixels[0], targets(estimator, pixels[1])
    expected = fresh(estimator, **params).fit(X, y)
    for n_jobs in (1, 2, 3):
        forest = fresh(estimator, n_jobs=n_jobs, **params).fit(X, y)
        assert digest_of(forest) == digest_of(expected)
        np.testing.assert_array_equal(outputs(forest, X), outputs(expected, X))


@every_forest
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_the_file_does_not_depend_on_the_instruction_set(pixels, estimator, level, digest_of):
    X, y = pixels[0], targets(estimator, pixels[1])
    before = _native.testing.kernels()
    for rows in (X, X / np.float32(3.0), sp.csr_array(X.astype(np.float32))):
        expected = digest_of(fresh(estimator).fit(rows, y))
        try:
            if not _native.testing.select_kernels(level):
                pytest.skip(f"this processor has no {level}")
            assert digest_of(fresh(estimator).fit(rows, y)) == expected
        finally:
            _native.testing.select_kernels(before)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("odd", [1.5, 1.25, 1 + 2**-20])
def test_one_value_that_is_not_whole_among_whole_ones(level, odd):
    """Whole numbers are searched by levels, on which other numbers would be lost."""
    before = _native.testing.kernels()
    try:
        if not _native.testing.select_kernels(level):
            pytest.skip(f"this processor has no {level}")
        for place in range(70):
            x = np.arange(70.0, dtype=np.float32)[:, None] % 3
            x[place] = odd
            y = x[:, 0] == np.float32(odd)
            forest = AxisForestClassifier(1, bootstrap=False, random_state=0).fit(x, y)
            np.testing.assert_array_equal(forest.predict(x), y)
    finally:
        _native.testing.select_kernels(before)


@every_baseline
@pytest.mark.parametrize("scale", ["standard", None])
def test_rows_of_every_kind_give_the_same_trees(pixels, estimator, scale, assert_same_trees):
    X, y = pixels[0], targets(estimator, pixels[1])
    estimator = fresh(estimator, **({"scale": scale} if "scale" in estimator.get_params() else {}))
    expected = fresh(estimator).fit(X.astype(np.float32), y)
    for rows in (X, X.astype(float), X.tolist(), sp.csr_array(X), sp.csc_array(X.astype(float))):
        forest = fresh(estimator).fit(rows, y)
        assert_same_trees(forest, expected)
        np.testing.assert_array_equal(outputs(expected, rows), outputs(expected, X))


@every_forest
def test_many_rows_of_bytes(estimator, assert_same_trees):
    """So many, and so many features, that they are projected in 16 bits."""
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(150, 70), dtype=np.uint8)
    y = targets(estimator, (X[:, 0] > 128).astype(int) + (X[:, 1] > X[:, 2]))
    estimator = fresh(estimator, n_estimators=2, max_depth=2)
    assert_same_trees(fresh(estimator).fit(X, y), fresh(estimator).fit(X.astype(np.float32), y))


@every_forest
@pytest.mark.parametrize("params", SAMPLING, ids=str)
def test_a_warm_start_equals_one_fit(blobs, estimator, params, assert_same_trees):
    X, y = blobs[0][:100], targets(estimator, blobs[1][:100])
    grown = fresh(estimator, n_estimators=2, warm_start=True, **params).fit(X, y)
    grown.set_params(n_estimators=5).fit(X, y)
    at_once = fresh(estimator, n_estimators=5, **params).fit(X, y)
    assert_same_trees(grown, at_once)
    np.testing.assert_array_equal(grown.n_iter_, at_once.n_iter_)


def test_warm_starts_that_cannot_be(blobs):
    X, y = blobs
    forest = AxisForestRegressor(2, warm_start=True).fit(X, y)
    forest.set_params(n_estimators=3)
    with pytest.raises(ValueError, match=r"another number of outputs .*: 2, not 1"):
        forest.fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="another number of features"):
        forest.fit(X[:, :3], y)
    forest = AxisForestClassifier(2, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="other classes than in the first fit"):
        forest.set_params(n_estimators=3).fit(X, y + 1)


# --- weights


@every_forest
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_integer_weights_are_repeats(estimator, storage, assert_same_trees):
    rng = np.random.default_rng(0)
    X, codes = make_classification(90, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
    X = (X * (rng.random(X.shape) < 0.7)).astype(np.float32)
    y, weight = targets(estimator, codes), rng.integers(0, 4, 90)
    estimator = fresh(estimator, bootstrap=False, n_jobs=2)
    weighted = fresh(estimator).fit(storage(X), y, weight)
    repeated = np.repeat(np.arange(90), weight)
    twin = fresh(estimator).fit(storage(X[repeated]), y[repeated])
    # Nothing but what a node keeps of the number of the caller's rows differs.
    assert_same_trees(weighted, twin, ignore=("sample_count",))
    # The unit of targets is a sum in another order.
    np.testing.assert_allclose(outputs(weighted, X), outputs(twin, X), rtol=1e-9, atol=1e-9)


@every_classifier
@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {"a": 9, "c": 0.5}])
def test_class_weights(blobs, estimator, class_weight):
    X, y = blobs[0][:150], targets(estimator, blobs[1][:150])
    plain = fresh(estimator, n_estimators=10, max_depth=2).fit(X, y)
    forest = fresh(plain, class_weight=class_weight).fit(X, y)
    assert not np.array_equal(forest.predict_proba(X), plain.predict_proba(X))
    assert_distributions(forest.predict_proba(X))
    if isinstance(class_weight, dict):
        assert forest.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.1


# --- trees, importances, out of bag


@every_baseline
def test_trees_are_forests_of_one(blobs, estimator):
    X, y = blobs[0][:100], targets(estimator, blobs[1][:100])
    forest = fresh(estimator).fit(X, y)
    trees = forest.estimators_
    assert {type(tree) for tree in trees} == {type(forest)}
    drawn = [tree.estimators_samples_[0] for tree in trees]
    np.testing.assert_array_equal(drawn, forest.estimators_samples_)
    assert not np.array_equal(drawn[0], drawn[1])
    mean = np.mean([outputs(tree, X) for tree in trees], axis=0)
    np.testing.assert_allclose(outputs(forest, X), mean, rtol=1e-9, atol=1e-9)
    importances = np.mean([tree.feature_importances_ for tree in trees], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, importances)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


@every_classifier
def test_weights_whose_sums_are_not_exact(estimator):
    """Whole numbers beyond 2^53: a difference of sums may be less than nothing."""
    data = np.arange(60_000.0)[:, None] + 0.5
    data = np.c_[data, data]
    y = np.r_[np.zeros(59_999), 1]
    weight = np.r_[np.full(30_000, 3.0), np.full(30_000, 5e11)]
    forest = fresh(estimator, n_estimators=1, bootstrap=False, max_depth=1)
    assert forest.fit(data, y, weight).predict(data[:1]) == 0


@every_forest
def test_out_of_bag_estimates(blobs, estimator):
    X, y = blobs[0][:80], targets(estimator, blobs[1][:80])
    forest = fresh(estimator, n_estimators=25, oob_score=True)
    if "n_restarts" in forest.get_params():
        forest.set_params(n_restarts=1)
    forest.fit(X, y)
    first = outputs(forest, X)
    expected, used = np.zeros(first.shape), np.zeros((80, 1))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert len(drawn) == 80
        left_out = np.setdiff1d(np.arange(80), drawn)
        expected[left_out] += outputs(tree, X[left_out])
        used[left_out] += 1
    estimate = getattr(
        forest, "oob_prediction_" if is_regressor(forest) else "oob_decision_function_"
    )
    np.testing.assert_allclose(estimate, expected / used, rtol=1e-9, atol=1e-9)
    if is_regressor(forest):
        residual = ((y - estimate) ** 2).sum(axis=0) / ((y - y.mean(axis=0)) ** 2).sum(axis=0)
        assert forest.oob_score_ == pytest.approx(np.mean(1 - residual))
    else:
        assert forest.oob_score_ == np.mean(forest.classes_[estimate.argmax(axis=1)] == y)
    assert forest.oob_score_ < forest.score(X, y)


def test_out_of_bag_score_of_numbers_by_a_function(blobs):
    X, y = blobs
    seen = []

    def score(truth, predicted):
        seen.append((truth, predicted))
        return 0.25

    forest = AxisForestRegressor(30, oob_score=score, random_state=0).fit(X, 7.0 * y - 1000.0)
    ((truth, predicted),) = seen
    assert forest.oob_score_ == 0.25
    np.testing.assert_allclose(truth, 7.0 * y - 1000.0, rtol=1e-6)
    np.testing.assert_array_equal(predicted, forest.oob_prediction_)


# --- files


@every_forest
@pytest.mark.parametrize("way", ["pickle", "joblib", "skops", "deepcopy", "file", "mapped file"])
def test_round_trips(blobs, estimator, way, path, assert_same_trees):
    X, y = blobs[0][:100], targets(estimator, blobs[1][:100])
    model = fresh(estimator, n_estimators=20, oob_score=True)
    model.set_params(**({"n_restarts": 1} if "n_restarts" in model.get_params() else {}))
    model.fit(X, y)
    if way == "joblib":
        joblib.dump(model, path)
        twin = joblib.load(path)
    elif way.endswith("file"):
        model.save(path)
        twin = load_model(path, mmap_mode="r" if way.startswith("mapped") else None)
    else:
        twin = {
            "pickle": lambda: pickle.loads(pickle.dumps(model)),
            "skops": lambda: skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_TYPES),
            "deepcopy": lambda: copy.deepcopy(model),
        }[way]()
    assert_same_state(model, twin)
    assert_same_trees(model, twin)
    assert twin.get_params() == model.get_params()
    assert twin.oob_score_ == model.oob_score_
    for name in ("n_iter_", "oob_prediction_", "oob_decision_function_", "classes_"):
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(twin, name), getattr(model, name))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    for a, b in zip(twin.estimators_samples_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_outputs.units": np.ones((2, 3))}, "names 3 outputs, but the forest has 2"),
        ({"_outputs.units": np.ones((3, 2))}, r"target_map must be two rows .*, not \(3, 2\)"),
        ({"_outputs.units": np.full((2, 2), np.nan)}, "target_map must be .* finite numbers"),
        ({"_outputs.units": "map"}, "target_map must be two rows"),
        ({"_outputs.one_dimensional": True}, "one_dimensional=True does not fit 2 outputs"),
        ({"_outputs.one_dimensional": 0}, "one_dimensional=0 does not fit"),
        ({"_outputs.loss": SQUARED}, "the loss of AxisForestRegressor is"),
        ({"_outputs": ClassOutputs(np.arange(2))}, "must be NumberOutputs, got ClassOutputs"),
        (
            {"_forest": AxisForestClassifier(1).fit([[0], [1]], [0, 1])._forest},
            "hold probabilities",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_attributes_of_a_regressor_that_do_not_fit_together_are_refused(blobs, changes, message):
    X, y = blobs
    forest = AxisForestRegressor(2, random_state=0).fit(X, np.c_[y, -y])
    change(forest, changes)
    data = pickle.dumps(forest)
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(data)


# --- any data


@st.composite
def limits(draw):
    return {
        "bootstrap": draw(st.booleans()),
        "max_leaf_nodes": draw(st.sampled_from([None, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 3])),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.2])),
        "random_state": draw(st.integers(0, 1000)),
    }


@pytest.mark.filterwarnings(
    "ignore:overflow encountered in cast:RuntimeWarning",
    "ignore:invalid value encountered in reduce:RuntimeWarning",
)
@settings(
    max_examples=120,
    deadline=60_000,  # growth ends
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(
    problem=problems(),
    params=limits(),
    estimator=st.sampled_from(FORESTS),
    scale=st.sampled_from(["auto", "standard", "soft", "minmax", "global", None]),
)
def test_any_finite_data(problem, params, estimator, scale):
    X, codes, weight = problem
    y = 3.0 - codes if is_regressor(estimator) else codes
    estimator = fresh(estimator, n_estimators=2, **params)
    if "scale" in estimator.get_params():
        estimator.set_params(scale=scale)
    for rows in (X, sp.csr_array(X)):
        forest = fresh(estimator).fit(rows, y, weight)
        got = outputs(forest, X)
        np.testing.assert_array_equal(outputs(forest, sp.csr_array(X)), got)
        if is_regressor(forest):
            assert got.min() >= y.min() - 1e-5
            assert got.max() <= y.max() + 1e-5
        else:
            assert_distributions(got)
        assert np.isfinite(forest.feature_importances_).all()
        assert len(forest._forest.arrays()["left"]) <= 2 * (2 * len(y) - 1)


@settings(max_examples=60, deadline=60_000, derandomize=True)
@given(problem=problems(), estimator=st.sampled_from(FORESTS))
def test_full_trees_part_all_rows_that_differ(problem, estimator):
    X, codes, _ = problem
    X = np.round(np.nan_to_num(np.clip(X, -1e3, 1e3)))
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    codes = codes[first][group.ravel()]  # rows that are alike have the same target
    y = 3.0 - codes if is_regressor(estimator) else codes
    forest = fresh(estimator, n_estimators=1, bootstrap=False).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), y, atol=1e-5)


# --- wrong parameters


WRONG = {
    "n_pairs": [0, -1, 1.5, "a"],
    "n_restarts": [0, -1, 1.5, "a", None],
    "n_jumps": [-1, 1.5, "a", None],
    "shrinkage": [0, -0.1, "a", None, np.nan, np.inf],
    "scale": ["x", 1, True],
    "max_features": [0, 0.0, 1.5, -1, "auto", np.nan],
    "n_estimators": [0, None],
    "max_samples": [0, 1.5],
    "bootstrap": ["a"],
    "class_weight": ["x", 1],
}


@every_baseline
def test_wrong_parameters(blobs, estimator):
    X, y = blobs[0][:30], targets(estimator, blobs[1][:30])
    for name in estimator.get_params().keys() & WRONG.keys():
        for value in WRONG[name]:
            with pytest.raises((ValueError, TypeError), match=name):
                fresh(estimator, **{name: value}).fit(X, y)


@pytest.mark.parametrize(
    "params",
    [{"n_pairs": 10**30}, {"n_jumps": 0}, {"shrinkage": 1e30}, {"shrinkage": 1e-300}],
    ids=str,
)
def test_extreme_parameters_work(blobs, params):
    (name,) = params
    X, y = blobs[0][:60], blobs[1][:60]
    for estimator in BASELINES:
        if name in estimator.get_params():
            forest = fresh(estimator, bootstrap=False, **params).fit(X, y)
            assert forest.score(X, y) == pytest.approx(1.0), name_of(estimator)
