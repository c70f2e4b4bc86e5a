# SPDX-License-Identifier: BSD-3-Clause
"""Contributions by walking through trees step by step, for the tests of explain."""

import numpy as np
import scipy.sparse as sp

from co2forest.models.view import ModelView


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def hyperplane(arrays, node):
    """Features and weights of a node of all nodes."""
    bits = arrays["weight"][arrays["weight_begin"][node] : arrays["weight_begin"][node + 1]]
    weights = np.ldexp(1.0 + (bits & 127) / 128.0, (bits.astype(int) >> 7 & 255) - 127)
    weights[bits & 0x7FFF == 0] = 0.0
    weights[bits >> 15 == 1] *= -1.0
    listed = arrays["feature"][arrays["feature_begin"][node] : arrays["feature_begin"][node + 1]]
    return (np.arange(len(weights)) if len(listed) == 0 else listed), weights


def leaf_value(arrays, node, n_outputs, distributions):
    begin, end = arrays["value_begin"][node : node + 2]
    value = np.zeros(n_outputs)
    value[arrays["value_output"][begin:end]] = arrays["value"][begin:end]
    return value / value.sum() if distributions else value


def node_values(forest, tree):
    """Of each node of a tree, inner ones from their children; in the unit of the leaves."""
    arrays = forest.arrays()
    root, end = arrays["tree_begin"][tree : tree + 2]
    values = {}
    for node in range(end - 1, root - 1, -1):
        if arrays["left"][node] < 0:
            values[node] = leaf_value(arrays, node, forest.n_outputs, forest.distributions)
            continue
        left = root + arrays["left"][node]
        counts = arrays["weighted_count"][left : left + 2]
        values[node] = (counts[0] * values[left] + counts[1] * values[left + 1]) / counts.sum()
    return values


def parents(arrays, tree):
    root, end = arrays["tree_begin"][tree : tree + 2]
    parent = {}
    for node in range(root, end):
        if arrays["left"][node] >= 0:
            left = root + arrays["left"][node]
            parent[left] = parent[left + 1] = node
    return parent


def path_to(arrays, tree, leaf, parent=None):
    """Nodes, the child taken, and whether it was the right one; upwards."""
    parent = parents(arrays, tree) if parent is None else parent
    root = arrays["tree_begin"][tree]
    child = root + leaf
    while child in parent:
        yield parent[child], child, child == root + arrays["left"][parent[child]] + 1
        child = parent[child]


def shares(weights, x, mean, spread, threshold, right):
    """How much each feature of a hyperplane had to do with the side taken."""
    side = 1.0 if right else -1.0
    deviation = np.sqrt(np.sum((weights * spread) ** 2))
    typical = (weights * spread / deviation) ** 2
    pushed = side * weights * (x - mean) / deviation
    distance = max(side * (weights @ x - threshold) / deviation, 0.0)
    divisor = max(distance + 2, np.abs(pushed).sum() / 2)
    return typical + (pushed - typical * pushed.sum()) / divisor


def contributions(estimator, X):
    """(rows, features, outputs) summed over trees, in the unit of the leaves."""
    forest = estimator._forest
    arrays = forest.arrays()
    leaves = np.asarray(estimator.apply(X)).reshape(X.shape[0], -1)
    mean, spread = arrays["mean"].astype(np.float64), arrays["spread"].astype(np.float64)
    X = dense(ModelView.of(estimator).checked(X))  # features may be views of columns
    X = np.where(np.isnan(X), mean, X)
    sums = np.zeros((*X.shape, forest.n_outputs))
    for tree in range(forest.n_trees):
        values, parent = node_values(forest, tree), parents(arrays, tree)
        for row, x in enumerate(X):
            for node, child, right in path_to(arrays, tree, leaves[row, tree], parent):
                j, weights = hyperplane(arrays, node)
                part = shares(weights, x[j], mean[j], spread[j], arrays["threshold"][node], right)
                sums[row, j] += part[:, None] * (values[child] - values[node])
    return sums
