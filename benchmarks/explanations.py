# SPDX-License-Identifier: BSD-3-Clause
"""How far contributions of ``explain`` are from exact Shapley values, for several sharing rules.

Shapley values need a prediction for every subset of features and every row of a background, so the
data have at most six features. This prints the table in docs/inspection.md.

    python benchmarks/explanations.py
"""

from itertools import combinations, pairwise
from math import factorial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.models.view import ModelView

N_TEST, N_BACKGROUND = 40, 60


def data_sets(rng):
    """Names, rows and targets."""
    X = rng.normal(size=(800, 6))
    yield "sum of two features > 0", X, (X[:, 0] + X[:, 1] > 0).astype(int)
    yield "linear, numbers", X, X @ [3, -2, 1, 0.5, 0, 0]
    yield "circle", X, (X[:, 0] ** 2 + X[:, 1] ** 2 > 2).astype(int)
    yield "waves, numbers", X, 10 * np.sin(X[:, 0] * X[:, 1]) + 5 * X[:, 2] ** 2 + 4 * X[:, 3]
    iris, diabetes, cancer = load_iris(), load_diabetes(), load_breast_cancer()
    yield "iris", iris.data, iris.target
    yield "diabetes, numbers", diabetes.data[:, [1, 2, 3, 4, 7, 8]], diabetes.target
    yield "breast cancer", cancer.data[:, [0, 1, 4, 6, 7, 20]], cancer.target


def shapley(model, X, background):
    """Exact values: unknown features take their values from rows of the background."""
    predict = getattr(model, "predict_proba", None) or (lambda rows: model.predict(rows)[:, None])
    p = X.shape[1]
    said = {}
    for size in range(p + 1):
        for known in combinations(range(p), size):
            rows = np.repeat(background[None], len(X), axis=0)
            rows[:, :, known] = X[:, None, known]
            said[known] = predict(rows.reshape(-1, p)).reshape(*rows.shape[:2], -1).mean(axis=1)
    values = np.zeros((*X.shape, said[()].shape[1]))
    for j in range(p):
        for size in range(p):
            weight = factorial(size) * factorial(p - size - 1) / factorial(p)
            for known in combinations([i for i in range(p) if i != j], size):
                more = tuple(sorted((*known, j)))
                values[:, j] += weight * (said[more] - said[known])
    return values


def shares(rule, pushed, typical, distance):
    """Each feature's share of a change; arguments are in standard deviations of the projection."""
    if rule == "variance":
        return typical
    push = pushed + (distance - pushed.sum()) * typical
    if rule == "pushes":
        return push / max(distance, 1e-9)
    if rule == "positive pushes":
        positive = np.maximum(push, 0)
        return positive / positive.sum() if positive.any() else typical
    divisor = max(distance + 2, np.abs(pushed).sum() / 2)
    return typical + (pushed - typical * pushed.sum()) / divisor


RULES = ("variance", "pushes", "positive pushes", "explain")


def contributions(model, X, rule):
    view = ModelView.of(model)
    mean, spread, leaves = view.mean, view.spread, view.leaves(view.checked(X))
    sums = np.zeros((*X.shape, view.n_outputs))
    for i in range(view.n_trees):
        tree = view.tree(i)
        for row, x in enumerate(X.astype(np.float64)):
            path = tree.path(leaves[row, i])
            for node, child in pairwise(path):
                j, weights = tree.hyperplane(node)
                side = 1 if child == tree.left[node] + 1 else -1
                deviation = np.sqrt(np.sum((weights * spread[j]) ** 2))
                pushed = side * weights * (x[j] - mean[j]) / deviation
                distance = side * (weights @ x[j] - tree.threshold[node]) / deviation
                typical = (weights * spread[j] / deviation) ** 2
                part = shares(rule, pushed, typical, max(distance, 0))
                sums[row, j] += part[:, None] * (tree.values[child] - tree.values[node])
    return sums / view.n_trees


def main():
    rng = np.random.default_rng(0)
    print("| data |", " | ".join(RULES), "|")
    print("|---|" + "---|" * len(RULES))
    for name, rows, targets in data_sets(rng):
        order = rng.permutation(len(rows))
        X, y = rows[order].astype(np.float32), targets[order]
        kind = CO2ForestRegressor if "numbers" in name else CO2ForestClassifier
        model = kind(20, random_state=0).fit(X[:-N_TEST], y[:-N_TEST])
        exact = shapley(model, X[-N_TEST:], X[:N_BACKGROUND])
        distances = [
            np.abs(contributions(model, X[-N_TEST:], rule) - exact).mean() / np.abs(exact).mean()
            for rule in RULES
        ]
        print(f"| {name} |", " | ".join(f"{distance:.2f}" for distance in distances), "|")


if __name__ == "__main__":
    main()
