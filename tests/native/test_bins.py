# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds between bins of all rows: exact where values are few, nearly so elsewhere."""

import numpy as np
import pytest

from co2forest.baselines import BaselineForestClassifier, BaselineForestRegressor
from co2forest.fitting.plan import NativeParams

BINS = 32  # of projections; that it is not zero allows bins of features


class Thresholds:
    """All columns have their best threshold in each node."""

    bins = BINS
    type = "AxisParams"

    def _split_params(self, n_features, solver):
        fields = {"max_features": n_features, "threshold_bins": self.bins}
        return NativeParams(self.type, fields, depends_on_scale=False)


class Classifier(Thresholds, BaselineForestClassifier):
    pass


class Regressor(Thresholds, BaselineForestRegressor):
    pass


class ExactClassifier(Classifier):
    bins = 0


class ExactRegressor(Regressor):
    bins = 0


def data_of(numbers, n=3000, levels=None):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    if levels:
        X = np.floor(X * levels / 8).clip(-levels / 2, levels / 2 - 1).astype(np.float32)
    y = X[:, 0] + np.abs(X[:, 1]) * (levels or 1) ** 0.5 + 0.3 * rng.normal(size=n)
    return X, y if numbers else np.digitize(y, np.quantile(y, [0.3, 0.6]))


def grow(kind, X, y, **parameters):
    tree = kind(1, bootstrap=False, scale=None, random_state=0, **parameters)
    return tree.fit(X, y)


@pytest.mark.parametrize("min_samples_leaf", [1, 9])
@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_few_values_give_the_exact_tree(numbers, min_samples_leaf):
    X, y = data_of(numbers, levels=40)
    kinds = (Regressor, ExactRegressor) if numbers else (Classifier, ExactClassifier)
    binned, exact = (
        grow(kind, X, y, min_samples_leaf=min_samples_leaf, max_depth=5) for kind in kinds
    )
    np.testing.assert_array_equal(binned.apply(X), exact.apply(X))


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_many_values_lose_little(numbers):
    X, y = data_of(numbers)
    kinds = (Regressor, ExactRegressor) if numbers else (Classifier, ExactClassifier)
    binned, exact = (grow(kind, X, y, max_depth=3) for kind in kinds)
    impurity = [
        np.average(leaf["impurity"], weights=leaf["weight"])
        for leaf in (leaves_of(tree, X) for tree in (binned, exact))
    ]
    assert impurity[0] <= 1.02 * impurity[1]


def leaves_of(tree, X):
    arrays = tree._forest.arrays()
    leaf = np.unique(tree.apply(X))
    return {"impurity": arrays["impurity"][leaf], "weight": arrays["weighted_count"][leaf]}


def test_weights_are_repeats():
    X, y = data_of(False, n=700)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = Classifier(3, bootstrap=False, random_state=0).fit(X, y, sample_weight=weight)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(len(X)), weight))
    repeated = Classifier(3, bootstrap=False, random_state=0).fit(X[order], y[order])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
