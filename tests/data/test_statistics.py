# SPDX-License-Identifier: BSD-3-Clause
"""Means of targets by category: right for new rows, and without a row's own target in training."""

import numpy as np
import pandas as pd
import pytest

from co2forest import CO2ForestClassifier
from co2forest.data.columns import statistics
from co2forest.data.columns.statistics import N_BLOCKS, blocks_of, target_statistics

ALL_ONE = np.empty(0, dtype=np.float32)


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_means_against_brute_force(n_outputs):
    rng = np.random.default_rng(n_outputs)
    n, k = 400, 6
    codes, blocks = rng.integers(0, k, n), blocks_of(n)
    if n_outputs == 1:
        targets = rng.normal(size=(n, 1)).astype(np.float32) + codes[:, None]
    else:
        targets = ((codes + rng.integers(0, 2, n)) % n_outputs).astype(np.uint8)
    found = target_statistics(codes, k + 2, blocks, targets, n_outputs, ALL_ONE)
    indicators = np.eye(n_outputs)[targets] if targets.ndim == 1 else targets.astype(float)
    for direction, means in enumerate(found.of_all):
        # Which direction and how much shrinkage is found from the answer itself: three unknowns,
        # and as many equations as categories.
        sums = np.array([indicators[codes == c].sum(axis=0) for c in range(k)])
        counts = np.bincount(codes, minlength=k)
        spread = np.ptp(means[:k])
        assert spread > 0
        raw = sums / counts[:, None]
        projected, *_ = np.linalg.lstsq(raw - raw.mean(axis=0), means[:k] - means[:k].mean())
        rest = (raw - raw.mean(axis=0)) @ projected - (means[:k] - means[:k].mean())
        assert np.abs(rest).max() < 0.05 * spread, direction


def test_many_outputs_have_the_directions_that_few_would_have(monkeypatch):
    """They are found by iteration, in a space of ten; beyond them, here, is noise."""
    rng = np.random.default_rng(0)
    n, k, classes = 4000, 60, 150
    codes, blocks = rng.integers(0, k, n), blocks_of(n)
    y = np.where(rng.random(n) < 0.5, codes % 3, rng.integers(0, classes, n)).astype(np.uint8)
    sizes, eigh = [], np.linalg.eigh

    def spy(matrix):
        sizes.append(len(matrix))
        return eigh(matrix)

    monkeypatch.setattr(np.linalg, "eigh", spy)
    found = target_statistics(codes, k, blocks, y, classes, ALL_ONE)
    monkeypatch.setattr(statistics, "_MANY_OUTPUTS", classes)
    exact = target_statistics(codes, k, blocks, y, classes, ALL_ONE)
    assert sizes == [10, classes]
    np.testing.assert_allclose(found.of_all, exact.of_all, atol=1e-5)
    np.testing.assert_allclose(found.before, exact.before, atol=1e-5)


def test_two_classes_have_the_share_of_one():
    codes = np.repeat([0, 1, 2], 100)
    y = (np.arange(300) % 100 < np.repeat([10, 50, 90], 100)).astype(np.uint8)
    found = target_statistics(codes, 5, blocks_of(300), y, 2, ALL_ONE)
    assert found.of_all.shape == (1, 5)
    shares = found.of_all[0, :3]
    slope = np.diff(shares)
    assert slope[0] == pytest.approx(slope[1], rel=0.02)
    assert abs(slope[0]) == pytest.approx(0.4 * 2**0.5, rel=0.1)  # along (1, -1) / sqrt(2)
    # Unseen entries have the mean of all.
    np.testing.assert_allclose(found.of_all[0, 3:], shares.mean(), atol=1e-6)


def test_a_rows_own_target_does_not_enter_its_mean():
    """Of a rare category; a frequent one has the mean over all, of which a row is a small part."""
    rng = np.random.default_rng(0)
    n, k = 200, 25
    codes, blocks = np.arange(n) % k, blocks_of(n)
    y = (codes + 0.1 * rng.normal(size=n)).astype(np.float32)[:, None]
    before = target_statistics(codes, k + 2, blocks, y, 1, ALL_ONE)
    y[17] += 0.01  # so little that shrinkage hardly changes
    after = target_statistics(codes, k + 2, blocks, y, 1, ALL_ONE)
    change = np.abs(after.before[0, :, codes[17]] - before.before[0, :, codes[17]])
    assert change[: blocks[17] + 1].max() < 1e-4  # by the mean over all rows, to which all lean
    assert change[blocks[17] + 1 :].min() > 5e-4
    assert 0 < blocks[17] < N_BLOCKS - 1


def test_a_frequent_category_has_the_mean_over_all_rows():
    codes, y = np.repeat([0, 1], [40, 5]), np.arange(45, dtype=np.float32)[:, None]
    found = target_statistics(codes, 4, blocks_of(45), y, 1, ALL_ONE)
    assert (found.before[0, :, 0] == found.of_all[0, 0]).all()
    assert len(set(found.before[0, :, 1])) > 1


def test_weights_are_repeats():
    rng = np.random.default_rng(0)
    n, k = 120, 4
    codes, blocks = rng.integers(0, k, n), blocks_of(n)
    y, weights = rng.integers(0, 3, n).astype(np.uint8), rng.integers(0, 4, n)
    weighted = target_statistics(codes, k + 2, blocks, y, 3, weights.astype(np.float32))
    rows = np.repeat(np.arange(n), weights)
    repeated = target_statistics(codes[rows], k + 2, blocks[rows], y[rows], 3, ALL_ONE)
    np.testing.assert_allclose(weighted.of_all, repeated.of_all, atol=1e-6)
    np.testing.assert_allclose(weighted.before, repeated.before, atol=1e-6)


def test_blocks_are_of_equal_size():
    counts = np.bincount(blocks_of(1003), minlength=N_BLOCKS)
    assert counts.max() - counts.min() <= 1


def test_noise_with_many_categories_is_not_learned():
    """Categories that say nothing must not cost much, although each has a mean of its own."""
    rng = np.random.default_rng(0)
    n = 1500
    x = rng.normal(size=(n, 2))
    y = (x[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    plain = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    noise = plain.assign(user=rng.integers(0, 300, n).astype(str))
    forest = CO2ForestClassifier(40, random_state=0)
    without, with_noise = (
        forest.fit(frame[:1000], y[:1000]).score(frame[1000:], y[1000:]) for frame in (plain, noise)
    )
    assert with_noise > without - 0.03


def test_a_summary_has_no_indicators_where_there_are_means():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(list("abcd"), 200), "two": rng.choice(["x", "y"], 200)})
    frame["x"] = rng.normal(size=200)
    views = CO2ForestClassifier(2).fit(frame, frame["c"] == "a")._column_views
    names = np.array(views.feature_names)
    summary = set(names[views.summary])
    assert summary == {"c: mean target", *(n for n in names if n.startswith("two=")), "x"}
