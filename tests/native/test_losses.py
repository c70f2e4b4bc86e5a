# SPDX-License-Identifier: BSD-3-Clause
"""The losses of numbers in the native core, against definitions written anew in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from co2forest import _native

COST = np.array([[0.0, 1.0, 0.25], [0.5, 0.0, 0.125], [1.0, 0.75, 0.0]])
KINDS = {
    "squared": ("squared", 0.5),
    "huber": ("huber", 0.7),
    "quantile": ("quantile", 0.2),
    "median": ("quantile", 0.5),
    "poisson": ("poisson", 0.5),
    "multilabel": ("multilabel", 0.5),
    "cost": ("cost", 0.5),
}
OF_MEANS = ["squared", "poisson", "multilabel", "cost"]
HOMOGENEOUS = ["squared", "quantile"]  # in another unit, only their unit changes
every_loss = pytest.mark.parametrize("name", KINDS)


def params_of(name):
    params = _native.ValueLossParams()
    kind, params.level = KINDS[name]
    params.kind = _native.ValueLossKind[kind]
    if name == "cost":
        params.cost = COST.ravel().tolist()
    return params


def binary(theta, y):
    entropy = xlogy(y, y) + xlogy(1 - y, 1 - y)
    return np.logaddexp(0.0, theta) - y * theta + entropy


def definition(name, theta, y):
    """The loss of each row, from the formulas."""
    kind, level = KINDS[name]
    y = y.astype(np.float64)
    error = theta - y
    if name == "cost":
        return binary(theta, y @ COST).sum(axis=1)
    each = {
        "squared": lambda: error**2,
        "huber": lambda: np.where(
            np.abs(error) <= level, error**2, 2 * level * np.abs(error) - level**2
        ),
        "quantile": lambda: np.where(error <= 0, -level * error, (1 - level) * error),
        "poisson": lambda: np.exp(theta) - y * theta + xlogy(y, y) - y,
        "multilabel": lambda: binary(theta, y),
    }[kind]()
    return each.sum(axis=1)


def some_targets(name, rng, n=40):
    if name == "cost":
        return np.eye(3, dtype=np.float32)[rng.integers(0, 3, n)]
    if name == "multilabel":
        return rng.integers(0, 2, (n, 3)).astype(np.float32)
    if name == "poisson":
        return rng.poisson(1.5, (n, 3)).astype(np.float32)
    centre = np.array([0, 1, -5])
    return (rng.standard_t(2, (n, 3)) + centre).astype(np.float32)


def loss_at(name, theta, y):
    return _native.testing.loss_at(np.asarray(theta, dtype=np.float64), y, params_of(name))


@every_loss
def test_values_are_those_of_the_definition(name):
    rng = np.random.default_rng(0)
    y = some_targets(name, rng)
    for theta in rng.normal(scale=3, size=(20, 3)):
        value, _, _ = loss_at(name, theta, y)
        np.testing.assert_allclose(value, definition(name, theta, y), rtol=1e-9, atol=1e-9)
        assert (value >= -1e-12).all()


@every_loss
def test_gradients_and_curvatures_are_central_differences(name):
    rng = np.random.default_rng(1)
    y = some_targets(name, rng)
    step = 1e-5
    for theta in rng.normal(scale=2, size=(10, 3)):
        _, gradient, curvature = loss_at(name, theta, y)
        for t in range(3):
            ahead, behind = theta.copy(), theta.copy()
            ahead[t] += step
            behind[t] -= step
            value, slope, _ = loss_at(name, ahead, y)
            value_behind, slope_behind, _ = loss_at(name, behind, y)
            # Where a piece of the loss ends, within a step, its slope is another on each side.
            smooth = np.ones(len(y), dtype=bool)
            if KINDS[name][0] in ("huber", "quantile"):
                kink = KINDS[name][1] if name == "huber" else 0.0
                smooth = np.abs(np.abs(theta[t] - y[:, t]) - kink) > 10 * step
            np.testing.assert_allclose(
                gradient[smooth, t],
                (value - value_behind)[smooth] / (2 * step),
                rtol=1e-4,
                atol=1e-6,
            )
            np.testing.assert_allclose(
                curvature[smooth, t],
                (slope - slope_behind)[smooth, t] / (2 * step),
                rtol=1e-4,
                atol=1e-6,
            )


@every_loss
def test_no_leaf_is_better_than_the_best(name):
    rng = np.random.default_rng(2)
    for n in (1, 2, 5, 40):
        y, weight = some_targets(name, rng, n), rng.uniform(0.5, 3.0, n).astype(np.float32)
        best = _native.testing.best_leaf(y, weight, params_of(name))
        least = weight @ definition(name, best, y)
        for t in range(3):

            def total(x, t=t, best=best, y=y, weight=weight):
                theta = best.copy()
                theta[t] = x
                return weight @ definition(name, theta, y)

            search = minimize_scalar(total, bounds=(-30, 30), method="bounded")
            assert least <= search.fun + 1e-5 * (1 + abs(search.fun))
            assert least <= total(best[t] + 0.1) + 1e-7
            assert least <= total(best[t] - 0.1) + 1e-7


@pytest.mark.parametrize("name", ["huber", "quantile", "median"])
def test_integer_weights_are_repeats_in_the_best_leaf(name):
    rng = np.random.default_rng(3)
    for _ in range(20):
        y, weight = some_targets(name, rng, 9), rng.integers(1, 4, 9)
        weighted = _native.testing.best_leaf(y, weight.astype(np.float32), params_of(name))
        repeated = np.repeat(y, weight, axis=0)
        ones = np.ones(len(repeated), dtype=np.float32)
        np.testing.assert_allclose(
            weighted, _native.testing.best_leaf(repeated, ones, params_of(name)), rtol=1e-12
        )


def test_the_leaf_of_a_median_is_the_median():
    rng = np.random.default_rng(4)
    for n in (4, 5, 100, 101):
        y = rng.normal(size=(n, 3)).astype(np.float32)
        ones = np.ones(n, dtype=np.float32)
        best = _native.testing.best_leaf(y, ones, params_of("median"))
        np.testing.assert_allclose(best, np.median(y.astype(np.float64), axis=0), rtol=1e-12)


@every_loss
def test_impurities_are_losses_at_the_best_leaf(name):
    rng = np.random.default_rng(5)
    y, weight = some_targets(name, rng), rng.uniform(0.5, 3.0, 40).astype(np.float32)
    right = rng.random(40) < 0.4

    def impurity(rows):
        best = _native.testing.best_leaf(y[rows], weight[rows], params_of(name))
        return weight[rows] @ definition(name, best, y[rows])

    node, left_weight, right_weight, both = _native.testing.sides(y, weight, right, params_of(name))
    everything = np.ones(40, dtype=bool)
    assert node == pytest.approx(impurity(everything), rel=1e-5, abs=1e-5)
    assert both == pytest.approx(impurity(right) + impurity(~right), rel=1e-5, abs=1e-5)
    assert left_weight == pytest.approx(weight[~right].sum())
    assert right_weight == pytest.approx(weight[right].sum())
    assert both <= node + 1e-6


@pytest.mark.parametrize("name", OF_MEANS)
def test_scores_of_a_scan_are_impurities(name):
    rng = np.random.default_rng(6)
    y, weight = some_targets(name, rng, 12), rng.uniform(0.5, 3.0, 12).astype(np.float32)
    order = rng.permutation(12).astype(np.int32)
    scores = _native.testing.scan_scores(y, weight, order, params_of(name))
    impurities = []
    for count in range(1, 12):
        right = np.ones(12, dtype=bool)
        right[order[:count]] = False
        impurities.append(_native.testing.sides(y, weight, right, params_of(name))[3])
    constant = scores[:-1] + impurities
    np.testing.assert_allclose(constant, constant[0], rtol=1e-5, atol=1e-5)


@every_loss
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    a=st.lists(st.floats(-8, 8), min_size=3, max_size=3),
    b=st.lists(st.floats(-8, 8), min_size=3, max_size=3),
    part=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_losses_are_convex_in_the_leaf(name, a, b, part, seed):
    y = some_targets(name, np.random.default_rng(seed), 5)
    a, b = np.array(a), np.array(b)
    between, _, _ = loss_at(name, part * a + (1 - part) * b, y)
    at_a, slope, curvature = loss_at(name, a, y)
    at_b, _, _ = loss_at(name, b, y)
    assert (between <= part * at_a + (1 - part) * at_b + 1e-9 * (1 + at_a + at_b)).all()
    assert (at_b >= at_a + slope @ (b - a) - 1e-9 * (1 + at_a + at_b)).all()
    assert (curvature >= 0).all()


@pytest.mark.parametrize("name", ["squared", "huber", "quantile", "median", "poisson"])
def test_losses_of_trials_are_those_of_the_core_but_for_a_constant(name):
    """They compare forests, whose outputs are what leaves store."""
    rng = np.random.default_rng(7)
    y = some_targets(name, rng)
    outputs = rng.uniform(0.2, 4.0, (6, 3))
    theta = np.log(outputs) if name == "poisson" else outputs
    core = np.array([loss_at(name, row, y)[0] for row in theta])
    trial = np.array([_native.row_losses(params_of(name), y, np.tile(o, (40, 1))) for o in outputs])
    difference = core - trial
    np.testing.assert_allclose(difference, np.tile(difference[0], (6, 1)), atol=1e-9)


def test_costs_of_trials_are_those_of_the_cheapest_decision():
    y = np.eye(3, dtype=np.float32)
    probabilities = np.tile([0.1, 0.3, 0.6], (3, 1))
    decision = int((COST.T @ probabilities[0]).argmin())
    np.testing.assert_allclose(
        _native.row_losses(params_of("cost"), y, probabilities), COST[:, decision], rtol=1e-6
    )


def test_labels_of_trials_are_squared_errors_of_probabilities():
    y = np.array([[0, 1], [1, 1]], dtype=np.float32)
    outputs = np.array([[0.5, 1.0], [0.0, 0.25]])
    trial = _native.row_losses(params_of("multilabel"), y, outputs)
    np.testing.assert_allclose(trial, [0.25, 1.5625])
    with pytest.raises(ValueError, match="the same shape"):
        _native.row_losses(params_of("multilabel"), y, outputs[:1])


def test_traits_say_what_the_losses_do():
    rng = np.random.default_rng(8)
    theta = rng.uniform(-1, 1, 3)
    losses = _native.losses()
    assert {loss.name for loss in losses} == {kind for kind, _ in KINDS.values()}
    assert [loss.kind for loss in losses] == [_native.ValueLossKind[loss.name] for loss in losses]
    for loss in losses:
        y = some_targets(loss.name, rng)
        assert y.min() >= loss.lowest
        assert y.max() <= loss.highest
        params = params_of(loss.name)
        before = _native.testing.loss_at(theta, y, params)[0]
        params.level = 0.9
        changed = not np.array_equal(before, _native.testing.loss_at(theta, y, params)[0])
        assert changed == (loss.level is not None)
        # Units of y that are twice as large divide the loss by two or by four.
        if loss.name in HOMOGENEOUS:
            half = _native.testing.loss_at(theta / 2, y / 2, params_of(loss.name))[0]
            np.testing.assert_allclose(before, half * (4 if loss.squared_unit else 2))
    assert {loss.name for loss in losses if loss.link == "log"} == {"poisson"}
    assert {loss.name for loss in losses if loss.needs_positive} == {"poisson"}


@pytest.mark.parametrize(
    ("kind", "level", "cost", "message"),
    [
        ("quantile", 0.0, [], r"level of a quantile must be in \(0, 1\)"),
        ("quantile", 1.0, [], r"level of a quantile must be in \(0, 1\)"),
        ("quantile", np.nan, [], r"level of a quantile must be in \(0, 1\)"),
        ("huber", 0.0, [], "distance of Huber's loss must be positive"),
        ("huber", np.inf, [], "distance of Huber's loss must be positive"),
        ("cost", 0.5, [0.0] * 4, "one entry per pair"),
        ("cost", 0.5, [0.0] * 8 + [1.5], r"costs must be in \[0, 1\]"),
        ("cost", 0.5, [0.0] * 8 + [np.nan], r"costs must be in \[0, 1\]"),
    ],
)
def test_the_core_refuses_wrong_losses(kind, level, cost, message):
    params = _native.ValueLossParams()
    params.kind, params.level, params.cost = _native.ValueLossKind[kind], level, cost
    with pytest.raises(ValueError, match=message):
        _native.testing.loss_at(np.zeros(3), np.zeros((2, 3), dtype=np.float32), params)
