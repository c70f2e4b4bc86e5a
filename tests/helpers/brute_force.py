# SPDX-License-Identifier: BSD-3-Clause
"""Splits by trying all of them, in double precision: what exact searches must find."""

import itertools

import numpy as np

from forest_arrays import weights_of


def impurity(target, weight):
    """Weight times entropy in bits of labels, or the squared error about the mean of columns."""
    if len(target) == 0:
        return 0.0
    weight = np.asarray(weight, dtype=float)
    if target.ndim == 1:
        counts = np.bincount(target, weight)
        counts = counts[counts > 0]
        return -counts @ np.log2(counts / counts.sum())
    mean = weight @ target.astype(float) / weight.sum()
    return weight @ ((target - mean) ** 2).sum(axis=1)


def decrease(target, weight, right):
    """Of the impurity, by a split."""
    parts = sum(impurity(target[side], weight[side]) for side in (right, ~right))
    return impurity(target, weight) - parts


def cuts(values):
    """The right sides of all thresholds, from the lowest, each with the gap it lies in."""
    for low, high in itertools.pairwise(np.unique(values)):
        yield values >= high, low, high


class Limits:
    """What both sides of a split must have."""

    def __init__(self, rows=1, weight=0.0, counts=None):
        self.rows, self.weight, self.counts = rows, weight, counts

    def allow(self, weight, right, ids):
        counts = np.ones(len(right)) if self.counts is None else self.counts[ids]
        return all(
            counts[side].sum() >= self.rows and weight[side].sum() >= self.weight
            for side in (right, ~right)
        )


def best_cut(values, target, weight, limits=None):
    """The decrease of every threshold that is allowed, with its gap; best first."""
    limits, ids = limits or Limits(), np.arange(len(values))
    found = [
        (decrease(target, weight, right), low, high)
        for right, low, high in cuts(values)
        if limits.allow(weight, right, ids)
    ]
    return sorted(found, key=lambda cut: (-cut[0], cut[1]))


def nodes_of(forest, X):
    """Every node of a forest of one tree: number, rows of X, and which go right (None: a leaf)."""
    arrays = forest._forest.arrays()
    assert len(arrays["tree_begin"]) == 2
    passes = forest.decision_path(X)[0].toarray().astype(bool)
    for node, left in enumerate(arrays["left"]):
        yield node, np.flatnonzero(passes[:, node]), passes[:, left + 1] if left >= 0 else None


def hyperplane(forest, node):
    """Its weights, one for each feature, and its threshold."""
    arrays = forest._forest.arrays()
    return weights_of(arrays, node), float(arrays["threshold"][node])
