# SPDX-License-Identifier: BSD-3-Clause
"""Draws from partitions are together what one draw from all rows would be."""

import numpy as np
import pytest

from co2forest.dask._draws import PILOT, draw_rows, draws_per_partition, expected_distinct

SIZES = np.array([500, 0, 2000, 100, 1400])


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("n_draws", [1, 37, 3999, 4000])
def test_draws_add_up_and_empty_partitions_give_nothing(replace, n_draws):
    for tree in range(5):
        draws = draws_per_partition(SIZES, n_draws, 7, tree, replace=replace)
        assert draws.sum() == n_draws
        assert draws[1] == 0
        if not replace:
            assert (draws <= SIZES).all()


@pytest.mark.parametrize("replace", [True, False])
def test_partitions_get_what_they_would_get_from_one_draw(replace):
    """Means and variances are those of multinomial and hypergeometric counts."""
    n_draws, n_trees = 1000, 3000
    draws = np.stack(
        [draws_per_partition(SIZES, n_draws, 1, t, replace=replace) for t in range(n_trees)]
    )
    part = SIZES / SIZES.sum()
    variance = n_draws * part * (1 - part)
    if not replace:
        variance *= (SIZES.sum() - n_draws) / (SIZES.sum() - 1)
    filled = SIZES > 0
    z = (draws.mean(axis=0) - n_draws * part)[filled] / np.sqrt(variance[filled] / n_trees)
    assert np.abs(z).max() < 4
    ratio = draws.var(axis=0)[filled] / variance[filled]
    assert np.abs(ratio - 1).max() < 4 * np.sqrt(2 / n_trees)


def test_every_row_is_as_likely_as_any_other():
    counts = np.zeros(50)
    for tree in range(2000):
        rows, times = draw_rows(50, 40, 3, tree, 2, replace=True)
        assert times.sum() == 40
        assert (np.diff(rows) > 0).all()
        counts[rows] += times
    z = (counts - 1600) / np.sqrt(1600 * (1 - 1 / 50))
    assert np.abs(z).max() < 4.5
    assert 0.8 < z.std() < 1.2


def test_without_replacement_rows_differ():
    for n_draws in (1, 30, 50):
        rows, times = draw_rows(50, n_draws, 3, 0, 2, replace=False)
        assert len(np.unique(rows)) == n_draws
        assert (times == 1).all()


def test_trees_partitions_seeds_and_the_pilot_draw_differently():
    drawn = [
        tuple(draw_rows(1000, 20, seed, tree, partition, replace=True)[0])
        for seed, tree, partition in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, PILOT, 0)]
    ]
    assert len(set(drawn)) == len(drawn)


def test_draws_are_the_same_for_ever():
    """A stored seed must mean the same rows with every version of NumPy."""
    assert draws_per_partition(SIZES, 100, 5, 3, replace=True).tolist() == [15, 0, 49, 2, 34]
    assert draws_per_partition(SIZES, 100, 5, 3, replace=False).tolist() == [9, 0, 52, 2, 37]
    rows, times = draw_rows(10, 6, 5, 3, 1, replace=True)
    assert (rows.tolist(), times.tolist()) == ([0, 4, 6, 8], [2, 1, 2, 1])


def test_more_rows_than_fit_32_bits():
    sizes = np.full(100, 10**9)
    for replace in (True, False):
        draws = draws_per_partition(sizes, 10**6, 0, 0, replace=replace)
        assert draws.sum() == 10**6
        assert np.abs(draws - 10**4).max() < 500


def test_the_number_of_different_rows_is_foreseen():
    found = [len(draw_rows(5000, 4000, 0, tree, 0, replace=True)[0]) for tree in range(20)]
    assert np.mean(found) == pytest.approx(expected_distinct(5000, 4000, replace=True), rel=0.01)
    assert expected_distinct(5000, 4000, replace=False) == 4000
