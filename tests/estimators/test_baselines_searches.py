# SPDX-License-Identifier: BSD-3-Clause
"""The exact searches of the baselines, and the losses they scan, against trying everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute_force
from co2forest._native import testing

F32 = np.float32
ONES = np.empty(0, dtype=F32)
NO_COUNTS = np.empty(0, dtype=np.int32)
EXAMPLES = settings(max_examples=150, deadline=None, derandomize=True)

WEIGHTS = ["none", "whole", "real"]
TARGETS = ["2 classes", "7 classes", "1 output", "3 outputs"]


def targets_of(kind, n, rng):
    count = int(kind[0])
    if kind.endswith("classes"):
        return rng.integers(count, size=n).astype(np.int32)
    return (rng.normal(size=(n, count)) * 3.0 + 1.0).astype(F32)


def weights_of(kind, n, rng):
    """As the core takes them, and as NumPy does."""
    if kind == "none":
        return ONES, np.ones(n)
    weight = rng.integers(1, 6, n) if kind == "whole" else rng.uniform(0.1, 4.0, n)
    return weight.astype(F32), weight.astype(F32).astype(float)


# --- losses


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", TARGETS)
def test_scores_fall_as_impurity_rises(kind, weights):
    """A score is minus the impurity of the sides, but for a constant of the node."""
    for n in (1, 2, 3, 40):
        rng = np.random.default_rng(n)
        target = targets_of(kind, n, rng)
        native, weight = weights_of(weights, n, rng)
        order = rng.permutation(n).astype(np.int32)
        scores = testing.scan_scores(target, native, order)
        left = np.zeros(n, dtype=bool)
        expected = []
        for i in order:
            left[i] = True
            expected.append(brute_force.decrease(target, weight, ~left))
        # With all rows on one side nothing is gained.
        np.testing.assert_allclose(scores - scores[-1], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["2 classes", "7 classes"])
def test_the_score_of_labels_is_minus_the_impurity(kind):
    rng = np.random.default_rng(0)
    target, weight = targets_of(kind, 30, rng), rng.uniform(0.1, 2.0, 30).astype(F32)
    scores = testing.scan_scores(target, weight, np.arange(30, dtype=np.int32))
    assert scores[-1] == pytest.approx(-brute_force.impurity(target, weight))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", TARGETS)
def test_impurity_of_a_node_and_its_sides(kind, weights):
    for n in (1, 2, 3, 40):
        rng = np.random.default_rng(n)
        target = targets_of(kind, n, rng)
        native, weight = weights_of(weights, n, rng)
        for right in (rng.random(n) < 0.5, np.ones(n, dtype=bool), np.zeros(n, dtype=bool)):
            whole, left_weight, right_weight, parts = testing.sides(target, native, right)
            expected = brute_force.impurity(target, weight)
            assert whole == pytest.approx(expected, abs=1e-9)
            assert left_weight == pytest.approx(weight[~right].sum(), abs=1e-9)
            assert right_weight == pytest.approx(weight[right].sum(), abs=1e-9)
            gain = brute_force.decrease(target, weight, right)
            assert whole - parts == pytest.approx(gain, abs=1e-9)


def test_equal_targets_have_no_impurity():
    """Not even a rounding error: a node of them is a leaf."""
    for target in (np.full(9, 3, dtype=np.int32), np.full((9, 2), 1 / 3, dtype=F32)):
        weight = np.full(9, 0.1, dtype=F32)
        assert testing.sides(target, weight, np.arange(9) < 4)[0] == 0.0


# --- thresholds


def values_of(kind, n, rng):
    return {
        "continuous": rng.normal(size=n),
        "few": rng.integers(4, size=n),
        "binary": rng.integers(2, size=n),
        "bytes": rng.integers(256, size=n),
        "negative": rng.integers(-9, 3, size=n),
        "halves": rng.integers(6, size=n) / 2,
        "far": rng.integers(5, size=n) + 2.0**24 - 6,
        "huge": rng.choice([-1e38, 1e38, 3e37, 0.0], size=n),
        "subnormal": rng.integers(5, size=n) * 1e-45,
    }[kind].astype(F32)


VALUES = ["continuous", "few", "binary", "bytes", "negative", "halves", "far", "huge", "subnormal"]


def assert_best(values, target, native, weight, *, counts=NO_COUNTS, rows=1, least=0.0):
    got = testing.best_cut(values, target, native, counts, rows, least)
    limits = brute_force.Limits(rows, least, counts if len(counts) else None)
    expected = brute_force.best_cut(values, target, weight, limits)
    if not expected:
        assert got is None
        return
    threshold, score = got
    right = values >= F32(threshold)
    assert limits.allow(weight, right, np.arange(len(values)))
    tolerance = 1e-9 * (1.0 + weight.sum())
    gain = brute_force.decrease(target, weight, right)
    assert gain == pytest.approx(expected[0][0], abs=tolerance)
    # Ties go to the lowest, in the middle of its gap if there is a float.
    best = min(low for gain, low, _ in expected if gain > expected[0][0] - tolerance)
    (high,) = (high for _, low, high in expected if low == best)
    if sum(gain > expected[0][0] - tolerance for gain, *_ in expected) == 1:
        middle = F32(best * F32(0.5) + high * F32(0.5))
        assert F32(threshold) == (middle if best < middle else high)
    end = testing.scan_scores(target, native, np.arange(len(values), dtype=np.int32))[-1]
    assert score - end == pytest.approx(gain, abs=tolerance)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", VALUES)
def test_thresholds(kind, target, weights):
    for n in (1, 2, 3, 10, 50):
        rng = np.random.default_rng(n)
        values, y = values_of(kind, n, rng), targets_of(target, n, rng)
        assert_best(values, y, *weights_of(weights, n, rng))


@pytest.mark.parametrize("kind", ["continuous", "few", "far"])
def test_thresholds_of_many_rows(kind):
    """From 512 rows on they are sorted by digits."""
    rng = np.random.default_rng(0)
    values = values_of(kind, 700, rng)
    for target in ("2 classes", "1 output"):
        assert_best(values, targets_of(target, 700, rng), ONES, np.ones(700))


@pytest.mark.parametrize("kind", ["continuous", "few", "binary"])
@pytest.mark.parametrize("rows", [2, 5, 9, 20])
def test_thresholds_leave_enough_rows(kind, rows):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = values_of(kind, 18, rng)
        counts = rng.integers(1, 4, 18).astype(np.int32)
        for target in ("2 classes", "1 output"):
            y = targets_of(target, 18, rng)
            assert_best(values, y, *weights_of("real", 18, rng), rows=rows)
            assert_best(values, y, *weights_of("real", 18, rng), rows=rows, counts=counts)


@pytest.mark.parametrize("kind", ["continuous", "few", "binary"])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.5])
def test_thresholds_leave_enough_weight(kind, share):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = values_of(kind, 18, rng)
        native, weight = weights_of("real", 18, rng)
        for target in ("2 classes", "1 output"):
            y = targets_of(target, 18, rng)
            assert_best(values, y, native, weight, least=share * weight.sum())


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(1, 3)), min_size=1),
    st.sampled_from([1.0, 0.25, 1000.0]),
)
def test_thresholds_with_ties(rows, unit):
    values, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    values, weight = (values * unit).astype(F32), weight.astype(F32)
    assert_best(values, label.astype(np.int32), weight, weight.astype(float))
    assert_best(values, label[:, None].astype(F32), weight, weight.astype(float))


# --- steps along a line


def critical_gaps(values, slopes):
    """Neighbouring steps at which a row changes sides."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        critical = -values / slopes
    critical = np.unique(critical[np.isfinite(critical)])
    return list(zip(critical[:-1].astype(float), critical[1:].astype(float), strict=True))


def assert_best_step(values, slopes, label, native, weight):
    got = testing.line_step(values, slopes, label, native)
    gaps = critical_gaps(values, slopes)
    if not gaps:
        assert got is None
        return
    gains = []
    for low, high in gaps:
        right = values.astype(float) + (low + high) / 2 * slopes.astype(float) >= 0
        gains.append(brute_force.decrease(label, weight, right))
    step, score = got
    tolerance = 1e-9 * (1.0 + weight.sum())
    impurity = brute_force.impurity(label, weight)
    assert impurity + score == pytest.approx(max(gains), abs=tolerance)
    # Rounding may merge two steps that are neighbours, or move the middle onto one of them.
    inside = [gain for (low, high), gain in zip(gaps, gains, strict=True) if low <= step <= high]
    assert max(inside) == pytest.approx(max(gains), abs=tolerance)


def line(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values, slopes = rng.normal(size=(2, n)).astype(F32)
    if seed % 3 == 0:  # ties, and rows that do not move
        values, slopes = np.round(values * 2), np.round(slopes)
    if seed % 3 == 1:  # the offset
        slopes = np.ones(n, dtype=F32)
    return values, slopes, rng.integers(3, size=n).astype(np.int32), rng


@pytest.mark.parametrize("weights", WEIGHTS)
def test_steps(weights):
    for seed in range(60):
        values, slopes, label, rng = line(seed)
        assert_best_step(values, slopes, label, *weights_of(weights, len(label), rng))


def test_a_step_of_many_rows():
    """From 512 rows on they are sorted by digits."""
    rng = np.random.default_rng(0)
    values, slopes = rng.normal(size=(2, 600)).astype(F32)
    label = rng.integers(2, size=600).astype(np.int32)
    assert_best_step(values, slopes, label, ONES, np.ones(600))


@EXAMPLES
@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.integers(-2, 2), st.integers(0, 2), st.integers(1, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_steps_with_ties(rows):
    values, slopes, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    values, slopes, weight = (array.astype(F32) for array in (values, slopes, weight))
    assert_best_step(values, slopes, label.astype(np.int32), weight, weight.astype(float))


def test_no_step():
    """Rows without a slope never change sides, and all others at once."""
    label = np.array([0, 1, 1, 0], dtype=np.int32)
    values = np.array([1, -2, 0, 5], dtype=F32)
    for slopes in ([0, 0, 0, 0], [0, 3, 0, 0], [1, -2, 0, 5]):
        assert testing.line_step(values, np.array(slopes, dtype=F32), label, ONES) is None


def test_a_row_on_the_hyperplane_is_on_its_right():
    """As in prediction. It has no slope, so every step leaves it there."""
    values = np.array([0, -1, 1], dtype=F32)
    slopes = np.array([0, 1, 1], dtype=F32)
    label = np.array([0, 1, 0], dtype=np.int32)
    step, score = testing.line_step(values, slopes, label, ONES)
    assert (step, score) == (0.0, 0.0)  # the second row alone is on the left


@pytest.mark.parametrize(
    "bad",
    [
        {"values": np.zeros(3, dtype=F32)},
        {"slopes": np.zeros(1, dtype=F32)},
        {"label": np.array([0, -1], dtype=np.int32)},
        {"weight": np.array([1, -1], dtype=F32)},
        {"weight": np.ones(3, dtype=F32)},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_arrays_that_do_not_fit_are_refused(bad):
    good = {
        "values": np.array([1, -1], dtype=F32),
        "slopes": np.array([1, 2], dtype=F32),
        "label": np.array([0, 1], dtype=np.int32),
        "weight": ONES,
    }
    testing.line_step(**good)
    with pytest.raises(ValueError, match=r"per row|negative|positive"):
        testing.line_step(**good | bad)
