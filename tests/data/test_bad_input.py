# SPDX-License-Identifier: BSD-3-Clause
"""What must not be accepted is refused by a message that names it; the rest works."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

from baseline_models import CLASSIFIERS, fresh, name_of
from co2forest import CO2ForestClassifier, CO2TreeClassifier
from hard_problems import assert_distributions, problems

FOREST = CO2ForestClassifier(3, random_state=0, mixture=None)
TREE = CO2TreeClassifier(random_state=0)
both = pytest.mark.parametrize("estimator", [FOREST, TREE], ids=["forest", "tree"])
# Every tree gets every row, and so knows them all.
BASELINES = [fresh(baseline, bootstrap=False) for baseline in CLASSIFIERS]
classifiers = pytest.mark.parametrize("estimator", [FOREST, TREE, *BASELINES], ids=name_of)

# NumPy warns about a conversion or a sum before scikit-learn refuses (or takes) its result.
ignore_warnings_of_conversion = pytest.mark.filterwarnings(
    "ignore:overflow encountered in cast:RuntimeWarning",
    "ignore:invalid value encountered in reduce:RuntimeWarning",
)

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = np.arange(40) % 3


def with_value(array, value, at=(3, 1)):
    array = np.array(array, dtype=float)
    array[at] = value
    return array


# --- X and y


@classifiers
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, 0], "Expected 2D array, got 1D array"),
        (3.0, "Expected 2D array, got scalar"),
        (X[:, :, None], "dim 3"),
        (X[:0], r"0 sample\(s\)"),
        (X[:, :0], r"0 feature\(s\)"),
        (sp.csr_array((40, 0)), r"0 feature\(s\)"),
        (sp.csr_array((0, 4)), r"0 sample\(s\)"),
        (with_value(X, np.inf), "Input X contains infinity"),
        (with_value(X, -np.inf), "Input X contains infinity"),
        (sp.csr_array(with_value(X, np.inf)), "Input X contains infinity"),
        (X.astype(np.float32) * np.float32(np.inf), "Input X contains"),
        (X + 1j, "Complex data not supported"),
        (sp.csr_array(X + 1j), "Complex data not supported"),
        (np.full((40, 4), "cat"), "could not convert string to float"),
        (np.full((40, 4), "cat", dtype=object), "could not convert string to float"),
        (with_value(X, 3e38), r"X has a value beyond 1e38 in feature 1"),
        (with_value(X, -3e38), r"X has a value beyond 1e38 in feature 1"),
        (sp.csr_array(with_value(X, 3e38)), r"X has a value beyond 1e38 in feature 1"),
        (sp.csr_array((40, 2**31), dtype=np.float32), r"more than 2\^31 - 1 features"),
        (None, "Expected 2D array"),
        (X[:-1], "inconsistent numbers of samples"),
        (np.ma.masked_array(X, mask=X > 1).filled(np.inf), "Input X contains infinity"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@ignore_warnings_of_conversion
def test_bad_rows(estimator, data, message):
    y = Y[: data.shape[0]] if np.shape(data)[:1] == (0,) else Y
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(data, y)


@classifiers
@ignore_warnings_of_conversion
def test_values_beyond_float32(estimator):
    with pytest.raises(ValueError, match=r"Input X contains infinity or a value too large"):
        clone(estimator).fit(with_value(X, 1e39), Y)
    with pytest.raises(ValueError, match=r"Input X contains infinity or a value too large"):
        clone(estimator).fit(X, Y).predict(with_value(X, 1e39))


@classifiers
def test_columns_that_are_not_numbers(estimator):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["cat", "dog"] * 20
    for frame in (
        pd.DataFrame({"a": names, "b": 1.0}),
        pd.DataFrame({"a": pd.Categorical(names), "b": 1.0}),
        pl.DataFrame({"a": names, "b": np.ones(40)}),
    ):
        numbers_only = clone(estimator).set_params(categorical_features=None)
        with pytest.raises(ValueError, match=r"column 'a' must hold numbers.*'cat'"):
            numbers_only.fit(frame, Y)
    dates = pd.DataFrame({"a": pd.date_range("2020-01-01", periods=40), "b": 1.0})
    with pytest.raises(ValueError, match="column 'a' holds dates"):
        clone(estimator).fit(dates, Y)


@classifiers
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y[:-1], "inconsistent numbers of samples"),
        (Y[:, None, None], "y should be a 1d array|Unknown label type"),
        (X[:, 0], "Unknown label type: continuous"),
        (with_value(Y, np.nan, 5), "Input y contains NaN"),
        (with_value(Y, np.inf, 5), "Input y contains infinity"),
        (np.array([0, 1, np.nan, 2] * 10, dtype=object), "contains NaN|Unknown label type"),
        (np.array(["a", "b", np.nan, "c"] * 10, dtype=object), "contains NaN"),
        (np.array([0, None] * 20, dtype=object), "Unknown label type|y contains"),
        (np.array([0, "a"] * 20, dtype=object), "Unknown label type"),
        (Y + 1j, "Complex data not supported"),
        (None, "requires y to be passed, but the target y is None"),
        ([], "inconsistent numbers of samples"),
    ],
)
def test_bad_labels(estimator, labels, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, labels)


@pytest.mark.parametrize("estimator", BASELINES, ids=name_of)
@pytest.mark.parametrize("labels", [np.c_[Y, Y], np.eye(3)[Y], [[0, 1]] * 40])
def test_baselines_take_one_label_per_row(estimator, labels):
    with pytest.raises(ValueError, match="y should be a 1d array"):
        clone(estimator).fit(X, labels)


@classifiers
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(39), "sample_weight"),
        (np.ones((40, 2)), "Sample weights must be 1D"),
        (with_value(np.ones(40), np.nan, 5), "sample_weight contains NaN"),
        (with_value(np.ones(40), np.inf, 5), "sample_weight contains infinity"),
        (with_value(np.ones(40), -1.0, 5), "Negative values in data passed to `sample_weight`"),
        (np.zeros(40), "[Ss]ample.weight"),
        (np.full(40, "a"), "could not convert string to float"),
    ],
)
def test_bad_weights(estimator, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, Y, weight)


@classifiers
@pytest.mark.parametrize("unit", [1e-300, 1e-44, 1e-38, 1e-30, 1e30, 1e37, 3e38, 1e39, 1e300])
@ignore_warnings_of_conversion
def test_weights_of_any_size(estimator, unit):
    """Only their ratios matter: a unit that float32 cannot hold is refused, the others work."""
    if not 1e-45 < unit < 3.4e38:
        with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
            clone(estimator).fit(X, Y, np.full(40, unit))
        return
    fitted = clone(estimator).fit(X, Y, np.full(40, unit))
    assert_distributions(fitted.predict_proba(X))
    assert fitted.score(X, Y) == 1.0


def test_weights_of_very_different_size():
    fitted = clone(FOREST).fit(X, Y, np.logspace(-40, 35, 40))
    assert_distributions(fitted.predict_proba(X))


@classifiers
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({9: 1.0}, "class_weight"),
        ({"a": 1.0}, "class_weight"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "class_weight"),
        ({0: -1.0}, "class_weight"),
        ({0: np.nan}, "class_weight"),
        ({0: np.inf}, "class_weight"),
        ({0: "heavy"}, "class_weight"),
    ],
)
def test_bad_class_weights(estimator, class_weight, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(class_weight=class_weight).fit(X, Y)


@classifiers
def test_class_weights_that_work(estimator):
    zero = clone(estimator).set_params(class_weight={0: 0}).fit(X, Y)
    np.testing.assert_array_equal(zero.classes_, [0, 1, 2])
    np.testing.assert_array_equal(zero.predict_proba(X)[:, 0], 0.0)
    assert np.all(zero.predict(X)[Y > 0] == Y[Y > 0])
    partial = clone(estimator).set_params(class_weight={1: 5}).fit(X, Y)
    assert partial.score(X, Y) == 1.0


def test_zero_weights_that_exclude_all_rows_of_the_weighted_classes():
    weight = (Y == 0).astype(float)
    with pytest.raises(ValueError, match="class_weight"):
        CO2ForestClassifier(3, class_weight={0: 0.0}, mixture=None).fit(X, Y, weight)


def test_a_sample_may_have_only_rows_of_weight_zero():
    """A tree that draws nothing of weight must not end in NaN."""
    weight = np.zeros(40)
    weight[7] = 1.0
    for sampling in ({"bootstrap": True}, {"max_samples": 3}):
        forest = CO2ForestClassifier(30, random_state=0, **sampling, mixture=None).fit(X, Y, weight)
        assert_distributions(forest.predict_proba(X))
        assert np.isfinite(forest.feature_importances_).all()


# --- few rows, classes or columns


@classifiers
def test_one_class(estimator):
    fitted = clone(estimator).fit(X, np.full(40, "only"))
    np.testing.assert_array_equal(fitted.predict_proba(X), np.ones((40, 1)))
    assert set(fitted.predict(X)) == {"only"}
    np.testing.assert_array_equal(fitted.feature_importances_, np.zeros(4))


@classifiers
def test_one_row(estimator):
    fitted = clone(estimator).fit(X[:1], [7])
    np.testing.assert_array_equal(fitted.predict(X), np.full(40, 7))


@classifiers
def test_as_many_classes_as_rows(estimator):
    fitted = clone(estimator).fit(X[:5], list("abcde"))
    np.testing.assert_array_equal(fitted.predict(X[:5]), list("abcde"))
    assert_distributions(fitted.predict_proba(X))


@classifiers
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.0, 1.0, -1e38, 1e-45])
def test_constant_columns_predict_the_prior(estimator, storage, value):
    fitted = clone(estimator).fit(storage(np.full((40, 4), value)), Y)
    prior = np.bincount(Y) / 40
    np.testing.assert_allclose(fitted.predict_proba(X), np.tile(prior, (40, 1)), atol=1e-6)


@classifiers
def test_equal_rows_of_different_classes(estimator):
    data = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)
    y = np.r_[np.zeros(15), np.ones(5), np.ones(20)]
    proba = clone(estimator).fit(data, y).predict_proba(data)
    np.testing.assert_allclose(proba[:20], np.tile([0.75, 0.25], (20, 1)), atol=1e-6)
    np.testing.assert_allclose(proba[20:], np.tile([0.0, 1.0], (20, 1)), atol=1e-6)


@both
@ignore_warnings_of_conversion
@pytest.mark.parametrize("solver", ["auto", "cccp"])
@pytest.mark.parametrize("scale", ["auto", "standard", "soft", "minmax", "global", None])
@pytest.mark.parametrize("unit", [1e-41, 1e-39, 1e-37, 1e-20, 1e20, 2e37, -2e37])
def test_huge_and_tiny_values(estimator, solver, scale, unit):
    """Up to 1e38: the largest of X is 2.9, and far from zero is the same as near to it.

    Below 1e-38 numbers have fewer digits.
    """
    data = (X * unit).astype(np.float32)
    fitted = clone(estimator).set_params(solver=solver, scale=scale).fit(data, Y)
    assert_distributions(fitted.predict_proba(data))
    assert fitted.score(data, Y) == 1.0
    assert np.isfinite(fitted.feature_importances_).all()


@classifiers
@ignore_warnings_of_conversion
def test_the_largest_value(estimator):
    data = np.where(X > 0, 1e38, -1e38)
    y = (X[:, 2] > 0).astype(int)
    fitted = clone(estimator).fit(data, y)
    assert fitted.score(data, y) == 1.0
    # Prediction takes any float32.
    assert_distributions(fitted.predict_proba(np.where(X > 0, 3.4e38, -3.4e38)))


@classifiers
def test_values_far_from_zero(estimator):
    """Differences of one in a million are what float32 can hold."""
    data = (X * 100 + 1e8).astype(np.float32)
    assert len(np.unique(data)) > 30
    assert clone(estimator).fit(data, Y).score(data, Y) == 1.0


# --- prediction


@classifiers
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]
)
def test_bad_rows_in_prediction(estimator, method):
    fitted = clone(estimator).fit(X, Y)
    predict = getattr(fitted, method)
    for other in (X[:, :3], np.ones((2, 5)), sp.csr_array(X[:, :3])):
        with pytest.raises(ValueError, match=r"X has \d features, but .* is expecting 4 features"):
            predict(other)
    with pytest.raises(ValueError, match="Expected 2D array"):
        predict(X[0])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        predict(np.full((1, 4), np.inf))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        predict(X[:0])
    with pytest.raises(ValueError, match="could not convert string to float"):
        predict(np.full((1, 4), "cat"))


@classifiers
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]
)
def test_prediction_before_fit(estimator, method):
    with pytest.raises(NotFittedError, match=f"This {type(estimator).__name__} instance"):
        getattr(clone(estimator), method)(X)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (FOREST, "estimators_"),
        (FOREST, "estimators_samples_"),
        (FOREST, "feature_importances_"),
        (TREE, "feature_importances_"),
    ],
)
def test_attributes_before_fit(estimator, name):
    with pytest.raises(NotFittedError):
        getattr(clone(estimator), name)
    assert not hasattr(clone(estimator), "classes_")


@pytest.mark.parametrize("method", ["get_depth", "get_n_leaves"])
def test_tree_methods_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(CO2TreeClassifier(), method)()


# --- parameters


WRONG = {
    "categorical_features": ["all", 3, [99], [0.5], [True], [[0]], ["x0"], object()],
    "n_estimators": [0, -1, 1.5, "a", None, 2**31, 10**40],
    "nu": [0, -1.0, "x", None, np.nan, np.inf, 1e300],
    "learning_rate": [0, -1.0, "x", None, np.nan, np.inf, 1e300],
    "max_features": [0, 0.0, 1.5, -1, "auto", np.nan],
    "max_depth": [0, -1, 1.5, "a"],
    "min_samples_split": [1, 0, 0.0, 1.5, "a", None, np.nan],
    "min_samples_leaf": [0, 0.0, 1.5, "a", None, np.nan],
    "min_weight_fraction_leaf": [-0.1, 0.6, "a", None, np.nan],
    "min_impurity_decrease": [-1, "a", None, np.nan, np.inf, 10**400],
    "max_leaf_nodes": [1, 0, -3, 2.5, "a"],
    "batch_size": [0, -5, 1.5, "a", None],
    "momentum": [-0.1, 1.0, 2, "a", None, np.nan],
    "cccp_period": [0, -1, 1.5, "a"],
    "max_iter": [0, -1, 1.5, "a"],
    "refine": [-1, 0.5, "a", None],
    "tol": [-1, "a", None, np.nan, np.inf, 10**400],
    "scale": ["x", 1, True],
    "solver": ["sgd", None, 1],
    "mixture": ["none", True, 1],
    "calibrate": [2, "a", None],
    "bootstrap": [2, "a", None],
    "max_samples": [0, 0.0, 1.5, "a", -3, np.nan],
    "class_weight": ["x", 1, [1, 2, 3]],
    "cost_matrix": ["x", 1, [1, 2, 3], np.zeros((3, 3)), -np.ones((3, 3))],
    "oob_score": ["a", None, 3],
    "warm_start": [3, "a", None],
    "n_jobs": [1.5, "a", 0],
    "random_state": ["a", -1, 1.5, 2**32],
    "verbose": ["a", -1, None],
}


def test_every_parameter_has_wrong_values():
    """So that a new parameter is not forgotten here."""
    missing = set(CO2ForestClassifier(mixture=None).get_params()) - set(WRONG)
    assert missing == set()


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_wrong_parameters(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        CO2ForestClassifier(**{"n_estimators": 2, name: value}, mixture=None).fit(X, Y)
    if name in TREE.get_params():
        with pytest.raises((ValueError, TypeError), match=name):
            CO2TreeClassifier(**{name: value}).fit(X, Y)


def test_a_tree_does_not_know_balanced_subsample():
    with pytest.raises(ValueError, match="class_weight"):
        CO2TreeClassifier(class_weight="balanced_subsample").fit(X, Y)


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 10**30},
        {"min_samples_split": 10**30},
        {"min_samples_leaf": 10**30},
        {"max_leaf_nodes": 10**30},
        {"max_features": 10**30},
        {"batch_size": 10**30},
        {"cccp_period": 10**30},
        {"n_jobs": 100_000},
        {"n_jobs": 10**40},
        {"min_samples_leaf": 10**400},
        {"n_jobs": -1},
        {"random_state": 2**32 - 1},
        {"nu": 1e30},
        {"nu": 1e-300},
        {"learning_rate": 1e30},
        {"learning_rate": 1e-300},
        {"nu": 1e30, "learning_rate": 1e30, "scale": None},
        {"tol": 1e300},
        {"tol": 0.0},
        {"momentum": 0.0},
        {"momentum": 1 - 1e-16},
        {"min_impurity_decrease": 1e300},
        {"batch_size": 1},
        {"max_iter": 1},
        {"cccp_period": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", ["auto", "cccp"])
def test_extreme_parameters_work(blobs, params, solver):
    data, y = blobs
    forest = CO2ForestClassifier(
        **{"n_estimators": 2, "random_state": 0, **params}, solver=solver, mixture=None
    )
    assert_distributions(forest.fit(data, y).predict_proba(data))


@pytest.mark.parametrize("bootstrap", [False, True])
def test_more_samples_than_rows(bootstrap):
    with pytest.raises(ValueError, match=r"max_samples=41 is more than the 40 rows"):
        CO2ForestClassifier(2, max_samples=41, bootstrap=bootstrap, mixture=None).fit(X, Y)


@pytest.mark.parametrize("max_samples", [None, 40, 1.0])
def test_out_of_bag_score_needs_rows_left_out(max_samples):
    with pytest.raises(ValueError, match=r"oob_score needs rows .*bootstrap=True"):
        CO2ForestClassifier(2, oob_score=True, max_samples=max_samples, mixture=None).fit(X, Y)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    forest = clone(FOREST).fit(X, Y)
    before, state = forest.predict_proba(X), dict(vars(forest))
    bad = [
        lambda: forest.fit(with_value(X[:, :2], np.inf), Y),
        lambda: forest.fit(X[:, :2], with_value(Y, np.nan, 3).tolist()),
        lambda: forest.fit(X[:, :2], Y, -np.ones(40)),
        lambda: forest.fit(with_value(X[:, :2], 3e38), Y),
        lambda: forest.fit(X[:, :2], Y[:-1]),
        lambda: forest.set_params(max_samples=99).fit(X[:, :2], Y),
    ]
    for fit in bad:
        with pytest.raises((ValueError, RuntimeWarning)):
            fit()
        forest.set_params(max_samples=None)
        assert vars(forest).keys() == state.keys()
        assert forest.n_features_in_ == 4
        np.testing.assert_array_equal(forest.predict_proba(X), before)
    fresh = clone(FOREST)
    with pytest.raises(ValueError, match="infinity"):
        fresh.fit(with_value(X, np.inf), Y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert not hasattr(fresh, "n_features_in_")


# --- anything finite


@st.composite
def settings_of_a_forest(draw):
    return {
        "solver": draw(st.sampled_from(["auto", "cccp"])),
        "scale": draw(st.sampled_from(["auto", "standard", "soft", "minmax", "global", None])),
        "max_features": draw(st.sampled_from(["sqrt", None, 1])),
        "bootstrap": draw(st.booleans()),
        "class_weight": draw(st.sampled_from([None, "balanced", "balanced_subsample"])),
        "max_leaf_nodes": draw(st.sampled_from([None, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 3])),
        "nu": draw(st.sampled_from(["auto", 1e-6, 1e6])),
        "max_iter": draw(st.sampled_from([None, 5])),
        "random_state": draw(st.integers(0, 1000)),
    }


@ignore_warnings_of_conversion
@settings(
    max_examples=200,
    deadline=60_000,  # growth ends
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(problem=problems(), params=settings_of_a_forest())
def test_any_finite_data(problem, params):
    data, y, weight = problem
    forest = CO2ForestClassifier(2, **params, mixture=None).fit(data, y, weight)
    proba = forest.predict_proba(data)
    assert_distributions(proba)
    assert np.isfinite(forest.feature_importances_).all()
    arrays = forest._forest.arrays()
    assert len(arrays["left"]) <= 2 * (2 * len(y) - 1)
    sparse = sp.csr_array(data)
    np.testing.assert_array_equal(forest.predict_proba(sparse), proba)
    assert_distributions(
        CO2ForestClassifier(2, **params, mixture=None).fit(sparse, y, weight).predict_proba(data)
    )


@settings(max_examples=200, deadline=60_000, derandomize=True)
@given(problem=problems(), solver=st.sampled_from(["auto", "cccp"]))
def test_full_trees_part_all_rows_that_differ(problem, solver):
    """Grown to the end, a tree knows every row whose equals have its label, as scikit-learn's."""
    data, y, _ = problem
    data = np.round(np.nan_to_num(np.clip(data, -1e4, 1e4)))  # what float32 can part in a sum
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(data, y)
    best = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(data, y)
    assert tree.score(data, y) == pytest.approx(best.score(data, y))
