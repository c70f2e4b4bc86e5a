# SPDX-License-Identifier: BSD-3-Clause
"""The weight of a forest in a blend: against members whose errors are known, and a plain loop."""

import numpy as np
import pytest

from co2forest.data.outputs.calibration import LeftOut
from co2forest.fitting.blend import EQUAL_SHARES, Judged, forest_share

N_TREES = 100
ALL_ONE = np.empty(0, dtype=np.float32)


def simulated(n_rows, *, bias=0.5, noise=2.0, error=0.6, n_outputs=1, seed=0):
    """Trees with a common error and noise of their own; few of them leave a row out."""
    random = np.random.default_rng(seed)
    shape = (n_rows, n_outputs)
    truth = random.normal(size=shape)
    common = truth + bias * random.normal(size=shape)
    boosted = truth + error * random.normal(size=shape)
    votes = common + noise * random.normal(size=(N_TREES, *shape))
    out = random.random((N_TREES, n_rows, 1)) < 0.1
    halves = [slice(0, N_TREES // 2), slice(0, N_TREES)]
    left_out = []
    for trees in halves:
        used = out[trees].sum(axis=0)
        means = (votes[trees] * out[trees]).sum(axis=0) / np.maximum(used, 1)
        left_out.append(LeftOut(means, used[:, 0]))
    return *left_out, boosted, truth, votes.mean(axis=0)


def best_share(forest, boosted, truth):
    difference = forest - boosted
    return float(((truth - boosted) * difference).sum() / (difference**2).sum())


def naive_share(whole, boosted, truth):
    known = whole.used > 0
    return best_share(whole.votes[known], boosted[known], truth[known])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_it_is_the_best_weight_of_the_whole_forest(n_outputs):
    half, whole, boosted, truth, forest = simulated(6000, n_outputs=n_outputs)
    found = forest_share(Judged.by_both(half, whole, boosted, truth, ALL_ONE), N_TREES)
    best = best_share(forest, boosted, truth)
    assert abs(found - best) < 0.04
    assert naive_share(whole, boosted, truth) < best - 0.15


@pytest.mark.parametrize(("bias", "error", "share"), [(0.05, 3.0, 1.0), (3.0, 0.05, 0.0)])
def test_a_member_that_is_much_better_gets_all(bias, error, share):
    data = simulated(3000, bias=bias, error=error, noise=0.1)[:4]
    assert abs(forest_share(Judged.by_both(*data, ALL_ONE), N_TREES) - share) < 0.02


def test_it_is_what_a_plain_loop_finds():
    half, whole, boosted, truth, _ = simulated(300, n_outputs=2)
    weights = np.random.default_rng(1).random(300).astype(np.float32)
    weights[::7] = 0.0
    found = forest_share(Judged.by_both(half, whole, boosted, truth, weights), N_TREES)
    rows = []
    for i in range(300):
        u1, u2 = half.used[i], whole.used[i] - half.used[i]
        if u1 and u2 and weights[i]:
            v1, vm, b = half.votes[i], whole.votes[i], boosted[i]
            v2 = (vm * (u1 + u2) - v1 * u1) / u2
            noise = ((v1 - v2) ** 2).sum() / (1 / u1 + 1 / u2)
            gain = ((truth[i] - b) * (vm - b)).sum()
            rows.append((weights[i], gain, ((v1 - b) * (v2 - b)).sum(), noise))
    weight, gain, square, noise = np.array(rows, dtype=np.float64).T
    variance = np.average(noise, weights=weight) / N_TREES

    def share(some):
        below = np.average(square[some], weights=weight[some]) + variance
        return np.average(gain[some], weights=weight[some]) / below

    group = np.arange(len(rows)) % 20
    without = np.array([share(group != g) for g in range(20)])
    error = 19 / 20 * ((without - without.mean()) ** 2).sum()
    plain = np.clip(share(group >= 0), 0, 1)
    expected = (plain / error + 0.5 / 0.25**2) / (1 / error + 1 / 0.25**2)
    assert np.isclose(found, expected, rtol=1e-9, atol=0)
    assert not np.isclose(found, plain, atol=1e-3)  # 200 rows leave some doubt


def test_few_rows_leave_doubt():
    """The fewer rows, the nearer to equal shares."""
    distances = []
    for n_rows in (40, 400, 4000):
        shares = []
        for seed in range(20):
            data = simulated(n_rows, bias=0.2, error=1.0, noise=1.0, seed=seed)[:4]
            shares.append(forest_share(Judged.by_both(*data, ALL_ONE), N_TREES))
        distances.append(abs(np.mean(shares) - EQUAL_SHARES))
    assert distances[0] < distances[1] < distances[2]


def test_without_rows_shares_are_equal():
    half, whole, boosted, truth, _ = simulated(100)
    nobody = half._replace(used=np.zeros_like(half.used))
    for data in ((nobody, whole), (half.some(slice(0)), whole.some(slice(0)))):
        n_rows = len(data[0].used)
        judged = Judged.by_both(*data, boosted[:n_rows], truth[:n_rows], ALL_ONE)
        assert forest_share(judged, N_TREES) == EQUAL_SHARES
    assert forest_share(Judged.by_both(half, half, boosted, truth, ALL_ONE), 1) == EQUAL_SHARES


def test_members_that_agree_have_equal_shares():
    half, whole, boosted, truth, _ = simulated(100, noise=0.0, bias=0.0, error=0.0)
    judged = Judged.by_both(half, whole, boosted, truth, ALL_ONE)
    assert forest_share(judged, N_TREES) == EQUAL_SHARES


def test_rows_without_weight_do_not_count():
    half, whole, boosted, truth, _ = simulated(200)
    weights = np.ones(200, dtype=np.float32)
    weights[50:80] = 0.0
    wrong = np.where(weights[:, None] > 0, truth, 1e6)
    found = forest_share(Judged.by_both(half, whole, boosted, wrong, weights), N_TREES)
    kept = weights > 0
    some = [each.some(kept) for each in (half, whole)]
    rest = Judged.by_both(*some, boosted[kept], truth[kept], ALL_ONE)
    assert found == forest_share(rest, N_TREES)
