# SPDX-License-Identifier: BSD-3-Clause
"""Depth and nu cells: single trees, cut at every depth."""

import numpy as np

from co2forest import CO2ForestClassifier
from co2forest.baselines import AxisForestClassifier
from measure import cpu_seconds
from paper.config import UNIVARIATE


def measure(config, cell, data, threads):
    """Errors and leaves of one tree at each depth.

    A tree whose growth ends at a depth is the deeper tree cut there. So only one tree is grown, and
    the nodes at each depth predict the majority of their training rows.
    """
    study = config[cell.kind]
    X, y = data.X_train, data.y_train
    X = X / np.float32(study["divide_by"])  # replaces a scaling that depends on the rows
    rest = np.random.RandomState(0).permutation(len(y))[: study["validation_rows"]]
    train = np.setdiff1d(np.arange(len(y)), rest)
    shared = {"n_estimators": 1, "max_depth": study["max_depth"], "bootstrap": False}
    shared |= {"random_state": cell.seed, "n_jobs": threads}
    if cell.method == UNIVARIATE:
        forest = AxisForestClassifier(**shared, **study["univariate"])
    else:
        nu = float(cell.method.removeprefix("nu="))
        forest = CO2ForestClassifier(**shared, **study["parameters"], scale=None, nu=nu)
    cpu = cpu_seconds()
    forest.fit(X[train], y[train])
    cpu = cpu_seconds() - cpu
    return [
        row | {"cpu_seconds": cpu}
        for row in errors_by_depth(forest, X[train], y[train], X[rest], y[rest])
    ]


def errors_by_depth(forest, X_train, y_train, X_rest, y_rest):
    """Training and validation error in percent, and leaves, of a tree cut at depths 1, 2, ..."""
    paths = nodes_by_depth(forest, X_train), nodes_by_depth(forest, X_rest)
    codes = np.searchsorted(forest.classes_, y_train)
    depth = paths[0].shape[1] - 1
    for cut in range(1, depth + 1):
        nodes, reached = (path[:, min(cut, path.shape[1] - 1)] for path in paths)
        counts = np.zeros((nodes.max() + 1, len(forest.classes_)), int)
        np.add.at(counts, (nodes, codes), 1)
        majority = forest.classes_[counts.argmax(axis=1)]
        yield {
            "depth": cut,
            "train_error_percent": 100 * np.mean(majority[nodes] != y_train),
            "validation_error_percent": 100 * np.mean(majority[reached] != y_rest),
            "leaves": len(np.unique(nodes)),
        }


def nodes_by_depth(forest, X):
    """The node of each row at each depth, from the root on; below a leaf, it is the leaf itself."""
    indicator, _ = forest.decision_path(X)
    indicator = indicator.sorted_indices()  # a child has a higher number than its parent
    lengths = np.diff(indicator.indptr)
    steps = np.arange(lengths.max())
    places = np.minimum(steps, lengths[:, np.newaxis] - 1) + indicator.indptr[:-1, np.newaxis]
    return indicator.indices[places]
