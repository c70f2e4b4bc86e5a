# SPDX-License-Identifier: BSD-3-Clause
"""Properties of the bound and of its minimisation that the paper states or relies on."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from co2forest import CO2ForestClassifier, _native
from co2forest._native import testing
from forest_arrays import float_weights

F32 = np.float32
# Deterministic: the same examples in every run.
examples = settings(max_examples=1000, derandomize=True, deadline=None)
some_examples = settings(max_examples=200, derandomize=True, deadline=None)

projections = st.floats(-1e6, 1e6)
losses = st.floats(0, 1e6)
seeds = st.integers(0, 2**32 - 1)


def rounding(*values):
    return 4 * np.finfo(float).eps * sum(map(abs, values))


# The bound of a row.


@examples
@given(projections, losses, losses)
def test_bound_is_not_below_the_loss(z, loss_left, loss_right):
    """eq:upper-tree-loss."""
    loss = loss_left if z < 0 else loss_right
    bound = testing.surrogate(z, loss_left, loss_right)
    assert bound >= loss - rounding(z, loss_left, loss_right)


@examples
@given(projections, losses, losses)
def test_bound_is_the_one_of_the_paper(z, loss_left, loss_right):
    """eq:proof-tree-bound1 and eq:proof-tree-bound2: what it reduces to on either side."""
    arms = (loss_left, 2 * z + loss_right) if z < 0 else (-2 * z + loss_left, loss_right)
    bound = testing.surrogate(z, loss_left, loss_right)
    assert abs(bound - max(arms)) <= rounding(z, loss_left, loss_right)


@examples
@given(projections, losses, losses, st.floats(1, 1e3))
def test_bound_tightens_as_w_grows(z, loss_left, loss_right, a):
    """prop:co2-tightness."""
    bound = testing.surrogate(z, loss_left, loss_right)
    tighter = testing.surrogate(a * z, loss_left, loss_right)
    assert tighter <= bound + rounding(a * z, loss_left, loss_right)


@examples
@given(projections, losses, losses)
def test_bound_of_a_large_w_is_the_loss(z, loss_left, loss_right):
    assume(abs(z) > 1e-3)
    factor = 1.0 + (loss_left + loss_right) / abs(z)
    bound = testing.surrogate(factor * z, loss_left, loss_right)
    loss = loss_left if z < 0 else loss_right
    assert abs(bound - loss) <= rounding(factor * z, loss_left, loss_right)


# The bound of a stump.


class Node:
    """Random rows with labels 0 ... k - 1 and weights, and a place for an axis-aligned start."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.n, p = rng.integers(5, 60), rng.integers(1, 21)
        self.k = int(rng.integers(2, min(6, self.n)))
        self.label = rng.permutation(np.arange(self.n) % self.k).astype(np.int32)
        centre = rng.normal(size=(self.k, p))
        self.x = (centre[self.label] + rng.normal(size=(self.n, p))).astype(F32)
        self.weight = rng.uniform(0.2, 2.0, self.n).astype(F32)
        self.column = int(rng.integers(p))
        low, high = np.sort(self.x[:, self.column])[[1, -2]]
        self.cut = F32(rng.uniform(low, high))
        self.rng = rng

    def sides(self, right):
        """Class weights of both sides."""
        code = right * self.k + self.label
        return np.bincount(code, self.weight.astype(float), 2 * self.k).reshape(2, self.k)

    def leaves(self, smoothing):
        return testing.LogLossLeaves(
            *self.sides(self.x[:, self.column] >= self.cut), smoothing=smoothing
        )

    def bound(self, z, leaf_losses):
        """The surrogate objective per unit of weight."""
        values = [
            testing.surrogate(*args)
            for args in zip(z, leaf_losses[0, self.label], leaf_losses[1, self.label], strict=True)
        ]
        return np.average(values, weights=self.weight)

    def loss(self, z, leaf_losses):
        """The empirical loss per unit of weight, eq:emp-risk-dtree."""
        chosen = leaf_losses[(z >= 0).astype(int), self.label]
        return np.average(chosen, weights=self.weight)


def leaves_of(theta):
    """Leaves with given (normalised) log-probabilities."""
    return testing.LogLossLeaves(*np.exp(theta), smoothing=0.0)


def solver_params(**values):
    params = _native.Co2Params()
    for name, value in values.items():
        setattr(params, name, value)
    return params


@examples
@given(seeds)
def test_objective_is_not_below_the_empirical_loss(seed):
    node = Node(seed)
    w = node.rng.normal(size=node.x.shape[1]) * 10.0 ** node.rng.uniform(-2, 2)
    z = testing.scores(node.x, w.astype(F32), F32(node.rng.normal())).astype(float)
    leaf_losses = leaves_of(node.rng.normal(0, 3, (2, node.k))).losses()
    bound, loss = node.bound(z, leaf_losses), node.loss(z, leaf_losses)
    assert bound >= loss - 1e-9
    assert node.bound(2 * z, leaf_losses) <= bound + 1e-9
    assert node.bound(1e6 * z, leaf_losses) == pytest.approx(loss, rel=1e-3, abs=1e-9)


@some_examples
@given(seeds)
def test_log_loss(seed):
    """Losses and the gap follow from theta; a shift of theta changes nothing."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 5, (2, rng.integers(1, 9)))
    leaves, shifted = leaves_of(theta), leaves_of(theta + 3.0)
    expected = log_losses(theta)
    # Single precision.
    np.testing.assert_allclose(leaves.losses(), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(shifted.losses(), expected, rtol=1e-6, atol=1e-6)
    gap = (expected[0] - expected[1]) / 2
    np.testing.assert_allclose(leaves.gap(), gap, rtol=1e-6, atol=2e-6)
    np.testing.assert_allclose(np.exp(-leaves.losses()).sum(axis=1), 1.0, rtol=1e-6)


@some_examples
@given(seeds)
def test_loss_of_the_best_leaves_is_the_entropy(seed):
    """So the decrease that a split brings is the information gain."""
    rng = np.random.default_rng(seed)
    sides = rng.exponential(10.0, (2, rng.integers(1, 9)))

    def nats(weights):
        share = weights / weights.sum()
        return -(weights * np.log(share)).sum()

    for weights in (*sides, sides.sum(axis=0)):
        assert testing.entropy_bits(weights) * np.log(2) == pytest.approx(nats(weights), abs=1e-9)

    best = (sides * testing.LogLossLeaves(*sides, smoothing=0.0).losses()).sum()
    whole = sides.sum(axis=0)
    no_split = (sides * testing.LogLossLeaves(whole, whole, smoothing=0.0).losses()).sum()
    gain_bits = testing.entropy_bits(whole) - sum(map(testing.entropy_bits, sides))
    assert best == pytest.approx(sum(map(nats, sides)), rel=1e-6)
    assert no_split - best == pytest.approx(gain_bits * np.log(2), abs=1e-6 * whole.sum())
    other = (sides * leaves_of(rng.normal(size=sides.shape)).losses()).sum()
    assert other >= best


def test_entropy_of_empty_and_pure_sides():
    assert testing.entropy_bits(np.array([])) == 0
    assert testing.entropy_bits(np.array([0.0, 0.3, 0.0])) == 0
    assert testing.entropy_bits(np.array([4.0, 4.0, 0.0])) == pytest.approx(8.0)


# Steps of the optimiser are those of gradient descent.


def numeric_gradient(function, x, h=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = (function(x + step) - function(x - step)) / (2 * h)
    return out


def log_losses(theta):
    return np.log(np.exp(theta).sum(axis=1, keepdims=True)) - theta


def far_from_kinks(node, z, leaves):
    """Whether no row lies where the bound has no gradient: at z = 0 or where its arms meet."""
    arms = leaves.gap()[node.label]
    return min(np.abs(z).min(), np.abs(z - arms).min()) > 1e-3


class HomogeneousNode(Node):
    """The same rows with the coordinate of the offset appended, in float64."""

    def __init__(self, seed, params):
        super().__init__(seed)
        self.params = params
        offset = np.full((self.n, 1), params.offset)
        self.rows = np.hstack([self.x.astype(float), offset])

    def start(self):
        w = np.zeros(self.rows.shape[1])
        w[self.column], w[-1] = 1.0, -float(self.cut) / self.params.offset
        return w * np.sqrt(self.params.nu) / np.linalg.norm(w)

    def after(self, steps):
        """What the native optimiser has after some steps."""
        self.params.max_iter = steps
        args = self.x, self.label, self.weight, self.column, self.cut, self.params
        w, bias, taken = testing.optimise(*args)
        assert taken == steps
        return np.append(w.astype(float), bias / self.params.offset)

    def descend(self, w, leaves, eta):
        """One projected step along a numeric gradient."""
        leaf_losses = leaves.losses()
        gradient = numeric_gradient(lambda v: self.bound(self.rows @ v, leaf_losses), w)
        w = w - eta * gradient
        return w * min(1.0, np.sqrt(self.params.nu) / np.linalg.norm(w))

    def step_leaves(self, leaves, w, rate):
        right = self.rows @ w > leaves.gap()[self.label]
        leaves.step(self.sides(right), float(self.weight.sum()), 0.0, rate)


@some_examples
@given(seeds, st.floats(0.5, 50), st.floats(0.01, 3))
def test_steps_of_w_follow_the_gradient(seed, nu, eta):
    """From the start, and from the general place where the first step leads."""
    # solver "auto": all rows in one batch, rate 1 in the only step, 1 and 1/2 in two; signs are
    # frozen anew before each, so that a step is one on the bound itself.
    params = solver_params(
        solver=_native.Solver.ridge,
        nu=nu,
        rate_weights=eta,
        rate_leaves=2.0,
        momentum=0.0,
        cccp_period=1,
        batch_size=1000,
    )
    node = HomogeneousNode(seed, params)
    leaves = node.leaves(params.smoothing)
    start = node.start()
    assume(far_from_kinks(node, node.rows @ start, leaves))
    first = node.after(1)
    np.testing.assert_allclose(first, node.descend(start, leaves, eta), rtol=1e-4, atol=1e-4)

    node.step_leaves(leaves, start, params.rate_leaves)
    assume(far_from_kinks(node, node.rows @ first, leaves))
    # In a run of two steps the first is the same.
    second = node.descend(first, leaves, eta / 2)
    np.testing.assert_allclose(node.after(2), second, rtol=1e-4, atol=1e-4)


def test_steps_of_w_lead_outwards():
    """The bound falls as w grows, so a step from |w|^2 = nu leaves the ball and is projected."""
    moved = 0
    for seed in range(100):
        node = HomogeneousNode(seed, solver_params(nu=4.0, rate_weights=1.0, batch_size=1000))
        w = node.after(1)
        assert np.linalg.norm(w) == pytest.approx(2.0, rel=1e-6)
        moved += np.linalg.norm(w - node.start()) > 0.1
    assert moved > 50


@some_examples
@given(seeds, st.floats(0.01, 3), st.floats(0, 0.99))
def test_steps_of_theta_follow_the_gradient(seed, rate, momentum):
    node = Node(seed)
    z = node.rng.normal(0, 2, node.n)
    theta = node.rng.normal(0, 2, (2, node.k))
    theta -= np.log(np.exp(theta).sum(axis=1, keepdims=True))
    leaves = leaves_of(theta)
    total = float(node.weight.sum())
    velocity = 0.0
    for _ in range(2):
        assume(far_from_kinks(node, z, leaves))
        gradient = numeric_gradient(lambda t: node.bound(z, log_losses(t)), theta)
        velocity = momentum * velocity - rate * gradient
        theta = theta + velocity
        leaves.step(node.sides(z > leaves.gap()[node.label]), total, momentum, rate)
        np.testing.assert_allclose(leaves.losses(), log_losses(theta), rtol=1e-4, atol=1e-5)


# What optimisation achieves.


def best_objective(node, z, start):
    """The bound of a hyperplane, minimised over the leaves, in which it is convex."""
    values = []
    for leaves in (start, testing.LogLossLeaves(*node.sides(z >= 0), smoothing=0.1)):
        values.append(node.bound(z, leaves.losses()))
        for t in range(200):
            charged = node.sides(z > leaves.gap()[node.label])
            leaves.step(charged, float(node.weight.sum()), 0.0, 1.0 / (1.0 + 0.1 * t))
            values.append(node.bound(z, leaves.losses()))
    return min(values)


@pytest.mark.parametrize("eta", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("nu", [1.0, 30.0, 1000.0])
def test_optimisation_does_not_end_above_its_start(nu, eta):
    params = solver_params(solver=_native.Solver.cccp, nu=nu, rate_weights=eta, max_iter=60)
    for seed in range(12):
        node = Node(seed)
        params.cccp_period = 5 + seed
        args = node.x, node.label, node.weight, node.column, node.cut, params
        w, bias, _ = testing.optimise(*args)
        assert w.astype(float) @ w + (bias / params.offset) ** 2 <= nu * (1 + 1e-5)
        z_start = HomogeneousNode(seed, params)
        z_start = z_start.rows @ z_start.start()
        before = node.bound(z_start, node.leaves(params.smoothing).losses())
        z = testing.scores(node.x, w, F32(bias)).astype(float)
        after = best_objective(node, z, node.leaves(params.smoothing))
        assert after <= before * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["ridge", "cccp"])
def test_optimisation_finds_a_diagonal(solver):
    """Two classes on either side of x1 = x2, of which an axis-aligned start confuses a quarter."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (300, 2)).astype(F32)
    x = x[np.abs(x[:, 0] - x[:, 1]) > 0.1]
    label = (x[:, 0] > x[:, 1]).astype(np.int32)
    params = solver_params(solver=_native.Solver[solver], max_iter=300, cccp_period=10)
    w, bias, _ = testing.optimise(x, label, np.ones(len(x), dtype=F32), 0, F32(0), params)
    assert np.mean((x @ w + bias >= 0) != label) <= 0.01


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("nu", [0.05, 2.0, 60.0])
def test_norm_of_every_hyperplane(nu, scale):
    """eq:upper-dtree-emploss, in units of the scaled features."""
    rng = np.random.default_rng(5)
    y = rng.integers(4, size=300)
    X = (rng.normal(size=(4, 6))[y] + rng.normal(size=(300, 6))) * [0.2, 0.5, 1, 1, 2, 3]
    X = X.astype(F32)
    forest = CO2ForestClassifier(
        4, nu=nu, scale=scale, solver="cccp", random_state=0, mixture=None
    ).fit(X, y)
    arrays = {name: np.array(a) for name, a in forest._forest.arrays().items()}
    base = 1 / X.std(axis=0, dtype=float) if scale else np.ones(6)
    unit = np.sqrt((X.astype(float).var(axis=0) * base**2).sum())
    offset = _native.Co2Params().offset * unit  # of the core's space, where unit is one
    norms, weights = [], float_weights(arrays)
    for i in np.flatnonzero(arrays["left"] >= 0):
        u = weights[arrays["weight_begin"][i] : arrays["weight_begin"][i + 1]]
        feature = arrays["feature"][arrays["feature_begin"][i] : arrays["feature_begin"][i + 1]]
        if len(u) == 1 and u[0] == 1.0:
            continue  # an axis-aligned split that was not optimised
        used = feature if len(feature) else np.arange(6)
        bias = u.astype(float) @ arrays["mean"][used] - arrays["threshold"][i]
        norms.append((u / base[used]) @ (u / base[used]) + (bias / offset) ** 2)
    assert len(norms) > 20
    rounding = 2**-6  # of weights with eight significant bits, and of the offset with them
    assert nu * (1 - rounding) <= max(norms) <= nu * (1 + rounding)
