# SPDX-License-Identifier: BSD-3-Clause
"""The trees of the explorer: which nodes of them, their hyperplanes, and the rows that pass."""

import heapq
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.data.outputs.base import Codes, Floats
from co2forest.models.arguments import whole_number, whole_numbers
from co2forest.models.evaluation import Evaluation
from co2forest.models.trees import TreeView
from co2forest.report._rows import Order, Picture

# What a page may take, so that MNIST with a hundred trees stays below 3 MB.
_BYTES = 1_400_000
_NODE_BYTES = 600  # of a node without its picture
_FEWEST_NODES, _MOST_NODES = 15, 400  # of a tree
_MOST_ROWS = 20_000  # that are sent through the trees: a histogram shows no more
_SHARES = 8  # classes of a node that are listed, the most frequent first
_LEAST_SHARE = 0.005  # of one that is listed
_BARS = 10  # weights that are listed
_BINS = 24  # of a histogram
_SERIES = 6  # classes that a histogram shows one by one
_OUTLIERS = 0.005  # fraction of the rows at either end that goes to the last bin
_LEAST = 1e-12  # the distance of a row on the plane that goes left: its sign tells the side
_BLOCK = 2**24  # numbers that a product copies at a time

Nodes = npt.NDArray[np.int64]


def checked_trees(trees: Any, n_trees: int) -> list[int]:
    """The numbers of the trees to show: the first ones, or those that are listed."""
    if isinstance(trees, Integral):
        return list(range(min(whole_number(trees, "trees", 0), n_trees)))
    return sorted(set(whole_numbers(trees, "trees", n_trees)))


def explorer(
    evaluation: Evaluation, trees: list[int], followed: Order, picture: Picture | None
) -> dict[str, Any]:
    """Everything that the page needs to draw trees, as JSON values."""
    node_bytes = _NODE_BYTES + (picture.n_bytes if picture else 0)
    n_nodes = _BYTES // (node_bytes * max(len(trees), 1))  # of each tree
    budget = int(np.clip(n_nodes, _FEWEST_NODES, _MOST_NODES))
    sample = np.arange(evaluation.n_rows)
    if evaluation.n_rows > _MOST_ROWS:
        drawn = np.random.default_rng(0).choice(evaluation.n_rows, _MOST_ROWS, replace=False)
        sample = np.union1d(drawn, followed)
    return {
        "kind": evaluation.view.kind,
        "impurity": evaluation.view.impurity.name,
        "picture": None if picture is None else picture.described(),
        "n_rows": len(sample),
        "trees": [
            _Drawn(evaluation, tree, budget, picture).described(sample, followed) for tree in trees
        ],
    }


@dataclass(frozen=True)
class _Plane:
    """A node's hyperplane of unit length: distances are in standard deviations of the features."""

    features: npt.NDArray[np.int64]
    weights: Floats  # of standardised features
    raw: npt.NDArray[np.float32]  # of all features as they are
    threshold: float
    length: float  # what projections are divided by

    @classmethod
    def of(cls, tree: TreeView, node: int, spread: Floats) -> Self:
        """That of an inner node."""
        features, weights = tree.hyperplane(node)
        standardised = weights * spread[features]
        length = float(np.linalg.norm(standardised))
        length = length if 0 < length < np.inf else 1.0
        raw = np.zeros(tree.n_features, dtype=np.float32)
        raw[features] = weights
        return cls(features, standardised / length, raw, float(tree.threshold[node]), length)

    def distances(
        self, filled: Any, mean: Floats, rows: Order, goes_right: npt.NDArray[np.bool_]
    ) -> Floats:
        """Distances of rows from the plane; the side is the core's, which rounds in its own way.

        In float32, a fifth of the time of float64; without the mean, which could be so large that
        nothing else is left of a sum.
        """
        step = max(1, _BLOCK // len(self.raw))
        blocks = [
            self._projected(filled[rows[begin : begin + step]], mean)
            for begin in range(0, len(rows), step)
        ]
        distance = np.concatenate([np.empty(0), *blocks]) / self.length
        return np.where(goes_right, np.maximum(distance, 0), np.minimum(distance, -_LEAST))

    def _projected(self, rows: Any, mean: Floats) -> Floats:
        if sp.issparse(rows):
            return np.asarray(rows @ self.raw.astype(np.float64) - self.threshold)
        rows -= mean.astype(np.float32)  # a copy, because rows were chosen by their numbers
        offset = float(mean @ self.raw) - self.threshold
        return np.asarray(rows @ self.raw, dtype=np.float64) + offset

    def strongest(self) -> list[list[float]]:
        """Features with the largest weights, and these weights."""
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_BARS]
        return [[int(self.features[i]), float(self.weights[i])] for i in order]

    def as_bytes(self, n_features: int) -> npt.NDArray[np.uint8]:
        """A byte for every feature: 128 is no weight, 1 and 255 are the largest."""
        largest = float(np.abs(self.weights).max(initial=0)) or 1.0
        picture = np.full(n_features, 128, dtype=np.uint8)
        picture[self.features] = np.round(128 + 127 * self.weights / largest)
        return picture


class _Drawn:
    """One tree, as far as it is shown."""

    def __init__(
        self, evaluation: Evaluation, number: int, budget: int, picture: Picture | None
    ) -> None:
        self.evaluation, self.number, self.picture = evaluation, number, picture
        self.mean = evaluation.view.mean
        self.tree = evaluation.view.tree(number)
        self.shown = _largest_nodes(self.tree, budget)
        self.place = {node: i for i, node in enumerate(self.shown)}
        self.first, self.end = _depth_first(self.tree)
        self.leaf = evaluation.view.leaves(evaluation.rows, number)[:, 0]

    def described(self, sample: Order, followed: Order) -> dict[str, Any]:
        """The tree and the rows of a sample, as JSON values; parents come before children."""
        slot = np.full(self.evaluation.n_rows, -1)  # of a row among those followed
        slot[followed] = np.arange(len(followed))
        ways: list[list[float]] = [[] for _ in followed]
        last = np.zeros(len(followed), dtype=np.int64)  # of the nodes shown on a row's way
        at = {0: sample}
        nodes = []
        for place, node in enumerate(self.shown):
            rows = at.pop(node)
            known = slot[rows] >= 0
            last[slot[rows[known]]] = place
            described = self._node(node, rows)
            if self.tree.left[node] >= 0:
                # As the core has sent them.
                goes_right = self.first[self.leaf[rows]] >= self.first[self.tree.left[node] + 1]
                plane = _Plane.of(self.tree, node, self.evaluation.view.spread)
                distance = plane.distances(self.evaluation.filled, self.mean, rows, goes_right)
                for i, value in zip(slot[rows[known]], distance[known], strict=True):
                    ways[i].append(float(value))
                described |= self._split(node, plane)
                described["histogram"] = _histogram(self.evaluation, rows, distance, goes_right)
                left = int(self.tree.left[node])
                if left in self.place:
                    at |= {left: rows[~goes_right], left + 1: rows[goes_right]}
            nodes.append(described)
        return {
            "number": self.number,
            "n_nodes": self.tree.n_nodes,
            "n_leaves": int(np.count_nonzero(self.tree.left < 0)),
            "depth": int(self.tree.depth.max()),
            "nodes": nodes,
            "last": last.tolist(),
            "leaf": self.leaf[followed].tolist(),
            "distances": ways,
        }

    def _node(self, node: int, rows: Order) -> dict[str, Any]:
        tree = self.tree
        left = self.place.get(int(tree.left[node]), -1)
        hidden = 0 if left >= 0 else int(self.end[node] - self.first[node]) - 1
        described: dict[str, Any] = {
            "id": node,
            "parent": self.place.get(int(tree.parent[node]), -1),
            "left": left,
            "count": int(tree.sample_count[node]),
            "given": len(rows),
            "impurity": float(tree.impurity[node]),
            "value": self._value(tree.values[node]),
        }
        if tree.weighted_count[node] != tree.sample_count[node]:
            described["weight"] = float(tree.weighted_count[node])
        return described | ({"hidden": hidden} if hidden else {})

    def _value(self, values: Floats) -> list[Any]:
        """Classes with their shares or scores, the highest first; else all numbers, or some."""
        kind = self.evaluation.view.kind
        if kind not in ("classes", "scores"):
            return list(values[:_SHARES].tolist())
        order = np.argsort(-values, kind="stable")[:_SHARES]
        least = _LEAST_SHARE if kind == "classes" else -np.inf
        return [[int(k), float(values[k])] for k in order if values[k] >= least]

    def _split(self, node: int, plane: _Plane) -> dict[str, Any]:
        left = int(self.tree.left[node])
        weight = self.tree.weighted_count[left : left + 2]
        share = weight / weight.sum() if weight.sum() > 0 else np.full(2, 0.5)
        split: dict[str, Any] = {
            "after": float(share @ self.tree.impurity[left : left + 2]),
            "used": len(plane.features),
            "bars": plane.strongest(),
        }
        if self.picture is not None:
            split["picture"] = self.picture.encode(plane.as_bytes(self.tree.n_features))
        return split


def _largest_nodes(tree: TreeView, budget: int) -> list[int]:
    """Nodes to show, in pairs of children from the root on, those with the most rows first."""
    shown, waiting = [0], [(-float(tree.weighted_count[0]), 0)]
    while waiting and len(shown) + 2 <= budget:
        left = int(tree.left[heapq.heappop(waiting)[1]])
        if left < 0:
            continue
        for child in (left, left + 1):
            shown.append(child)
            heapq.heappush(waiting, (-float(tree.weighted_count[child]), child))
    return sorted(shown)


def _depth_first(tree: TreeView) -> tuple[Nodes, Nodes]:
    """The place of each node if nodes are counted depth first, and that behind its last one."""
    first = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.left >= 0).tolist():  # children come after their parents
        left = int(tree.left[node])
        first[left] = first[node] + 1
        first[left + 1] = first[left] + tree.sizes[left]
    return first, first + tree.sizes


def _histogram(
    evaluation: Evaluation, rows: Order, distance: Floats, goes_right: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Rows by their distance; the plane is the border between the bins ``zero - 1`` and ``zero``.

    A series is a class, the first bin that has rows of it, and their counts from there on. -1 is
    all other classes, or all rows where there are no classes; numbers have the mean of y in a bin.
    """
    ends = np.quantile(distance, [_OUTLIERS, 1 - _OUTLIERS]) if len(rows) else np.zeros(2)
    low, high = min(0.0, float(ends[0])), max(0.0, float(ends[1]))
    width = (high - low) / _BINS or 1.0
    zero = max(round(np.ceil(-low / width)), int((~goes_right).any()))
    n_bins = zero + max(round(np.ceil(high / width)), int(goes_right.any()))
    steps = np.minimum(np.abs(distance) / width, _BINS + 2).astype(np.int64)  # from the plane
    bins = np.where(goes_right, zero + steps, zero - 1 - steps).clip(0, max(n_bins - 1, 0))
    described: dict[str, Any] = {"width": width, "zero": zero, "bins": n_bins}
    if evaluation.task == "numbers":
        truth = evaluation.truth[rows, 0]
        described["means"] = _means(bins, truth, n_bins)
    groups = [(-1, bins)]
    if evaluation.task == "classes":
        groups = _by_class(evaluation.truth[rows], bins)
    return described | {"series": [_series(k, some, n_bins) for k, some in groups if len(some)]}


def _by_class(truth: Codes, bins: Codes) -> list[tuple[int, Codes]]:
    """The bins of the rows of each frequent class, then those of all others."""
    counts = np.bincount(truth)
    frequent = np.argsort(-counts, kind="stable")[:_SERIES]
    if np.count_nonzero(counts) == _SERIES + 1:  # one class is as short as "others"
        frequent = np.argsort(-counts, kind="stable")[: _SERIES + 1]
    others = bins[~np.isin(truth, frequent)]
    return [(int(k), bins[truth == k]) for k in frequent] + [(-1, others)]


def _series(group: int, bins: Codes, n_bins: int) -> list[Any]:
    counts = np.bincount(bins, minlength=n_bins)
    some = np.flatnonzero(counts)
    return [group, int(some[0]), counts[some[0] : some[-1] + 1].tolist()]


def _means(bins: Codes, truth: Floats, n_bins: int) -> list[float | None]:
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, truth, minlength=n_bins)
    return [float(s / c) if c else None for s, c in zip(sums, counts, strict=True)]
