# SPDX-License-Identifier: BSD-3-Clause
"""Which kinds of trees serve best together, from made-up errors whose answer is known."""

import numpy as np
import pytest

from co2forest.fitting.comparison import Comparison

N_TREES, N_ROWS = 6, 8000
FREE = np.zeros(2)


def compare(errors, drawn=0.5, seed=0, weights=None):
    """Compare kinds by errors (kinds, trees, rows)."""
    rng = np.random.default_rng(seed)
    left_out = rng.random(errors.shape[1:]) > drawn
    of_trees = (errors[:, t, :, None].astype(np.float32) for t in range(errors.shape[1]))
    weights = np.ones(errors.shape[2]) if weights is None else weights
    return Comparison.of_errors(of_trees, left_out, weights)


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_variance_of_trees_shrinks_with_their_number():
    """Two kinds that are the truth plus noise of each tree; the second has a bias, too."""
    errors = noise(2, N_TREES, N_ROWS) + np.array([0.0, 0.5])[:, None, None]
    assert compare(errors).losses == pytest.approx([1 / 20, 0.25 + 1 / 20], abs=0.03)


def test_what_the_rows_of_a_tree_do_to_all_kinds_is_not_taken_for_their_error():
    shared = noise(1, N_TREES, N_ROWS, seed=1)  # trees of one number got the same rows
    errors = shared + noise(2, N_TREES, N_ROWS, seed=2)
    compared = compare(errors)
    assert compared.losses == pytest.approx([2 / 20, 2 / 20], abs=0.03)
    assert abs(compared.choose(0, FREE)[1]) < 0.2


def test_shares_are_as_the_variances_of_independent_errors_want_them():
    errors = noise(2, 1, N_ROWS) * np.array([1.0, 2.0])[:, None, None]
    shares, gain, error = compare(np.repeat(errors, N_TREES, axis=1)).choose(0, FREE)
    assert shares == pytest.approx([0.8, 0.2], abs=0.05)
    assert gain == pytest.approx(0.2, abs=0.04)
    assert 0 < error < 0.05


def test_a_kind_that_costs_more_must_be_better():
    errors = np.repeat(noise(1, N_TREES, N_ROWS), 2, axis=0)
    shares, _, _ = compare(errors).choose(0, np.array([0.01, 0.02]))
    assert shares.tolist() == [1.0, 0.0]


def test_a_weight_of_zero_is_no_row():
    errors = noise(2, N_TREES, 400)
    errors[0, :, 200:] += 10
    weights = np.repeat([1.0, 0.0], 200)
    assert compare(errors, weights=weights).losses[0] < 1


def test_an_honest_gain_of_pure_chance_is_none():
    """Of many kinds one is best by chance; rows that did not choose it say so."""
    gains = []
    for seed in range(20):
        common = noise(1, 1, 120, seed=seed)
        errors = common + 0.5 * noise(12, N_TREES, 120, seed=1000 + seed)
        gains.append(compare(errors, seed=seed).choose(0, np.zeros(12))[1])
    assert np.mean(gains) < 0.05
