# SPDX-License-Identifier: BSD-3-Clause
"""Forests for numbers: what they take, what they refuse, and units that must not matter."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from baseline_models import every_regressor, fresh

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4))
Y = X[:, 0] + X[:, 1] ** 2


def with_value(array, value, at):
    array = np.array(array, dtype=float)
    array[at] = value
    return array


@every_regressor
@pytest.mark.parametrize(
    ("data", "y", "message"),
    [
        (with_value(X, np.inf, (3, 1)), Y, "Input X contains infinity"),
        (sp.csr_array(with_value(X, np.inf, (3, 1))), Y, "Input X contains infinity"),
        (with_value(X, 3e38, (3, 1)), Y, "X has a value beyond 1e38 in feature 1"),
        (X[:-1], Y, "inconsistent numbers of samples"),
        (X[:, 0], Y, "Expected 2D array, got 1D array"),
        (X[:0], Y[:0], r"0 sample\(s\)"),
        (X, with_value(Y, np.nan, 5), "Input y contains NaN"),
        (X, with_value(Y, np.inf, 5), "Input y contains infinity"),
        (X, np.full(50, "cat"), "could not convert string to float"),
        (X, np.c_[Y, with_value(Y, np.nan, 5)], "Input y contains NaN"),
        (X, Y[:, None, None], "dim 3"),
        (X, np.empty((50, 0)), r"0 feature\(s\)"),
        (X, Y + 1j, "Complex data not supported"),
        (X, None, "requires y to be passed, but the target y is None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_data(estimator, data, y, message):
    forest = fresh(estimator)
    with pytest.raises(ValueError, match=message):
        forest.fit(data, y)
    with pytest.raises(NotFittedError):
        forest.predict(X)


@every_regressor
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(49), "sample_weight"),
        (with_value(np.ones(50), np.nan, 5), "sample_weight contains NaN"),
        (with_value(np.ones(50), -1.0, 5), "Negative values in data passed to `sample_weight`"),
        (np.zeros(50), "[Ss]ample.weight"),
    ],
)
def test_bad_weights(estimator, weight, message):
    with pytest.raises(ValueError, match=message):
        fresh(estimator).fit(X, Y, weight)


@every_regressor
def test_a_failed_fit_leaves_the_forest_as_it_was(estimator):
    forest = fresh(estimator).fit(X, Y)
    before, names = forest.predict(X), vars(forest).keys()
    with pytest.raises(ValueError, match="contains NaN"):
        forest.fit(X[:, :2], with_value(np.c_[Y, Y], np.nan, (5, 0)))
    assert vars(forest).keys() == names
    np.testing.assert_array_equal(forest.predict(X), before)


@every_regressor
def test_shapes(estimator):
    one = fresh(estimator).fit(X, Y)
    assert one.predict(X).shape == (50,)
    two = fresh(estimator).fit(X, np.c_[Y, -5 * Y])
    assert two.predict(X).shape == (50, 2)
    np.testing.assert_allclose(two.predict(X)[:, 1], -5 * two.predict(X)[:, 0], atol=1e-4)
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        column = fresh(estimator).fit(X, Y[:, None])
    np.testing.assert_array_equal(column.predict(X), one.predict(X))


@every_regressor
def test_missing_values_stand_for_the_mean(estimator):
    missing = np.arange(50)[:, None] == np.arange(X.shape[1])  # more gaps would be features
    forest = fresh(estimator).fit(np.where(missing, np.nan, X), Y)
    mean = np.nanmean(np.where(missing, np.nan, X), axis=0).astype(np.float32)
    np.testing.assert_array_equal(
        forest.predict(np.where(missing, np.nan, X)), forest.predict(np.where(missing, mean, X))
    )


@every_regressor
def test_one_row_one_value_and_rows_alike(estimator):
    np.testing.assert_array_equal(fresh(estimator).fit(X[:1], [7.25]).predict(X), 7.25)
    constant = fresh(estimator).fit(X, np.full(50, -0.1))
    np.testing.assert_allclose(constant.predict(X), -0.1, rtol=1e-7)
    assert constant._forest.arrays()["left"].tolist() == [-1] * 5
    alike = fresh(estimator, bootstrap=False).fit(np.ones((50, 3)), Y, np.arange(50))
    np.testing.assert_allclose(
        alike.predict(np.ones((1, 3))), np.average(Y, weights=np.arange(50)), rtol=1e-6
    )


@every_regressor
@pytest.mark.parametrize("unit", [1e-300, 1e-44, 1e-6, 1e6, 1e30, 1e38, 1e300])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_the_unit_of_targets_does_not_matter(estimator, unit, offset, assert_same_trees):
    forest = fresh(estimator, bootstrap=False).fit(X, (Y + offset) * unit)
    np.testing.assert_allclose(forest.predict(X) / unit, Y + offset, rtol=1e-4, atol=1e-4)
    plain = fresh(estimator, bootstrap=False).fit(X, Y)
    np.testing.assert_array_equal(forest.apply(X), plain.apply(X))


@every_regressor
@pytest.mark.parametrize("unit", [1e-44, 1e-37, 1e-20, 1e20, 3e37])
def test_huge_and_tiny_features(estimator, unit):
    """The largest of X is 2.7; a subnormal unit leaves few values, which must be told apart."""
    data = (X * unit).astype(np.float32)
    forest = fresh(estimator, bootstrap=False).fit(data, np.round(Y))
    if unit > 1e-40:
        np.testing.assert_allclose(forest.predict(data), np.round(Y), atol=1e-5)
    assert np.isfinite(forest.predict(np.full((1, 4), 3.4e38, dtype=np.float32))).all()


@every_regressor
@pytest.mark.parametrize("outlier", [1e6, 1e12, 1e15])
def test_a_target_far_away_does_not_blur_the_others(estimator, outlier):
    """It stands alone: its row is far from the others, too."""
    data = np.linspace(0, 6, 300)[:, None]
    data = np.c_[data, data**2]
    y = np.sin(data[:, 0])
    data[-1], y[-1] = 100.0, outlier
    forest = fresh(estimator, bootstrap=False).fit(data, y)
    np.testing.assert_allclose(forest.predict(data)[:-1], y[:-1], atol=1e-4)


@every_regressor
@pytest.mark.parametrize(
    "storage", [np.asfortranarray, pd.DataFrame, lambda y: y[::-1][::-1], lambda y: y.tolist()]
)
def test_targets_of_any_storage(estimator, storage, assert_same_trees):
    y = np.c_[Y, X[:, 2]]
    assert_same_trees(fresh(estimator).fit(X, storage(y)), fresh(estimator).fit(X, y))


@every_regressor
def test_targets_of_rows_without_weight_do_not_matter(estimator, assert_same_trees):
    weight = np.ones(50)
    weight[:5] = 0.0
    far = np.where(weight > 0, Y, 1e30)
    one, other = (fresh(estimator, bootstrap=False).fit(X, y, weight) for y in (far, Y))
    assert_same_trees(one, other)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@every_regressor
def test_warm_start_with_targets_of_another_world(estimator):
    forest = fresh(estimator, warm_start=True).fit(X, Y)
    forest.n_estimators += 1
    with pytest.raises(ValueError, match=r"y\[0\]=.* standard deviations of y in the first fit"):
        forest.fit(X, (Y + 10) * 1e20)


@every_regressor
def test_prediction_refuses_what_it_cannot_take(estimator):
    forest = fresh(estimator).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        forest.predict(X[:, :3])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        forest.predict(np.full((1, 4), np.inf))
