# SPDX-License-Identifier: BSD-3-Clause
"""Fitted trees cut at a depth, and the leaves that the windows of an image reach.

A tree grows depth first, and what a node draws depends on the node alone. So a tree cut at a depth
is the tree grown to that depth. One fit gives forests of any depth, and one pass through its trees
gives all their predictions.
"""

import numpy as np

from co2forest import _native


class Trees:
    """The nodes of all trees of a forest, each with its `distribution` of classes.

    `ratio` is the factor of each class by which its probability in a leaf was multiplied, before
    the sum was brought to one. An inner node has the windows of its leaves.
    """

    def __init__(self, arrays, ratio):
        left, begin = arrays["left"], arrays["tree_begin"]
        self.begin = np.array(begin[:-1])
        root = np.repeat(self.begin, np.diff(begin))
        self.levels = []  # for each depth, the inner nodes and the first of their two children
        nodes = self.begin
        while len(inner := nodes[left[nodes] >= 0]):
            first = root[inner] + left[inner]
            self.levels.append((inner, first))
            nodes = np.concatenate([first, first + 1])
        drawn = np.zeros((len(left), len(ratio)))
        leaf = np.repeat(np.arange(len(left)), np.diff(arrays["value_begin"]))
        drawn[leaf, arrays["value_output"]] = arrays["value"] / ratio[arrays["value_output"]]
        leaf = np.unique(leaf)
        drawn[leaf] *= (arrays["weighted_count"][leaf] / drawn[leaf].sum(axis=1))[:, None]
        for inner, first in reversed(self.levels):
            drawn[inner] = drawn[first] + drawn[first + 1]
        self.distribution = drawn * ratio / (drawn @ ratio)[:, None]

    @property
    def leaves(self):
        """The number of leaves of all trees together."""
        return len(self.distribution) - sum(len(inner) for inner, _ in self.levels)

    def cut(self, depth=None):
        """For each node, the node where a tree of this depth ends: itself or an ancestor."""
        standing = np.arange(len(self.distribution))
        if depth is not None:
            for inner, first in self.levels[depth:]:
                standing[first] = standing[first + 1] = standing[inner]
        return standing


def numbered(forest):
    """A forest with the same splits whose output t is the number of the leaf in tree t.

    A leaf must have a value for all outputs: zero for those of the other trees.
    """
    arrays, n_trees = dict(forest.arrays()), forest.n_trees
    begin = arrays["tree_begin"]
    is_leaf = arrays["left"] < 0
    leaf = np.flatnonzero(is_leaf)
    tree = np.searchsorted(begin, leaf, side="right") - 1
    value = np.zeros((len(leaf), n_trees), np.float32)
    value[np.arange(len(leaf)), tree] = leaf - begin[tree]
    arrays["value"] = value.ravel()
    arrays["value_begin"] = n_trees * np.concatenate([[0], np.cumsum(is_leaf)])
    arrays["value_output"] = np.tile(np.arange(n_trees, dtype=np.int32), len(leaf))
    return _native.Forest(arrays, n_trees, borrow_weights=True, distributions=False)


def reached(forest, picture, window, n_threads):
    """For each window of an image and each tree, the number of the node that it reaches."""
    images = _native.window_images([np.ascontiguousarray(picture)], window)
    rows = picture.shape[0] - window + 1
    outputs = _native.predict_windows(forest, images, 0, 0, rows, n_threads)
    # A forest predicts means over its trees.
    numbers = np.rint(outputs * forest.n_trees).astype(np.int64)
    return numbers + forest.arrays()["tree_begin"][:-1]
