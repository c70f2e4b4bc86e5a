# SPDX-License-Identifier: BSD-3-Clause
"""Two-probe, discriminant and coordinate splits, node by node, against NumPy."""

import itertools

import numpy as np
import pytest

import brute_force
from co2forest.baselines import (
    AxisForestClassifier,
    CARTLCForestClassifier,
    LDAForestClassifier,
    OC1ForestClassifier,
    TwoProbeForestClassifier,
    TwoProbeForestRegressor,
)
from core_arithmetic import as_stored

F32 = np.float32
ONE_TREE = {"n_estimators": 1, "bootstrap": False, "random_state": 0}


def problem(seed, n=40, p=4, n_classes=3, whole=False):
    """Classes along directions that no axis has, rows and weights."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n_classes, p))[y] * 1.5 + rng.normal(size=(n, p))
    X = np.round(4 * X) if whole else X
    return X.astype(F32), y, rng.uniform(0.3, 2.0, n).astype(F32).astype(float)


def splits_of(forest, X):
    """Rows of every inner node, which of them go right, its weights and its threshold."""
    for node, rows, right in brute_force.nodes_of(forest, X):
        if right is not None:
            yield rows, right[rows], *brute_force.hyperplane(forest, node)


def best_gain(values, target, weight):
    found = brute_force.best_cut(values, target, weight)
    return found[0][0] if found else None


# --- two probes


def pairs_of(X, factors):
    """The weights of all pairs of features, and the differences as the core rounds them."""
    for a, b in itertools.combinations(range(X.shape[1]), 2):
        weights = np.zeros(X.shape[1], dtype=F32)
        weights[a], weights[b] = factors[a], -factors[b]
        yield weights, X[:, a] * weights[a] + X[:, b] * weights[b]


def assert_best_pairs(forest, X, target, weight, factors):
    n_splits = 0
    for rows, right, weights, threshold in splits_of(forest, X):
        n_splits += 1
        part, y, w = X[rows], target[rows], weight[rows]
        found = [
            (gain, pair)
            for pair, values in pairs_of(part, factors)
            if (gain := best_gain(values, y, w)) is not None
        ]
        best = max(gain for gain, _ in found)
        tolerance = 1e-6 * weight.sum()
        assert brute_force.decrease(y, w, right) == pytest.approx(best, abs=tolerance)
        assert any(np.array_equal(weights, pair) for _, pair in found)
        best_pairs = [pair for gain, pair in found if gain > best - tolerance]
        assert any(np.array_equal(weights, pair) for pair in best_pairs)
        z = part @ weights.astype(F32)
        assert z[right].min() >= threshold > z[~right].max()
    assert n_splits > 3


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n_pairs", [6, 7, 10**30])
def test_two_probes_take_the_best_of_all_pairs(whole, n_pairs):
    for seed in range(3):
        X, y, weight = problem(seed, whole=whole)
        forest = TwoProbeForestClassifier(n_pairs=n_pairs, scale=None, **ONE_TREE)
        assert_best_pairs(forest.fit(X, y, weight), X, y, weight, np.ones(4))


@pytest.mark.parametrize("outputs", [1, 3])
def test_two_probes_for_numbers_take_the_best_of_all_pairs(outputs):
    for seed in range(3):
        X, y, weight = problem(seed, n=30)
        values = np.eye(3)[y][:, :outputs] + 0.1 * X[:, :outputs]
        mean = np.average(values, axis=0, weights=weight)
        values = (values - mean) / np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))
        forest = TwoProbeForestRegressor(n_pairs=6, scale=None, **ONE_TREE)
        forest.fit(X, values if outputs > 1 else values[:, 0], weight)
        assert_best_pairs(forest, X, values, weight, np.ones(4))


def test_two_probes_compare_features_in_their_scale():
    for seed in range(3):
        X, y, weight = problem(seed)
        X = X * np.array([1, 1000, 0.01, 5], dtype=F32)
        factors = 1 / np.sqrt(np.cov(X.T.astype(float), ddof=0, aweights=weight).diagonal())
        factors = as_stored(factors / factors.max())
        forest = TwoProbeForestClassifier(n_pairs=6, scale="standard", **ONE_TREE)
        assert_best_pairs(forest.fit(X, y, weight), X, y, weight, factors)


def test_a_few_pairs_are_drawn_at_random():
    """Each as often as any other, in both orders of drawing."""
    X, y, _ = problem(0, n=60)
    drawn = []
    for seed in range(300):
        forest = TwoProbeForestClassifier(1, n_pairs=1, scale=None, max_depth=1, bootstrap=False)
        forest.set_params(random_state=seed).fit(X, y)
        weights, _ = brute_force.hyperplane(forest, 0)
        first, second = np.flatnonzero(weights)
        assert (weights[first], weights[second]) == (1.0, -1.0)
        drawn.append((first, second))
    counts = [drawn.count(pair) for pair in itertools.combinations(range(4), 2)]
    assert sum(counts) == 300
    assert min(counts) > 25


def test_a_single_feature_parts_rows_that_no_pair_does():
    x = np.arange(12, dtype=F32)
    forest = TwoProbeForestClassifier(scale=None, **ONE_TREE).fit(np.c_[x, x], x > 4)
    weights, threshold = brute_force.hyperplane(forest, 0)
    assert sorted(weights) == [0.0, 1.0]
    assert threshold == 4.5
    one = TwoProbeForestRegressor(**ONE_TREE).fit(x[:, None], x**2)
    np.testing.assert_allclose(one.predict(x[:, None]), x**2, rtol=1e-5, atol=1e-5)


# --- discriminants


def discriminants(X, y, weight, shrinkage):
    """The direction for every way to throw the classes of a node into two groups."""
    X, classes = X.astype(float), np.unique(y)
    for chosen in itertools.product([False, True], repeat=len(classes) - 1):
        one = np.isin(y, classes[1:][list(chosen)])
        if not one.any():
            continue
        means = [np.average(X[side], axis=0, weights=weight[side]) for side in (~one, one)]
        centred = X - np.where(one[:, None], means[1], means[0])
        covariance = (centred.T * weight) @ centred / weight.sum()
        variance = covariance.diagonal().mean()
        ridge = shrinkage * variance if variance > 0 else 1.0
        direction = np.linalg.solve(covariance + ridge * np.eye(X.shape[1]), means[1] - means[0])
        yield direction / np.linalg.norm(direction)


@pytest.mark.parametrize("shrinkage", [0.01, 0.1, 2.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_discriminants_are_those_of_two_groups_of_classes(n_classes, shrinkage):
    n_splits = 0
    for seed in range(4):
        X, y, weight = problem(seed, n=80, n_classes=n_classes)
        forest = LDAForestClassifier(
            max_features=None, shrinkage=shrinkage, scale=None, min_samples_split=12, **ONE_TREE
        ).fit(X, y, weight)
        for rows, right, weights, _ in splits_of(forest, X):
            n_splits += 1
            unit = weights / np.linalg.norm(weights)
            close = [
                abs(unit @ direction)
                for direction in discriminants(X[rows], y[rows], weight[rows], shrinkage)
            ]
            assert max(close) > 1 - 2e-5  # weights have eight bits
            best = best_gain(X[rows] @ weights.astype(F32), y[rows], weight[rows])
            gain = brute_force.decrease(y[rows], weight[rows], right)
            assert gain == pytest.approx(best, abs=1e-3 * weight.sum())
    assert n_splits > 7


def test_discriminants_of_scaled_features():
    """With scale="standard" they do not depend on the features' units."""
    X, y, weight = problem(1, n=80, n_classes=2)
    units = np.array([1.0, 1000.0, 0.01, 30.0])
    forest = LDAForestClassifier(max_features=None, scale="standard", max_depth=1, **ONE_TREE)
    forest.fit(X * units, y, weight)
    weights, _ = brute_force.hyperplane(forest, 0)
    spread = np.sqrt(np.cov(X.T.astype(float), ddof=0, aweights=weight).diagonal())
    (direction,) = discriminants(X / spread, y, weight, 0.1)
    in_scale = weights * units * spread
    assert abs(in_scale @ direction) / np.linalg.norm(in_scale) > 1 - 2e-5


def test_groups_that_do_not_vary_are_told_apart_by_their_means():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    forest = LDAForestClassifier(max_features=None, scale=None, **ONE_TREE).fit(
        X, [0] * 5 + [1] * 5
    )
    weights, _ = brute_force.hyperplane(forest, 0)
    np.testing.assert_allclose(weights / weights[1], [0.75, 1.0], rtol=5e-3)


def test_discriminants_are_over_random_features():
    X, y, _ = problem(0, n=60, p=9)
    seen = set()
    for seed in range(60):
        forest = LDAForestClassifier(1, max_features=2, max_depth=1, random_state=seed).fit(X, y)
        seen.add(tuple(np.flatnonzero(brute_force.hyperplane(forest, 0)[0])))
    assert {len(features) for features in seen} == {2}
    assert len(seen) > 20  # of 36


def test_means_that_are_the_same_fall_back_to_one_feature():
    """Exclusive or: no discriminant exists, and still the leaves must be pure."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=F32)
    y = np.array([0, 1, 1, 0])
    forest = LDAForestClassifier(max_features=None, **ONE_TREE).fit(X, y)
    assert forest.score(X, y) == 1.0


# --- OC1 and CART-LC


COORDINATES = {
    "CART-LC": CARTLCForestClassifier(),
    "OC1": OC1ForestClassifier(),
    "OC1, one start": OC1ForestClassifier(n_restarts=1),
    "OC1, no jumps": OC1ForestClassifier(n_restarts=1, n_jumps=0),
}


@pytest.mark.parametrize("name", COORDINATES)
@pytest.mark.parametrize("params", [{}, {"min_samples_leaf": 6}], ids=str)
def test_no_split_is_worse_than_the_axis_aligned_start(name, params):
    better = total = 0
    for seed in range(3):
        X, y, weight = problem(seed, whole=seed == 2)
        forest = COORDINATES[name].set_params(max_features=None, **ONE_TREE)
        forest.set_params(min_samples_leaf=params.get("min_samples_leaf", 1)).fit(X, y, weight)
        limits = brute_force.Limits(params.get("min_samples_leaf", 1))
        for rows, right, weights, _ in splits_of(forest, X):
            start = max(
                found[0][0]
                for values in X[rows].T
                if (found := brute_force.best_cut(values, y[rows], weight[rows], limits))
            )
            gain = brute_force.decrease(y[rows], weight[rows], right)
            assert gain > start - 1e-6 * weight.sum()
            assert limits.allow(weight[rows], right, rows)
            total += 1
            better += gain > start + 1e-3
            if np.count_nonzero(weights) > 1:  # only a better one replaces the start
                assert gain > start
    assert better > total / 4


def root_gain(forest, X, y):
    weights, threshold = brute_force.hyperplane(forest.fit(X, y), 0)
    return brute_force.decrease(y, np.ones(len(y)), X @ weights.astype(F32) >= threshold)


def test_more_starts_of_oc1_do_no_harm():
    """The first ones stay the same."""
    gains = []
    for seed in range(6):
        X, y, _ = problem(seed, n=60, whole=True)
        params = ONE_TREE | {"max_depth": 1, "scale": None, "random_state": seed}
        gains.append(
            [
                root_gain(OC1ForestClassifier(n_restarts=n, max_features=None, **params), X, y)
                for n in (1, 4, 15)
            ]
        )
    steps = np.diff(gains, axis=1)
    assert steps.min() > -1e-4
    assert steps.max() > 1.0


def test_random_jumps_help_on_average():
    without, few, many = np.mean(
        [
            [
                root_gain(
                    OC1ForestClassifier(
                        n_restarts=1,
                        n_jumps=n,
                        max_features=None,
                        max_depth=1,
                        scale=None,
                        **ONE_TREE,
                    ),
                    *problem(seed, n=60, whole=True)[:2],
                )
                for n in (0, 5, 200)
            ]
            for seed in range(12)
        ],
        axis=0,
    )
    assert without < few < many


@pytest.mark.parametrize("estimator", [CARTLCForestClassifier(), OC1ForestClassifier()], ids=repr)
def test_a_diagonal_is_found(estimator):
    """Which an axis-aligned tree needs many splits for."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2)).astype(F32)
    X = X[np.abs(X[:, 0] + 0.7 * X[:, 1]) > 0.1]
    y = (X[:, 0] + 0.7 * X[:, 1] > 0).astype(int)
    forest = estimator.set_params(max_features=None, **ONE_TREE).fit(X, y)
    axis = AxisForestClassifier(max_features=None, **ONE_TREE).fit(X, y)
    leaves, of_axis = (np.count_nonzero(f._forest.arrays()["left"] < 0) for f in (forest, axis))
    assert forest.score(X, y) == 1.0
    assert leaves == 2
    assert of_axis > 6
