# SPDX-License-Identifier: BSD-3-Clause
"""What splits a node: axis-aligned start, ridge split, samples; and nodes hard to split."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from co2forest import CO2TreeClassifier, _native
from co2forest._native import testing
from co2forest.data.rows import native_rows

F32 = np.float32


def entropy(weights):
    """Weight times entropy, in bits."""
    weights = np.asarray(weights, dtype=float)
    share = weights[weights > 0] / weights.sum()
    return -(weights[weights > 0] * np.log2(share)).sum()


def gain_of(label, weight, right):
    classes = label.max() + 1

    def impurity(rows):
        return entropy(np.bincount(label[rows], weight[rows], classes)) if rows.any() else 0.0

    return impurity(np.ones_like(right)) - impurity(right) - impurity(~right)


def integer_node(seed):
    """Integers below 16, so that every two values lie in different bins of a histogram."""
    rng = np.random.default_rng(seed)
    n, p, k = rng.integers(4, 80), rng.integers(1, 9), rng.integers(2, 6)
    x = rng.integers(rng.integers(2, 16), size=(n, p)).astype(F32)
    label = rng.integers(k, size=n)
    x[:, 0] = np.where(rng.random(n) < 0.7, label, x[:, 0])  # a column worth finding
    if p > 2:
        x[:, 2] = 5.0
    label = np.unique(label, return_inverse=True)[1].astype(np.int32)
    return x, label, rng.uniform(0.1, 3.0, n).astype(F32)


# The axis-aligned start.


@pytest.mark.parametrize("seed", range(60))
def test_axis_start_is_the_best_split(seed):
    x, label, weight = integer_node(seed)
    candidates = []
    for column, values in enumerate(x.T):
        for low, high in itertools.pairwise(np.unique(values)):
            cut = (low + high) / 2
            candidates.append((gain_of(label, weight, values >= cut), column, cut))
    got = testing.axis_start(x, label, weight, x.shape[1], 1, seed)
    if not candidates:
        assert got is None
        return
    column, cut, left, right = got
    candidates.sort()
    best_gain = candidates[-1][0]
    tolerance = 1e-5 * weight.sum() * (1 + abs(np.log2(weight.sum())))
    is_right = x[:, column] >= cut
    assert gain_of(label, weight, is_right) >= best_gain - tolerance
    if len(candidates) == 1 or candidates[-2][0] < best_gain - 2 * tolerance:
        assert (column, cut) == candidates[-1][1:]
    assert any((column, cut) == candidate[1:] for candidate in candidates)  # the middle of a gap
    classes = label.max() + 1
    np.testing.assert_allclose(right, np.bincount(label[is_right], weight[is_right], classes))
    np.testing.assert_allclose(left, np.bincount(label[~is_right], weight[~is_right], classes))


def test_axis_start_with_values_beyond_those_it_looked_at():
    """Thresholds are searched on 500 rows; later values may lie on either side of their range."""
    x = np.linspace(-1, 1, 600, dtype=F32)[:, None]
    x = np.random.default_rng(0).permutation(x)
    x[520:540], x[540:560] = -50.0, 80.0
    label = (x[:, 0] > 0).astype(np.int32)
    _, cut, left, right = testing.axis_start(x, label, np.ones(600, dtype=F32), 1, 1, 0)
    assert abs(cut) < 0.01
    assert left[1] == right[0] == 0


def test_axis_start_looks_at_random_columns():
    """With one candidate every column has its turn, but for constant ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 6)).astype(F32)
    x[:, 4] = 1.0
    label = (x[:, 0] > 0).astype(np.int32)
    weight = np.ones(50, dtype=F32)
    chosen = [testing.axis_start(x, label, weight, 1, 1, key)[0] for key in range(300)]
    counts = np.bincount(chosen, minlength=6)
    assert counts[4] == 0
    assert counts[[0, 1, 2, 3, 5]].min() > 30
    # The perfect column wins as soon as it is among the candidates: with probability q / 5.
    for q in (2, 4, 6):
        best = [testing.axis_start(x, label, weight, q, 1, key)[0] == 0 for key in range(300)]
        assert abs(np.mean(best) - min(q / 5, 1)) < 0.1


@pytest.mark.parametrize("min_rows", [1, 3, 8, 20])
def test_axis_start_respects_min_rows(min_rows):
    for seed in range(30):
        x, label, weight = integer_node(seed)
        got = testing.axis_start(x, label, weight, x.shape[1], min_rows, seed)
        allowed = [
            gain_of(label, weight, values >= cut)
            for values in x.T
            for cut in np.unique(values)
            if min_rows <= np.count_nonzero(values >= cut) <= len(x) - min_rows
        ]
        assert (got is None) == (not allowed)
        if got:
            is_right = x[:, got[0]] >= got[1]
            assert min_rows <= np.count_nonzero(is_right) <= len(x) - min_rows
            assert gain_of(label, weight, is_right) >= max(allowed) - 1e-3


# The ridge split.


def normal_equations(x, weight, target, ridge):
    """A, b and m of A w = b with bias = -<w, m>.

    Weights are balanced between the sides, and the offset is not penalised.
    """
    x, weight = x.astype(float), weight.astype(float)
    centred = x - np.average(x, axis=0, weights=weight)
    penalty = ridge * np.average((centred**2).sum(axis=1), weights=weight)
    balanced = weight * weight.sum() / 2
    for side in (-1, 1):
        balanced[target == side] /= weight[target == side].sum()
    mean = np.average(x, axis=0, weights=balanced)
    a = ((x - mean).T * balanced) @ (x - mean) + penalty * np.eye(x.shape[1])
    return a, ((x - mean).T * balanced) @ target, mean


def best_after(steps, a, b):
    """What conjugate gradients reach: the best w in the span of b, A b, ... A^(steps - 1) b."""
    basis = b[:, None] / np.linalg.norm(b)
    for _ in range(1, min(steps, len(b))):
        basis, _ = np.linalg.qr(np.hstack([basis, a @ basis[:, -1:]]))
    return basis @ np.linalg.solve(basis.T @ a @ basis, basis.T @ b)


def ridge_split(x, label, weight, right, params):
    """Preferences of the classes and their ridge regression in turn, at most three times."""
    previous, w, bias = None, None, None
    k = label.max() + 1
    for _ in range(3):
        sides = np.bincount(right * k + label, weight, 2 * k).reshape(2, k) + params.smoothing
        left_share, right_share = sides / sides.sum(axis=1, keepdims=True)
        side = np.where(right_share > left_share, 1, -1)
        if abs(side.sum()) == k or np.array_equal(side, previous):
            break
        a, b, mean = normal_equations(x, weight, side[label], params.ridge)
        w = np.linalg.solve(a, b)
        bias = -w @ mean
        right, previous = x @ w + bias >= 0, side
    return w, bias


@pytest.mark.parametrize(
    ("n", "p"), [(5, 5), (12, 30), (16, 16), (40, 90), (6, 2), (30, 1), (50, 7), (55, 33), (60, 16)]
)
def test_ridge_split_follows_the_preferences_of_classes(n, p):
    """With a penalty so large that a few steps solve the normal equations."""
    params = _native.Co2Params()
    solved = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        label = rng.permutation(np.arange(n) % k).astype(np.int32)
        x = (rng.normal(size=(k, p))[label] + rng.normal(size=(n, p)) + 2.0).astype(F32)
        weight = rng.uniform(0.2, 4.0, n).astype(F32)
        column = int(rng.integers(p))
        cut = F32(np.median(x[:, column]))
        params.ridge = float(rng.choice([20.0, 50.0]))
        w, bias = ridge_split(x, label, weight, x[:, column] >= cut, params)
        got = testing.ridge(x, label, weight, column, cut, params)
        assert (got is None) == (w is None)
        if got is not None:
            solved += 1
            scale = np.abs(w).max()
            np.testing.assert_allclose(got[0], w, rtol=1e-3, atol=1e-3 * scale)
            np.testing.assert_allclose(x @ got[0] + got[1], x @ w + bias, atol=1e-3)
    assert solved >= 10


@pytest.mark.parametrize("ridge", [0.02, 0.2, 2.0])
@pytest.mark.parametrize(("n", "p"), [(2, 3), (7, 20), (60, 5), (99, 40)])
def test_ridge_split_of_two_classes(n, p, ridge):
    """It needs no start, and takes six steps, of which rounding may cost one."""
    params = _native.Co2Params()
    params.ridge = ridge
    for seed in range(10):
        rng = np.random.default_rng(seed)
        label = rng.permutation(np.arange(n) % 2).astype(np.int32)
        x = (label[:, None] * 0.5 + rng.normal(size=(n, p)) + 2.0).astype(F32)
        weight = rng.uniform(0.2, 4.0, n).astype(F32)
        w, bias = testing.ridge(x, label, weight, None, None, params)
        a, b, mean = normal_equations(x, weight, 2 * label - 1, ridge)
        assert bias == pytest.approx(-w @ mean, abs=1e-5 * np.abs(w) @ np.abs(mean))
        worst, best = (-b @ best_after(steps, a, b) for steps in (5, 6))
        objective = w @ a @ w - 2 * b @ w  # -<b, w> at a minimum
        assert best * (1 + 1e-5) <= objective <= worst * (1 - 1e-5)


def test_ridge_split_of_classes_that_prefer_one_leaf():
    """All rows on one side, and the smoothing alike: nothing to separate."""
    x = np.arange(8, dtype=F32)[:, None]
    label = np.arange(8, dtype=np.int32) % 2
    params = _native.Co2Params()
    assert testing.ridge(x, label, np.ones(8, dtype=F32), 0, F32(-1.0), params) is None


def test_ridge_split_of_equal_rows():
    x, label = np.ones((6, 3), dtype=F32), np.arange(6, dtype=np.int32) % 2
    assert testing.ridge(x, label, np.ones(6, dtype=F32), 0, F32(1), _native.Co2Params()) is None


# Sparse and dense samples.


@pytest.mark.parametrize("seed", range(20))
def test_sparse_and_dense_samples_agree(seed):
    rng = np.random.default_rng(seed)
    n, p = rng.integers(1, 40), rng.integers(1, 60)
    X = (rng.normal(size=(n, p)) * (rng.random((n, p)) < rng.uniform(0.05, 0.9))).astype(F32)
    X[rng.random((n, p)) < 0.03] = np.nan
    mean, scale = rng.normal(size=p).astype(F32), rng.uniform(0.1, 3.0, p).astype(F32)
    scale[rng.random(p) < 0.1] = 0.0
    w, a, bias = rng.normal(size=p).astype(F32), rng.normal(size=n).astype(F32), F32(0.7)
    args = mean, scale, w, bias, a
    z = np.where(np.isnan(X), 0.0, (X.astype(float) - mean) * scale)
    sparse = native_rows(sp.csr_array(X))
    for rows, kind in [(native_rows(X), "dense"), (sparse, "block"), (sparse, "sparse")]:
        scores, gradient, columns = testing.sample(rows, *args, kind)
        np.testing.assert_allclose(scores, z @ w + bias, rtol=1e-5, atol=1e-4, err_msg=kind)
        np.testing.assert_allclose(gradient, a @ z, rtol=1e-5, atol=1e-4, err_msg=kind)
        np.testing.assert_allclose(columns, z.T, rtol=1e-5, atol=1e-5, err_msg=kind)


@pytest.mark.parametrize("seed", range(20))
def test_samples_of_bytes_agree(seed):
    """Weights of 16 bits are as good as floats, however long the rows."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(1, 40), rng.integers(1, 1000)
    X = rng.integers(rng.integers(2, 257), size=(n, p), dtype=np.uint8)
    mean, scale = rng.uniform(0, 99, p).astype(F32), rng.uniform(0.1, 3.0, p).astype(F32)
    scale[rng.random(p) < 0.1] = 0.0
    w, a, bias = rng.normal(size=p).astype(F32), rng.normal(size=n).astype(F32), F32(0.7)
    z = (X.astype(float) - mean) * scale
    size = np.abs(w * scale).sum() * 255  # the sum whose parts are rounded
    rows = native_rows(X)
    for kind, tolerance in [("dense", 1e-6), ("bytes", 2e-5)]:
        scores, gradient, columns = testing.sample(rows, mean, scale, w, bias, a, kind)
        np.testing.assert_allclose(scores, z @ w + bias, rtol=0, atol=tolerance * size)
        np.testing.assert_allclose(gradient, a @ z, rtol=1e-4, atol=1e-2)
        np.testing.assert_allclose(columns, z.T, rtol=1e-5, atol=1e-4)


def test_weights_that_are_all_zero_have_no_unit():
    X, zeros = np.full((3, 70), 9, dtype=np.uint8), np.zeros(70, dtype=F32)
    args = zeros, np.ones(70, dtype=F32), zeros, F32(0.5), np.ones(3, dtype=F32)
    scores, _, _ = testing.sample(native_rows(X), *args, "bytes")
    np.testing.assert_array_equal(scores, F32(0.5))


def test_bytes_are_standardised_as_floats():
    rng = np.random.default_rng(1)
    X = rng.integers(256, size=(20, 37), dtype=np.uint8)
    w, a, scale = rng.normal(size=(3, 37)).astype(F32)
    args = X.mean(axis=0, dtype=F32), scale, w, F32(0.1), a[:20].copy(), "dense"
    as_bytes = testing.sample(native_rows(X), *args)
    as_floats = testing.sample(native_rows(X.astype(F32)), *args)
    for left, right in zip(as_bytes, as_floats, strict=True):
        np.testing.assert_array_equal(left, right)


# Nodes that are hard or impossible to split.

SOLVERS = pytest.mark.parametrize("solver", ["auto", "cccp"])


@SOLVERS
def test_rows_that_are_alike_end_in_one_leaf(solver):
    X = np.tile(np.array([1.5, np.nan, -2.0], dtype=F32), (10, 1))
    y = np.arange(10) % 3
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, y, np.arange(1, 11))
    assert tree.get_n_leaves() == 1
    np.testing.assert_allclose(tree.predict_proba(X[:1])[0], np.array([22, 15, 18]) / 55, rtol=1e-6)


@SOLVERS
def test_alike_rows_beside_others(solver):
    """Only the rows that nothing can part share a leaf."""
    X = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [3, 3]], dtype=F32)
    y = np.array([0, 1, 1, 0, 1, 2])
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, y)
    expected = np.array([[1, 2, 0]] * 3 + [[3, 0, 0], [0, 3, 0], [0, 0, 3]]) / 3
    np.testing.assert_allclose(tree.predict_proba(X), expected, rtol=1e-6)


@SOLVERS
@pytest.mark.parametrize("value", [0.0, 7.25, np.nan, 1e30])
def test_constant_features(solver, value):
    X, y = np.full((12, 3), value, dtype=F32), np.arange(12) % 4
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, y)
    assert tree.get_n_leaves() == 1
    np.testing.assert_allclose(tree.predict_proba(X), 0.25)
    X[:, 1] = np.arange(12)
    tree.fit(X, y)
    assert tree.score(X, y) == 1.0
    assert set(np.unique(tree._forest.arrays()["feature"])) <= {1}


@SOLVERS
@pytest.mark.parametrize("pattern", ["alternating", "blocks", "random"])
def test_one_feature(solver, pattern):
    rng = np.random.default_rng(0)
    X = np.sort(rng.normal(size=(64, 1)), axis=0).astype(F32)
    y = {
        "alternating": np.arange(64) % 2,
        "blocks": np.arange(64) // 16 % 2,
        "random": rng.integers(3, size=64),
    }[pattern]
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, y)
    assert tree.score(X, y) == 1.0
    if pattern == "blocks" and solver == "cccp":  # which never does worse than the start
        assert tree.get_n_leaves() == 4


@SOLVERS
@pytest.mark.parametrize("p", [1, 3, 30])
def test_one_row_per_class(solver, p):
    X = np.random.default_rng(p).normal(size=(20, p)).astype(F32)
    y = np.arange(20)
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, y)
    assert tree.get_n_leaves() == 20
    np.testing.assert_array_equal(tree.predict_proba(X), np.eye(20))


@SOLVERS
def test_neighbouring_floats(solver):
    """A threshold fits between two floats that have no float between them."""
    low = F32(1.0)
    X = np.array([low, np.nextafter(low, F32(2))], dtype=F32)[:, None]
    tree = CO2TreeClassifier(solver=solver, random_state=0).fit(X, [0, 1])
    assert tree.score(X, [0, 1]) == 1.0


@SOLVERS
@pytest.mark.parametrize("weight", [1.0, 2.6, 7.0, 0.1])
def test_exclusive_or(solver, weight):
    """The first axis-aligned split gains nothing, and still the leaves must be pure."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=F32)
    y = np.array([0, 1, 1, 0])
    for seed in range(20):
        tree = CO2TreeClassifier(solver=solver, random_state=seed).fit(X, y, np.full(4, weight))
        assert tree.score(X, y) == 1.0
