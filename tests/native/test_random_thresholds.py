# SPDX-License-Identifier: BSD-3-Clause
"""Random thresholds of single features, node by node, against NumPy."""

import numpy as np
import pytest

import brute_force
from co2forest.baselines import BaselineForestClassifier, BaselineForestRegressor
from co2forest.fitting.plan import NativeParams


class RandomThresholds:
    """All columns have a threshold in each node, so that only thresholds are drawn."""

    def _split_params(self, n_features, solver):
        fields = {"max_features": n_features, "random_thresholds": True}
        return NativeParams("AxisParams", fields, depends_on_scale=False)


class RandomClassifier(RandomThresholds, BaselineForestClassifier):
    pass


class RandomRegressor(RandomThresholds, BaselineForestRegressor):
    pass


def grow(numbers, n_trees=1, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[:, 3] = 1.0  # no threshold splits it
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=300)
    kind = RandomRegressor if numbers else RandomClassifier
    forest = kind(n_trees, bootstrap=False, scale=None, random_state=0, **parameters)
    return forest.fit(X, y if numbers else np.digitize(y, [-0.5, 0.5])), X


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_a_threshold_lies_among_the_values_of_its_node(numbers):
    forest, X = grow(numbers)
    best, used = 0, []
    for node, rows, sides in brute_force.nodes_of(forest, X):
        if sides is None:
            continue
        weights, threshold = brute_force.hyperplane(forest, node)
        (feature,) = np.flatnonzero(weights)
        values = X[rows, feature]
        assert values.min() < threshold <= values.max()
        assert feature != 3
        used.append(feature)
        best += np.abs(values - threshold).min() < 1e-4
    assert set(used) == {0, 1, 2}
    assert best < len(used) / 2  # most are not at a value or in the middle of a gap


def test_thresholds_are_spread_evenly():
    forest, X = grow(False, n_trees=400, max_depth=1)
    low, high = X.min(axis=0), X.max(axis=0)
    places = []
    for tree in forest.estimators_:
        weights, threshold = brute_force.hyperplane(tree, 0)
        (feature,) = np.flatnonzero(weights)
        places.append((threshold - low[feature]) / (high - low)[feature])
    # The best of three is near the middle, but no place is favoured beyond that.
    assert 0.4 < np.mean(places) < 0.6
    assert np.std(places) > 0.05
    assert len(set(places)) > 390


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_leaves_have_as_many_rows_as_asked_for(numbers):
    forest, _ = grow(numbers, n_trees=3, min_samples_leaf=7)
    arrays = forest._forest.arrays()
    assert arrays["sample_count"][arrays["left"] < 0].min() >= 7
