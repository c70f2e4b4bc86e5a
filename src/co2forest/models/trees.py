# SPDX-License-Identifier: BSD-3-Clause
"""One tree of a fitted model as arrays over its nodes, with a value for each of them."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.base import Floats


@dataclass(frozen=True)
class TreeView:
    """Arrays over the nodes of one tree: node 0 is the root, every child comes after its parent."""

    left: npt.NDArray[np.int32]  # the left child, the right one is its neighbour; -1: a leaf
    parent: npt.NDArray[np.int64]  # -1: the root
    depth: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float32]  # right if the projection is at least that
    impurity: Floats  # of the training rows, see ModelView.impurity
    weighted_count: Floats
    sample_count: npt.NDArray[np.int32]
    scaled: Floats  # (nodes, outputs): values less the offset, which may be large beside them
    offset: Floats
    n_features: int
    _arrays: dict[str, npt.NDArray[Any]]  # of all trees
    _root: int  # in these

    @property
    def n_nodes(self) -> int:
        """Leaves and inner nodes."""
        return len(self.left)

    @cached_property
    def values(self) -> Floats:
        """(nodes, outputs): what a node says; an inner one the weighted mean of its leaves."""
        return self.scaled + self.offset

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many nodes the subtree of each node has, itself included."""
        sizes = np.ones(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes - 1, 0, -1):  # children come after their parents
            sizes[self.parent[node]] += sizes[node]
        return sizes

    def is_leaf(self, node: int) -> bool:
        """Whether a node has no children."""
        return bool(self.left[node] < 0)

    def hyperplane(self, node: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """The features that a node looks at, in order, and their weights, none of them zero.

        A leaf has none, and neither has a node that sends all rows to the same side.
        """
        return hyperplane_of(self._arrays, self._root + node)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to this one."""
        nodes = [int(node)]
        while (parent := int(self.parent[nodes[-1]])) >= 0:
            nodes.append(parent)
        return nodes[::-1]


def widen(bfloat16: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Numbers from the upper halves of float32."""
    return (bfloat16.astype(np.uint32) << 16).view(np.float32)


def hyperplane_of(
    arrays: dict[str, npt.NDArray[Any]], node: int
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The same of a node that is numbered among those of all trees."""
    weights = widen(arrays["weight"][slice(*arrays["weight_begin"][node : node + 2])])
    features = arrays["feature"][slice(*arrays["feature_begin"][node : node + 2])]
    if len(features) == 0:  # the node has a weight for each feature
        features = np.arange(len(weights))
    used = weights != 0  # many may be zero; all of them, if somebody made them so
    return features[used].astype(np.int64), weights[used].astype(np.float64)


def ancestry(left: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parent and the depth of every node."""
    parent = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    parent[left[inner]] = parent[left[inner] + 1] = inner
    depth = np.zeros(len(left), dtype=np.int64)
    level, reached = np.array([0]), 0
    while len(children := left[level[left[level] >= 0]]):
        reached += 1
        level = np.concatenate([children, children + 1])
        depth[level] = reached
    return parent, depth


def depths_of(arrays: dict[str, npt.NDArray[Any]]) -> list[int]:
    """Splits on the longest path of each tree from its root to a leaf."""
    left, tree_begin = arrays["left"], arrays["tree_begin"]
    return [int(ancestry(left[begin:end])[1].max()) for begin, end in pairwise(tree_begin)]


def mean_of_leaves(
    left: npt.NDArray[np.int32], depth: npt.NDArray[np.int64], counts: Floats, numbers: Floats
) -> Floats:
    """Numbers of all nodes from those of the leaves, deepest first."""
    for level in range(int(depth.max()) - 1, -1, -1):
        inner = np.flatnonzero((depth == level) & (left >= 0))
        first = left[inner]
        total = counts[first] + counts[first + 1]
        # Rows without weight alone leave a subtree that counts for nothing, whatever its mean is.
        share = np.divide(counts[first + 1], total, out=np.full(len(inner), 0.5), where=total > 0)
        numbers[inner] = numbers[first] + share[:, None] * (numbers[first + 1] - numbers[first])
    return numbers
