# SPDX-License-Identifier: BSD-3-Clause
"""Questions that tests ask a forest's native arrays."""

import itertools

import numpy as np


def depths(arrays):
    """Depth of every node of a forest."""
    begin, left = arrays["tree_begin"], arrays["left"]
    depth = np.zeros(len(left), dtype=int)
    for first, end in itertools.pairwise(begin):
        for node in range(first, end):
            if left[node] >= 0:
                depth[first + left[node] : first + left[node] + 2] = depth[node] + 1
    return depth


def float_weights(arrays):
    """All weights, from the upper halves of float32 that are stored."""
    return (arrays["weight"].astype(np.uint32) << 16).view(np.float32)


def weights_of(arrays, node):
    """The hyperplane of a node with a weight for every feature."""
    weights = np.zeros(len(arrays["mean"]))
    stored = slice(*arrays["weight_begin"][node : node + 2])
    named = arrays["feature"][slice(*arrays["feature_begin"][node : node + 2])]
    weights[named if len(named) else slice(None)] = float_weights(arrays)[stored]
    return weights


def leaves_per_tree(arrays):
    return np.add.reduceat(arrays["left"] < 0, arrays["tree_begin"][:-1])
