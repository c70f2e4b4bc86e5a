# SPDX-License-Identifier: BSD-3-Clause
"""Work of every kind that takes long, which Ctrl-C must end: each loss, split, estimator and view.

`WORK` has functions by name. Each takes a number of threads, prepares, and returns the work.
"""

from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp

import co2forest
from co2forest.files.registry import estimator_class
from co2forest.inspection import explain
from co2forest.segmentation import ForestSegmenter
from shapes import make_shapes

N_ROWS = 20_000


def numbers(n=N_ROWS, p=40):
    return np.random.default_rng(0).normal(size=(n, p)).astype(np.float32)


def with_gaps():
    X = numbers()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X


def sparse():
    X = numbers()
    return sp.csr_array(np.where(X > 0.5, X, 0))


def frame():
    """Categories that become indicators, many that become means, and gaps."""
    rng = np.random.default_rng(2)
    X = numbers(p=4)
    return pd.DataFrame(
        {
            "few": pd.Categorical(rng.integers(0, 5, N_ROWS)),
            "many": pd.Categorical(rng.integers(0, 3000, N_ROWS)),
            "gap": np.where(rng.random(N_ROWS) < 0.2, np.nan, X[:, 1]),
            "number": X[:, 0],
        }
    )


ROWS = {
    "numbers": numbers,
    "bytes": lambda: (40 * numbers() + 120).clip(0, 255).astype(np.uint8),
    "gaps": with_gaps,
    "sparse": sparse,
    "frame": frame,
    "wide": partial(numbers, 400, 20_000),
    "many features": partial(numbers, 400, 4000),
}


def classes(n, k):
    """Each has its share of a normal score, and a tenth of the rows any class."""
    score = numbers(n, 2).sum(axis=1).argsort().argsort() * k // n
    rng = np.random.default_rng(3)
    return np.where(rng.random(n) < 0.1, rng.integers(0, k, n), score)


def score(n):
    return numbers(n, 3).sum(axis=1) + np.random.default_rng(4).normal(size=n)


ANSWERS = {
    "3 classes": partial(classes, k=3),
    "300 classes": partial(classes, k=300),
    "2000 classes": partial(classes, k=2000),
    "labels": lambda n: np.c_[score(n) > 0, score(n) > 1, numbers(n, 1) > 0],
    "number": score,
    "2000 labels": lambda n: score(n)[:, None] > numbers(n, 2000),
    "200 numbers": lambda n: score(n)[:, None] + numbers(n, 200),
    "1000 numbers": lambda n: score(n)[:, None] + numbers(n, 1000),
    "counts": lambda n: np.random.default_rng(5).poisson(np.exp(0.5 * score(n))),
}


def costs(k):
    matrix = np.random.default_rng(6).random((k, k)) + 0.1
    np.fill_diagonal(matrix, 0)
    return matrix


# --- fits: the estimator, its parameters, the rows and the answers

CLASSES, NUMBERS = "CO2ForestClassifier", "CO2ForestRegressor"
ALONE = {"mixture": None}  # hyperplanes only
FITS = {
    "a mixture": (CLASSES, {}, "numbers", "3 classes"),
    "hyperplanes": (CLASSES, ALONE, "numbers", "3 classes"),
    "the paper's solver": (CLASSES, ALONE | {"solver": "cccp"}, "numbers", "3 classes"),
    "rows left out": (CLASSES, {"bootstrap": True, "oob_score": True}, "numbers", "3 classes"),
    "weighted classes": (
        CLASSES,
        ALONE | {"class_weight": "balanced_subsample", "bootstrap": True},
        "numbers",
        "3 classes",
    ),
    "refined trees": (CLASSES, ALONE | {"refine": 50}, "numbers", "3 classes"),
    "one tree of classes": ("CO2TreeClassifier", {"max_iter": 10**6}, "numbers", "3 classes"),
    "one tree of numbers": ("CO2TreeRegressor", {"max_iter": 10**6}, "numbers", "number"),
    "2000 classes": (CLASSES, {}, "numbers", "2000 classes"),
    "costs of 300 classes": (CLASSES, ALONE | {"cost_matrix": 300}, "numbers", "300 classes"),
    "costs of 2000 classes": (CLASSES, ALONE | {"cost_matrix": 2000}, "numbers", "2000 classes"),
    "costs and a mixture": (CLASSES, {"cost_matrix": 300}, "numbers", "300 classes"),
    "several labels": (CLASSES, {}, "numbers", "labels"),
    "2000 labels": (CLASSES, ALONE, "numbers", "2000 labels"),
    "the squared loss": (NUMBERS, ALONE, "numbers", "number"),
    "Huber's loss": (NUMBERS, ALONE | {"loss": "huber"}, "numbers", "number"),
    "a quantile": (NUMBERS, {"loss": "quantile", "keep_targets": True}, "numbers", "number"),
    "counts": (NUMBERS, ALONE | {"loss": "poisson"}, "numbers", "counts"),
    "200 numbers": (NUMBERS, {}, "numbers", "200 numbers"),
    "1000 numbers": (NUMBERS, ALONE | {"loss": "huber"}, "numbers", "1000 numbers"),
    "a choice of solvers": (NUMBERS, ALONE | {"solver": "select"}, "numbers", "number"),
    "bytes": (CLASSES, {}, "bytes", "3 classes"),
    "sparse rows": (CLASSES, {}, "sparse", "3 classes"),
    "wide rows": (CLASSES, {}, "wide", "3 classes"),
    "gaps": (CLASSES, {}, "gaps", "3 classes"),
    "categories": (CLASSES, {}, "frame", "3 classes"),
    "categories of numbers": (NUMBERS, {}, "frame", "number"),
    "categories and 2000 classes": (CLASSES, {}, "frame", "2000 classes"),
    "axis-aligned trees": ("AxisForestClassifier", {}, "numbers", "300 classes"),
    "axis-aligned trees of numbers": ("AxisForestRegressor", {}, "numbers", "200 numbers"),
    "two probes": ("TwoProbeForestClassifier", {}, "bytes", "300 classes"),
    "two probes of numbers": ("TwoProbeForestRegressor", {}, "numbers", "number"),
    "OC1": ("OC1ForestClassifier", {}, "numbers", "300 classes"),
    "CART-LC": ("CARTLCForestClassifier", {}, "numbers", "3 classes"),
    "discriminants": ("LDAForestClassifier", {"max_features": None}, "many features", "3 classes"),
    "boosted numbers": ("CO2BoostingRegressor", {}, "numbers", "number"),
    "boosted counts": ("CO2BoostingRegressor", {"loss": "poisson"}, "frame", "counts"),
    "boosted classes": ("CO2BoostingClassifier", {}, "numbers", "300 classes"),
    "boosted labels": ("CO2BoostingClassifier", {"split": "co2"}, "numbers", "3 classes"),
    "boosted gradients": ("CO2BoostingClassifier", {"split": "narrow"}, "frame", "3 classes"),
    "an ensemble": ("CO2EnsembleClassifier", {}, "frame", "3 classes"),
    "an ensemble of numbers": ("CO2EnsembleRegressor", {"n_rounds": 5}, "numbers", "number"),
}


def fit(name, threads):
    """A fit that takes minutes."""
    kind, params, rows, answers = FITS[name]
    estimator = estimator_class(kind)(random_state=0).set_params(**params)
    endless = {"n_estimators": 100_000, "n_jobs": threads}
    estimator.set_params(**{p: endless[p] for p in endless.keys() & estimator.get_params()})
    if "cost_matrix" in params:
        estimator.set_params(cost_matrix=costs(params["cost_matrix"]))
    X = ROWS[rows]()
    y = ANSWERS[answers](X.shape[0])
    return lambda: estimator.fit(X, y)


def segment(split, threads):
    images, maps = make_shapes(3, 200, 200)
    params = {"n_estimators": 10_000, "samples_per_tree": 10**5, "random_state": 0}
    model = ForestSegmenter(11, split=split, n_jobs=threads, **params)
    return lambda: model.fit(images, maps)


# --- what a fitted forest does


def fitted(rows, answers, threads, kind=CLASSES, **params):
    X = ROWS[rows]()
    y = ANSWERS[answers](X.shape[0])
    model = estimator_class(kind)(60, random_state=0, n_jobs=threads, **params)
    return model.fit(X[:2000], y[:2000]), X


def many(X):
    if isinstance(X, pd.DataFrame):
        return pd.concat([X] * 10, ignore_index=True)
    return sp.vstack([X] * 20).tocsr() if sp.issparse(X) else np.tile(X, (20, 1))


def ask(question, rows, threads, **params):
    model, X = fitted(rows, "3 classes", threads, **params)
    X = many(X)
    return lambda: getattr(model, question)(X)


def quantiles(threads):
    model, X = fitted("numbers", "number", threads, NUMBERS, keep_targets=True)
    return lambda: model.predict_quantiles(X, [0.1, 0.5, 0.9])


def explanations(threads):
    model, X = fitted("numbers", "3 classes", threads, mixture=None)
    return lambda: explain(model, X[:3000])


def rows_of_trees(threads):
    X = numbers(200_000, 2)
    params = {"bootstrap": True, "max_depth": 1, "mixture": None}
    model = co2forest.CO2ForestClassifier(200, random_state=0, n_jobs=threads, **params)
    model.fit(X, X[:, 0] > 0)
    return lambda: model.estimators_samples_


def segmented(threads):
    images, maps = make_shapes(2, 60, 60)
    model = ForestSegmenter(7, 4, samples_per_tree=500, random_state=0, n_jobs=threads)
    model.fit(images, maps)
    large = np.tile(images[0], (40, 40, 1))
    return lambda: model.predict(large)


def cheapest(threads):
    model, X = fitted("numbers", "3 classes", threads, cost_matrix=costs(3))
    return partial(model.predict, many(X))


WORK = {name: partial(fit, name) for name in FITS}
WORK |= {f"a segmenter, {split}": partial(segment, split) for split in ("co2", "two_probe", "axis")}
WORK |= {
    "predict": partial(ask, "predict", "numbers"),
    "predict probabilities of sparse rows": partial(ask, "predict_proba", "sparse"),
    "predict wide rows": partial(ask, "predict", "wide"),
    "predict categories": partial(ask, "predict", "frame"),
    "predict quantiles": quantiles,
    "predict the cheapest class": cheapest,
    "predict images": segmented,
    "apply": partial(ask, "apply", "bytes"),
    "decision paths": partial(ask, "decision_path", "numbers"),
    "explain": explanations,
    "rows of trees": rows_of_trees,
}
