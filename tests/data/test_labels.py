# SPDX-License-Identifier: BSD-3-Clause
"""Labels of every kind and number."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from co2forest import CO2ForestClassifier, CO2TreeClassifier

FOREST = CO2ForestClassifier(8, random_state=0, mixture=None)
LABELS = {
    "str": ["cat", "dog", "owl"],
    "str of different lengths": ["a", "bb" * 40, "ccc"],
    "object": np.array(["cat", "dog", "owl"], dtype=object),
    "numpy str_": [np.str_("cat"), np.str_("dog"), np.str_("owl")],
    "int": [0, 1, 2],
    "negative": [-5, -1, 3],
    "large": [2**40, 2**40 + 1, 2**62],
    "uint8": np.array([3, 7, 200], dtype=np.uint8),
    "float": [0.0, 1.0, 2.0],
    "float, not from zero": [-3.0, 1.0, 1e9],
    "unicode": ["ä", "ñ", "猫"],
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("estimator", [FOREST, CO2TreeClassifier()], ids=["forest", "tree"])
def test_labels(blobs, name, estimator):
    X, codes = blobs
    labels = np.asarray(LABELS[name])
    y = labels[codes]
    fitted = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(fitted.classes_, labels)
    predicted = fitted.predict(X)
    assert predicted.dtype == y.dtype
    np.testing.assert_array_equal(predicted, y)
    assert fitted.score(X, y) == 1.0
    np.testing.assert_array_equal(clone(estimator).fit(X, y.tolist()).predict(X), y)


def test_bool_labels(blobs):
    X, codes = blobs
    forest = clone(FOREST).fit(X, codes == 1)
    np.testing.assert_array_equal(forest.classes_, [False, True])
    assert forest.predict(X).dtype == bool
    assert forest.score(X, codes == 1) == 1.0


def test_pandas_labels(blobs):
    pd = pytest.importorskip("pandas")
    X, codes = blobs
    names = np.array(["cat", "dog", "owl"])[codes]
    for dtype in ("str", "object", "category", "string"):
        forest = clone(FOREST).fit(X, pd.Series(names, index=np.arange(300) + 7, dtype=dtype))
        np.testing.assert_array_equal(forest.predict(X), names)


def test_a_column_of_labels_is_flattened_with_a_warning(blobs):
    X, y = blobs
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        forest = clone(FOREST).fit(X, y[:, None])
    assert forest.predict(X).shape == (300,)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64, str])
def test_so_many_classes_that_a_warning_is_due(blobs, dtype):
    X, _ = blobs
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        CO2ForestClassifier(1, mixture=None).fit(X[:30], (np.arange(30) * 2 // 3).astype(dtype))


def test_hundreds_of_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(400), 3)
    X = rng.normal(size=(400, 8))[y] + 0.01 * rng.normal(size=(1200, 8))
    forest = clone(FOREST).fit(X, y)
    assert forest.predict_proba(X).shape == (1200, 400)
    assert forest.score(X + 0.001, y) > 0.95


@pytest.mark.parametrize("n_classes", [2, 255, 256, 257, 300])
def test_labels_of_every_size(n_classes, assert_same_trees):
    """Up to 256 classes are counted in bytes."""
    rng = np.random.default_rng(0)
    y = np.arange(900) % n_classes
    X = (rng.normal(size=(n_classes, 5))[y] + 0.1 * rng.normal(size=(900, 5))).astype(np.float32)
    expected = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X, y)
    assert expected.n_classes_ == n_classes
    assert expected.score(X, y) == 1.0
    for dtype in (np.int32, np.uint16, "U3") + ((np.uint8,) if n_classes <= 256 else ()):
        labels = y.astype(dtype)
        forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(X, labels)
        np.testing.assert_array_equal(forest.predict(X), labels)
        if np.dtype(dtype).kind != "U":  # whose classes have another order
            assert_same_trees(forest, expected)


def test_no_rows_of_labels():
    for dtype in (np.uint8, np.int64, float):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            CO2ForestClassifier(mixture=None).fit(np.ones((3, 2)), np.empty(0, dtype=dtype))
