# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplanes over a few columns, node by node, against NumPy."""

import numpy as np
import pytest

import brute_force
from co2forest import _native
from co2forest.baselines import BaselineForestClassifier, BaselineForestRegressor
from co2forest.fitting.plan import NativeParams

ONE_TREE = {"n_estimators": 1, "bootstrap": False, "scale": None, "random_state": 0}


class Narrow:
    """All columns are searched, so that nothing but the width is drawn."""

    widths = (3.0,)

    def _split_params(self, n_features, solver):
        fields = {"max_features": n_features, "widths": list(self.widths), "ridge": 0.1}
        return NativeParams("NarrowParams", fields)


class NarrowClassifier(Narrow, BaselineForestClassifier):
    pass


class NarrowRegressor(Narrow, BaselineForestRegressor):
    pass


def problem(seed, n=150, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    weight = rng.integers(1, 4, n).astype(float)
    y = np.digitize(X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=n), [-0.8, 0.8])
    return X, y, weight


def direction(x, response, weight, ridge=0.1):
    x = x - np.average(x, axis=0, weights=weight)
    matrix = (weight[:, None] * x).T @ x
    penalty = ridge * np.trace(matrix) / len(matrix)
    right = x.T @ (weight * (response - np.average(response, weights=weight)))
    return np.linalg.solve(matrix + penalty * np.eye(len(matrix)), right)


def response_of(target, weight, is_right):
    if target.ndim == 2:
        return target[:, 0]
    classes, codes = np.unique(target, return_inverse=True)
    of_class = [target == c for c in classes]
    share = [np.average(is_right[each], weights=weight[each]) for each in of_class]
    return np.array(share)[codes]


def assert_nodes(forest, X, target, weight, width):
    """Each split is the better one of the best feature and of the ridge over the best ones."""
    oblique = 0
    for node, rows, sides in brute_force.nodes_of(forest, X):
        if sides is None:
            continue
        right = sides[rows]
        x, y, w = X[rows].astype(float), target[rows], weight[rows]
        best = [brute_force.best_cut(column, y, w) for column in x.T]
        gains = np.array([cuts[0][0] if cuts else -np.inf for cuts in best])
        gain = brute_force.decrease(y, w, right)
        assert gain >= gains.max() - 1e-6 * weight.sum()
        found, _ = brute_force.hyperplane(forest, node)
        used = np.flatnonzero(found)
        if len(used) == 1:
            assert gain == pytest.approx(gains.max(), abs=1e-6 * weight.sum())
            continue
        oblique += 1
        k = min(width, len(rows) // 5)
        assert len(used) <= k
        first = int(np.argmax(gains))
        is_right = x[:, first] >= best[first][0][2]
        columns = np.sort(np.argsort(-gains, kind="stable")[:k])
        assert set(used) <= set(columns)
        expected = direction(x[:, columns], response_of(y, w, is_right), w)
        cosine = expected @ found[columns]
        cosine /= np.linalg.norm(expected) * np.linalg.norm(found)
        # Weights have eight bits. Where two features are as good, either may have been the start,
        # which for two classes changes the sign alone.
        assert abs(cosine) == pytest.approx(1.0, abs=1e-4)
        along = (X[rows] @ found).astype(float)
        highest = brute_force.best_cut(along, y, w)[0][0]
        assert gain == pytest.approx(highest, abs=1e-6 * weight.sum())
    assert oblique > 1


@pytest.mark.parametrize("width", [2, 3, 10])
def test_every_node_of_classes(width):
    for seed in range(3):
        X, y, weight = problem(seed)
        forest = NarrowClassifier(**ONE_TREE)
        forest.widths = (float(width),)
        assert_nodes(forest.fit(X, y, weight), X, y, weight, width)


def test_every_node_of_numbers():
    for seed in range(3):
        X, _, weight = problem(seed)
        y = X[:, 0] + X[:, 1] - X[:, 2] + 0.1 * X[:, 3] ** 2
        forest = NarrowRegressor(**ONE_TREE).fit(X, y, weight)
        assert_nodes(forest, X, y[:, None].astype(float), weight, 3)


@pytest.mark.parametrize("kind", [NarrowClassifier, NarrowRegressor])
@pytest.mark.threads
def test_it_is_the_same_for_any_threads_and_instructions(kind, assert_same_trees):
    X, y, _ = problem(0, n=400)
    forest = kind(8, random_state=1, n_jobs=1).fit(X, y)
    for jobs in (2, 5):
        assert_same_trees(kind(8, random_state=1, n_jobs=jobs).fit(X, y), forest)
    before = _native.testing.kernels()
    for level in ("baseline", "avx2", "avx512"):
        try:
            if _native.testing.select_kernels(level):
                assert_same_trees(kind(8, random_state=1).fit(X, y), forest)
        finally:
            _native.testing.select_kernels(before)


@pytest.mark.parametrize("factor", [1e-30, 1e30, 1e38])
def test_extreme_values(factor):
    X, y, _ = problem(0)
    X = X / np.abs(X).max()
    X[:, :3] *= np.float32(factor)
    for scale in (None, "standard"):
        forest = NarrowClassifier(3, scale=scale, random_state=0).fit(X, y)
        assert np.isfinite(forest.predict_proba(X)).all()
        assert forest.score(X, y) > 0.8


def test_widths_must_not_be_empty():
    X, y, _ = problem(0)
    forest = NarrowClassifier(**ONE_TREE)
    forest.widths = ()
    with pytest.raises(ValueError, match="widths must name"):
        forest.fit(X, y)
