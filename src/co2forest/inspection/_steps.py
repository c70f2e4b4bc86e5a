# SPDX-License-Identifier: BSD-3-Clause
"""The steps of one row through one tree."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from co2forest.inspection._shares import coefficients, squared_spreads
from co2forest.models.view import ModelView


class Step(NamedTuple):
    """A hyperplane that a row crossed."""

    node: int
    right: bool
    change: float  # of the value
    features: list[tuple[int, float]]  # with their parts of the change, the largest first


def steps_of(view: ModelView, checked: Any, tree: int, output: int) -> tuple[list[Step], float]:
    """Steps of the only row, and the value of the root; both as parts of the prediction.

    The value of a tree of boosting is what it adds, that of a forest's tree its own answer.
    """
    shown = view.tree(tree)
    path = shown.path(int(view.leaves(checked)[0, tree]))
    row = view.deviations(checked)[0]
    squares = squared_spreads(view.spread)
    steps = []
    for node, child in pairwise(path):
        features, weights = shown.hyperplane(node)
        deviations, variances = weights * row[features], weights**2 * squares[features]
        right = child == shown.left[node] + 1
        by_deviation, by_variance = coefficients(
            deviations.sum(),
            np.abs(deviations).sum(),
            variances.sum(),
            weights @ view.mean[features] - shown.threshold[node],
            np.array(1.0 if right else -1.0),
        )
        change = float(shown.scaled[child, output] - shown.scaled[node, output])
        parts = (by_deviation * deviations + by_variance * variances) * change
        order = np.argsort(-np.abs(parts), kind="stable")
        listed = [(int(features[j]), float(parts[j])) for j in order]
        steps.append(Step(node, bool(right), change, listed))
    return steps, float(shown.values[0, output])
