# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the shares of features, over all steps of rows through trees.

Arrays of steps, not loops over nodes: a thousand rows of MNIST through a hundred trees are a
million steps, which take 15 seconds on one core.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.data.outputs.base import Floats
from co2forest.inspection._shares import coefficients, squared_spreads
from co2forest.models.trees import widen
from co2forest.models.view import ModelView

_NODE_VALUES = 2**23  # most values of nodes in memory: those of as many trees as have them
_LEAVES = 2**16  # most leaves of the rows that are worked on at a time
_ROW_NUMBERS = 2**22  # most numbers of these rows
_WEIGHTS = 2**16  # of the hyperplanes worked on at a time: half a megabyte stays in a cache


def contributions_of(view: ModelView, checked: Any) -> tuple[Floats, Floats]:
    """(rows, features, outputs) and the base rates, of rows that are checked already."""
    n_rows, n_features = checked.shape
    contributions = np.zeros((n_rows, view.n_outputs, n_features))
    base = view.units.start + view.units.offset
    wanted = min(_LEAVES // view.n_trees, _ROW_NUMBERS // (n_features * view.n_outputs))
    step = max(1, wanted)
    for trees in _groups_of_trees(view):
        nodes = _Nodes(view, trees)
        base = base + view.units.share * nodes.scaled[nodes.roots].sum(axis=0)
        for begin in range(0, n_rows, step):
            block = checked[begin : begin + step]
            steps = nodes.steps(view.leaves(block)[:, trees])
            rows, sums = view.deviations(block), contributions[begin : begin + step]
            listed = nodes.lists_features[steps.node]
            _add_listed(nodes, rows, sums, steps.some(listed))
            _add_full(nodes, rows, sums, steps.some(~listed))
    contributions *= view.units.share
    return contributions.transpose(0, 2, 1), base


@dataclass(frozen=True)
class _Steps:
    """Steps of rows from nodes to their children, in the order of rows."""

    row: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]

    def some(self, which: Any) -> "_Steps":
        return _Steps(self.row[which], self.node[which], self.child[which])


class _Nodes:
    """Nodes of some trees, one after the other."""

    def __init__(self, view: ModelView, trees: slice) -> None:
        arrays = view.arrays
        tree_begin = arrays["tree_begin"]
        first, last = int(tree_begin[trees.start]), int(tree_begin[trees.stop])
        views = [view.tree(i) for i in range(trees.start, trees.stop)]
        self.roots = tree_begin[trees] - first
        self.scaled = np.concatenate([tree.scaled for tree in views])
        self.parent = np.concatenate(
            [
                np.where(tree.parent >= 0, tree.parent + root, -1)
                for tree, root in zip(views, self.roots, strict=True)
            ]
        )
        self.threshold = arrays["threshold"][first:last].astype(np.float64)
        left, children = arrays["left"][first:last], np.flatnonzero(self.parent >= 0)
        root = np.repeat(self.roots, [tree.n_nodes for tree in views])
        mother = self.parent[children]
        # 1 for a right child, -1 for a left one; roots are neither.
        self.side = np.zeros(last - first)
        self.side[children] = np.where(children == root[mother] + left[mother], -1.0, 1.0)
        self.weight, self.weight_begin = arrays["weight"], arrays["weight_begin"][first : last + 1]
        self.feature = arrays["feature"]
        self.feature_begin = arrays["feature_begin"][first : last + 1]
        self.lists_features = np.diff(self.feature_begin) > 0
        self.mean, self.squares = view.mean, squared_spreads(view.spread)

    def steps(self, leaves: npt.NDArray[np.int64]) -> _Steps:
        """All steps on the paths to leaves (rows, trees)."""
        child = (leaves + self.roots).ravel()
        row = np.repeat(np.arange(len(leaves)), leaves.shape[1])
        levels = []
        while len(child):
            node = self.parent[child]
            inner = node >= 0
            row, node, child = row[inner], node[inner], child[inner]
            levels.append((row, node, child))
            child = node
        row, node, child = (np.concatenate(each) for each in zip(*levels, strict=True))
        return _Steps(row, node, child).some(np.argsort(row, kind="stable"))

    def changes(self, steps: _Steps) -> Floats:
        """(steps, outputs): how the value changes with each step."""
        changes: Floats = self.scaled[steps.child] - self.scaled[steps.node]
        return changes


def _groups_of_trees(view: ModelView) -> Iterator[slice]:
    """Trees whose nodes have few enough values together; at least one."""
    tree_begin = view.arrays["tree_begin"]
    most = _NODE_VALUES // view.n_outputs
    first = 0
    while first < view.n_trees:
        last = int(np.searchsorted(tree_begin, tree_begin[first] + most, side="right")) - 1
        last = min(max(last, first + 1), view.n_trees)
        yield slice(first, last)
        first = last


def _add_full(nodes: _Nodes, deviations: Floats, sums: Floats, steps: _Steps) -> None:
    """Add to (rows, outputs, features) what hyperplanes with a weight for every feature contribute.

    A share is linear in ``w_j`` and ``w_j^2``, so that the contributions of a row are two matrix
    products, of the hyperplanes that it crossed with the changes there.
    """
    n_features = deviations.shape[1]
    if len(steps.row) == 0:
        return
    windows = np.lib.stride_tricks.sliding_window_view(nodes.weight, n_features)
    for begin in range(0, len(steps.row), size := max(1, _WEIGHTS // n_features)):
        some = steps.some(slice(begin, begin + size))
        weights = widen(windows[nodes.weight_begin[some.node]]).astype(np.float64)
        squares = weights**2
        here = deviations[some.row]
        side = nodes.side[some.child]
        by_deviation, by_variance = coefficients(
            np.einsum("ij,ij->i", weights, here),
            np.einsum("ij,ij->i", np.abs(weights), np.abs(here)),
            squares @ nodes.squares,
            weights @ nodes.mean - nodes.threshold[some.node],
            side,
        )
        changes = nodes.changes(some)
        first = np.concatenate([[0], np.flatnonzero(np.diff(some.row)) + 1, [len(some.row)]])
        for a, b in pairwise(first):
            row = some.row[a]
            pushes = (by_deviation[a:b, None] * changes[a:b]).T @ weights[a:b]
            typical = (by_variance[a:b, None] * changes[a:b]).T @ squares[a:b]
            sums[row] += pushes * deviations[row] + typical * nodes.squares


def _add_listed(nodes: _Nodes, rows: Floats, sums: Floats, steps: _Steps) -> None:
    """The same for hyperplanes that list their features, without touching others."""
    n_outputs, n_features = sums.shape[1:]
    for some in _chunks(steps, np.diff(nodes.feature_begin)[steps.node]):
        length = np.diff(nodes.feature_begin)[some.node]
        begin = np.concatenate([[0], np.cumsum(length)])
        step = np.repeat(np.arange(len(length)), length)
        within = np.arange(begin[-1]) - begin[step]
        feature = nodes.feature[nodes.feature_begin[some.node][step] + within]
        weights = widen(nodes.weight[nodes.weight_begin[some.node][step] + within])
        weights = weights.astype(np.float64)
        deviations = weights * rows[some.row[step], feature]
        variances = weights**2 * nodes.squares[feature]

        def total(numbers: Floats, begin: npt.NDArray[np.int64] = begin) -> Floats:
            return np.add.reduceat(numbers, begin[:-1])

        by_deviation, by_variance = coefficients(
            total(deviations),
            total(np.abs(deviations)),
            total(variances),
            total(weights * nodes.mean[feature]) - nodes.threshold[some.node],
            nodes.side[some.child],
        )
        shares = by_deviation[step] * deviations + by_variance[step] * variances
        first, last = int(some.row[0]), int(some.row[-1]) + 1
        place = (some.row[step] - first) * n_features + feature
        shape = ((last - first) * n_features, len(length))
        matrix = sp.csc_array((shares, place, begin), shape=shape)
        added = (matrix @ nodes.changes(some)).reshape(last - first, n_features, n_outputs)
        sums[first:last] += added.transpose(0, 2, 1)


def _chunks(steps: _Steps, lengths: npt.NDArray[np.int64]) -> Iterator[_Steps]:
    """Steps whose hyperplanes have about ``_WEIGHTS`` weights together."""
    ends = np.cumsum(lengths)
    begin = 0
    while begin < len(ends):
        limit = _WEIGHTS + (ends[begin - 1] if begin else 0)
        end = max(begin + 1, int(np.searchsorted(ends, limit, side="right")))
        yield steps.some(slice(begin, end))
        begin = end
