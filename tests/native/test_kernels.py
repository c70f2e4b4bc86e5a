# SPDX-License-Identifier: BSD-3-Clause
"""Every instruction set gives the same bits, and they are those of the formulas."""

import numpy as np
import pytest

import reference
from co2forest import CO2ForestClassifier, _native
from co2forest._native import testing
from core_arithmetic import as_stored, combine, dot

F32 = np.float32
EPS = np.finfo(F32).eps


def supported_levels():
    before = testing.kernels()
    levels = [name for name in ("baseline", "avx2", "avx512") if testing.select_kernels(name)]
    testing.select_kernels(before)
    return levels


LEVELS = supported_levels()


@pytest.fixture(autouse=True)
def level_is_restored():
    before = testing.kernels()
    yield
    assert testing.select_kernels(before)


def on_each_level(function, *args):
    """The result of one call per level, after a check that all are the same to the last bit."""
    results = []
    for level in LEVELS:
        assert testing.select_kernels(level)
        results.append(function(*args))
    for other in results[1:]:
        assert_same_bits(results[0], other)
    return results[0]


def assert_same_bits(a, b):
    if isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            assert_same_bits(x, y)
    else:
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


def spread_out(rng, *shape):
    """Floats of very different sizes, so that a changed order of additions changes the sum."""
    return (rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 3, size=shape)).astype(F32)


def test_levels():
    assert "baseline" in LEVELS
    assert testing.kernels() in LEVELS
    assert not testing.select_kernels("sse9")
    for level in LEVELS:
        assert testing.select_kernels(level)
        assert testing.kernels() == level


@pytest.mark.parametrize("dtype", [F32, np.uint8])
def test_dot(dtype):
    rng = np.random.default_rng(1)
    for case in range(6000):
        p = case % 300 + 1
        w = spread_out(rng, p)
        x = spread_out(rng, p) if dtype == F32 else rng.integers(256, size=p, dtype=np.uint8)
        got = on_each_level(testing.dot, x, w)
        w = as_stored(w)
        terms = x.astype(float) * w
        assert abs(got - terms.sum()) <= (p / 16 + 6) * EPS * np.abs(terms).sum()
        if case % 20 == 0:
            assert got == dot(x.astype(F32)[None], w, raw=True)[0]


def test_stored_weights_are_rounded_to_the_nearest():
    one = np.ones(1, dtype=F32)
    for w, stored in {
        1.0: 1.0,
        1 + 2**-8: 1.0,  # halfway; even
        1 + 3 * 2**-8: 1 + 2**-6,
        1 + 2**-8 + 2**-20: 1 + 2**-7,
        -1e-40: as_stored(np.array([-1e-40]))[0],
        3.4e38: np.inf,  # which no hyperplane keeps
    }.items():
        assert testing.dot(one, np.array([w], dtype=F32)) == F32(stored)


@pytest.mark.parametrize("p", [1, 7, 16, 17, 64, 100])
def test_dot_of_floats(p):
    rng = np.random.default_rng(p)
    for _ in range(20):
        x, w = spread_out(rng, p), spread_out(rng, p)
        assert on_each_level(testing.dot_of_floats, x, w) == dot(x[None], w, raw=True)[0]


@pytest.mark.parametrize("p", [1, 7, 16, 17, 64, 100])
def test_combine(p):
    rng = np.random.default_rng(p)
    x, y = spread_out(rng, p), spread_out(rng, p)
    for a, b in spread_out(rng, 10, 2):
        assert_same_bits(on_each_level(testing.combine, a, x, b, y), x * a + y * b)


@pytest.mark.parametrize("p", [1, 7, 16, 17, 64, 100])
def test_scores(p):
    rng = np.random.default_rng(p)
    for n in (1, 2, 3, 4, 5, 8, 31):
        x, w, bias = spread_out(rng, n, p), spread_out(rng, p), F32(rng.normal())
        got = on_each_level(testing.scores, x, w, bias)
        assert_same_bits(got, dot(x, w) + bias)
        # A row's score does not depend on the rows around it.
        alone = [testing.scores(row[None], w, bias)[0] for row in x]
        assert_same_bits(got, np.array(alone, dtype=F32))


@pytest.mark.parametrize("p", [1, 15, 16, 33, 90])
def test_accumulate(p):
    rng = np.random.default_rng(p)
    x = spread_out(rng, 40, p)
    for n in (0, 1, 3, 4, 6, 25):
        ids, a = rng.integers(40, size=n).astype(np.int32), spread_out(rng, n)
        got = on_each_level(testing.accumulate, x, ids, a)
        assert_same_bits(got, combine(x[ids], a) + F32(0))
        terms = x[ids].astype(float) * a[:, None]
        assert np.all(np.abs(got - terms.sum(axis=0)) <= (n + 2) * EPS * np.abs(terms).sum(axis=0))


@pytest.mark.parametrize("p", [1, 16, 45])
def test_momentum_step(p):
    rng = np.random.default_rng(p)
    w, v, g = spread_out(rng, 3, p)
    momentum, rate = F32(0.9), F32(0.37)
    new_w, new_v, norm = on_each_level(testing.momentum_step, w, v, g, momentum, rate)
    assert_same_bits(new_v, v * momentum + g * rate)
    assert_same_bits(new_w, w + new_v)
    assert norm == dot(new_w[None], new_w)[0]


@pytest.mark.parametrize("classes", [1, 2, 15, 16, 17, 40])
def test_logarithms_of_probabilities(classes):
    rng = np.random.default_rng(classes)
    for spread in (0.1, 3.0, 30.0):
        theta = rng.normal(0, spread, (2, classes))
        got = on_each_level(lambda t: testing.LogLossLeaves(*np.exp(t), 0.0).losses(), theta)
        expected = np.log(np.exp(theta).sum(axis=1, keepdims=True)) - theta
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("p", [1, 31, 64, 100, 784])
def test_projections_of_bytes(p):
    rng = np.random.default_rng(p)
    for n in (1, 2, 3, 4, 5, 9):
        rows = _native.dense_rows(rng.integers(256, size=(n, p), dtype=np.uint8))
        mean, scale, w = rng.normal(size=(3, p)).astype(F32)
        args = rows, mean, np.abs(scale), w, F32(0.3), rng.normal(size=n).astype(F32), "bytes"
        on_each_level(lambda *x: testing.sample(*x)[0], *args)
        on_each_level(lambda *x: testing.sample(*x)[1], *args)


def entropy(weights):
    """Weight times entropy, in bits; the first axis holds the classes."""
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0, total, 1.0)
    return -(weights * np.log2(np.where(share > 0, share, 1.0))).sum(axis=0)


@pytest.mark.parametrize("bins", [16, 32, 48, 64])
@pytest.mark.parametrize("classes", [1, 2, 5, 30])
def test_entropy_scan(bins, classes):
    rng = np.random.default_rng(bins + classes)
    for scale in (1e-3, 1.0, 1e4):
        histogram = rng.integers(5, size=(classes, bins)) * (rng.random((classes, bins)) < 0.6)
        histogram = (histogram * scale * rng.uniform(0.5, 2.0, (classes, bins))).astype(F32)
        got = on_each_level(testing.entropy_scan, histogram)
        assert_same_bits(got + F32(0), reference.entropy_scan(histogram) + F32(0))
        left = histogram.astype(float).cumsum(axis=1)
        expected = -(entropy(left) + entropy(left[:, -1:] - left))
        # An entropy is a difference of terms n log2 n, each with an error of 3e-7 n and a rounding.
        total = left.sum(axis=0)[-1]
        size = np.abs(left * np.log2(np.maximum(left, 1e-30))).sum(axis=0).max()
        tolerance = (classes + 2) * (1e-6 * total + 2 * EPS * (size + total * abs(np.log2(total))))
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("solver", ["auto", "cccp"])
@pytest.mark.parametrize("dtype", [F32, np.uint8])
def test_forest(solver, dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=300)
    X = rng.uniform(60, 190, size=(5, 21))[y] + rng.normal(0, 45, size=(300, 21))
    X = X.clip(0, 255).astype(dtype)
    if dtype == F32:
        X[rng.random(X.shape) < 0.02] = np.nan

    def train():
        forest = CO2ForestClassifier(
            4, solver=solver, bootstrap=True, random_state=3, mixture=None
        ).fit(X, y)
        arrays = forest._forest.arrays()
        return (*map(np.array, arrays.values()), forest.predict_proba(X))

    on_each_level(train)
