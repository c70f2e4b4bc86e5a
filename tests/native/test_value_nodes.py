# SPDX-License-Identifier: BSD-3-Clause
"""How nodes of a regression are split: responses, ridge directions, and the bound of any loss."""

import numpy as np
import pytest

import reference_values as reference
from co2forest import _native
from co2forest._native import testing

F32 = np.float32
KINDS = _native.ValueLossKind


def loss_of(kind, level=0.5):
    params = _native.ValueLossParams()
    params.kind, params.level = kind, level
    return params


def a_node(seed, n=200, p=5, k=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).astype(F32)
    x -= x.mean(axis=0)
    y = np.sin(x @ rng.normal(size=(p, k))) + 0.1 * rng.normal(size=(n, k))
    return x, y.astype(F32), rng.uniform(0.5, 2.0, n).astype(F32)


@pytest.mark.parametrize("k", [1, 3, 40])
def test_responses_are_the_targets_less_their_mean(k):
    x, y, weight = a_node(0, k=k)
    y[:, 0] *= 4  # so that one direction stands out
    found, component = testing.responses(x, y, weight)
    centred = y - np.average(y, axis=0, weights=weight)
    np.testing.assert_allclose(found, centred, atol=1e-5)
    values, vectors = np.linalg.eigh(centred.T @ (weight[:, None] * centred))
    assert k == 1 or values[-1] > 1.2 * values[-2]  # else the axis means little
    expected = centred @ vectors[:, -1]
    sign = np.sign(expected @ component)
    np.testing.assert_allclose(component, sign * expected, atol=2e-2 if k > 1 else 1e-5)


def test_responses_of_a_quantile_are_its_signs():
    x, y, weight = a_node(1)
    found, _ = testing.responses(x, y, np.ones_like(weight), loss_of(KINDS.quantile, 0.25))
    quarter = np.quantile(y, 0.25, method="averaged_inverted_cdf")
    signs = np.where(y > quarter, 0.25, -0.75) * (y != quarter)
    np.testing.assert_allclose(found, signs - signs.mean(), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [1.0, 0.5])
def test_ridge_direction_solves_the_normal_equations(seed, part):
    x, y, weight = a_node(seed, n=60, p=5)
    weighted = weight.astype(float)
    target = y[:, 0] - np.average(y[:, 0], weights=weight)
    used = (np.arange(5) < 5 * part).astype(F32)
    penalty = 0.3
    w = testing.ridge_direction(x, target.astype(F32), weight, used, penalty)
    columns = used > 0
    centred = (x - np.average(x, axis=0, weights=weighted))[:, columns].astype(float)
    matrix = centred.T @ (weighted[:, None] * centred) + penalty * np.eye(columns.sum())
    expected = np.linalg.solve(matrix, centred.T @ (weighted * target))
    np.testing.assert_allclose(w[columns], expected, rtol=1e-3, atol=1e-5)
    assert not w[~columns].any()


def test_no_ridge_direction_where_targets_or_rows_are_alike():
    x, y, weight = a_node(0)
    zero = np.zeros(len(x), dtype=F32)
    assert testing.ridge_direction(x, zero, weight, np.empty(0, dtype=F32), 1.0) is None
    alike = np.zeros_like(x)
    assert testing.ridge_direction(alike, y[:, 0], weight, np.empty(0, dtype=F32), 1.0) is None
    assert testing.ridge_direction(x, y[:, 0], weight, np.empty(0, dtype=F32), 0.0) is None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2])
def test_axis_search_finds_a_column_as_good_as_the_best(seed, k):
    """Within what 64 bins can miss."""
    x, y, weight = a_node(seed, n=300, p=4, k=k)

    def best_gain(column):
        order = np.argsort(x[:, column])
        centred = (y - np.average(y, axis=0, weights=weight))[order]
        left = np.cumsum(weight[order, None] * centred, axis=0)[:-1]
        w = np.cumsum(weight[order])
        return ((left**2).sum(axis=1) * (1 / w[:-1] + 1 / (w[-1] - w[:-1]))).max()

    gains = [best_gain(column) for column in range(4)]
    found = testing.response_axis(x, y, weight, 4, seed)
    assert gains[found] > 0.95 * max(gains)


def test_axis_search_of_constant_columns_finds_none():
    _, y, weight = a_node(0)
    assert testing.response_axis(np.ones((200, 3), dtype=F32), y, weight, 3, 0) is None


CASES = [
    ("squared", 0.5, 1, reference.Squared),
    ("squared", 0.5, 3, reference.Squared),
    ("poisson", 0.5, 1, reference.Poisson),
    ("quantile", 0.5, 1, reference.Median),
]


@pytest.mark.parametrize(("kind", "level", "k", "loss"), CASES)
@pytest.mark.parametrize("steps", [1, 2, 7, 30])
def test_optimiser_takes_the_steps_of_the_reference(kind, level, k, loss, steps):
    x, y, weight = a_node(3, n=250, p=6, k=k)
    y = np.abs(y) if kind == "poisson" else y
    params = _native.Co2Params()
    params.solver = _native.Solver.warm
    params.max_iter = steps
    w = np.zeros(6, dtype=F32)
    w[1], bias = 3.0, 0.3
    expected = reference.minimise(x, y, weight, w, bias, params, loss)
    found = testing.optimise_values(x, y, weight, w, bias, params, loss_of(KINDS[kind], level))
    assert found[2] == steps
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-2, atol=2e-2)
    assert abs(found[1] - expected[1]) < 2e-2


def test_optimising_lowers_the_loss_of_the_stump():
    """From the best feature, the sides found predict better than those of the start."""
    x, y, weight = a_node(5, n=400, p=4)
    params = _native.Co2Params()
    params.solver, params.max_iter = _native.Solver.warm, 200
    start = np.zeros(4, dtype=F32)
    start[np.abs(np.corrcoef(x.T, y[:, 0])[-1, :-1]).argmax()] = 5.0

    def stump_loss(w, bias):
        right = x @ w + bias >= 0
        return sum(
            (weight[s] @ (y[s] - np.average(y[s], axis=0, weights=weight[s])) ** 2).sum()
            for s in (right, ~right)
        )

    w, bias, _ = testing.optimise_values(x, y, weight, start, 0.0, params)
    assert stump_loss(w, bias) < 0.9 * stump_loss(start, 0.0)
