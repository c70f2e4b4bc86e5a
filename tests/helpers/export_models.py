# SPDX-License-Identifier: BSD-3-Clause
"""Fitted estimators of every kind but plain forests of classes, for the tests of exports."""

import functools

import numpy as np
import pandas as pd
import scipy.sparse as sp

from baseline_models import REGRESSORS, fresh, name_of
from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
)
from co2forest.baselines import AxisForestRegressor

LOSSES = ("squared", "huber", "quantile", "poisson")
COSTS = [[0, 3, 1], [1, 0, 1], [5, 1, 0]]
# If each of three trees says another class, all decisions cost the same but for rounding.
TYING_COSTS = [[0, 5, 2], [3, 0, 4], [3, 1, 0]]


def rows(kind="plain"):
    rng = np.random.default_rng(0)
    if kind == "sparse":  # nodes list their features
        present = rng.random((400, 300)) < 0.02
        return sp.csr_array(np.where(present, rng.random((400, 300)), 0).astype(np.float32))
    if kind == "frame":
        return frame(rng)
    X = rng.normal(size=(400, 70 if kind == "bytes" else 6)).astype(np.float32)
    if kind == "bytes":
        return np.clip(40 * X + 128, 0, 255).astype(np.uint8)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def frame(rng, n=400):
    """Every kind of column; the second half has categories and gaps that the first has not."""
    later = np.arange(n) >= n // 2
    kind = rng.choice(["a", "b", "c", None], n, p=[0.4, 0.3, 0.2, 0.1])
    cities = np.array([f"city {i}" for i in range(70)], dtype=object)
    city = cities[np.minimum(rng.geometric(0.05, n), 69)]
    digit = pd.Series(rng.integers(5, size=n), dtype="Int64").where(~later | (rng.random(n) < 0.9))
    return pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "kind": np.where(later & (rng.random(n) < 0.1), "new", kind),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "city": np.where(later & (rng.random(n) < 0.1), "elsewhere", city),
            "digit": digit.astype("category"),
            "flag": rng.random(n) < 0.5,
            "pair": rng.choice(["yes", "no"], n),
            "one": "same",
        }
    )


def plain_features(X):
    """Two sums of features, of about the size of one."""
    if isinstance(X, pd.DataFrame):
        word = X["kind"].map({"a": 1.5, "b": -1.0}).fillna(0.0)
        place = X["city"].str.len() + X["digit"].astype(float).fillna(7.0)
        X = np.c_[X["number"], word, X["gaps"].isna(), np.sin(place)]
    X = np.nan_to_num(X.toarray() if sp.issparse(X) else X.astype(np.float64))
    half = X.shape[1] // 2
    sums = np.c_[X[:, :half].sum(axis=1), X[:, half:].sum(axis=1)]
    return (sums - sums.mean(axis=0)) / sums.std(axis=0)


def counts(X):
    return np.random.default_rng(1).poisson(np.exp(plain_features(X)))


def classes(X, labels=("a", "b", "c")):
    noise = np.random.default_rng(2).normal(size=len(plain_features(X)))
    code = (plain_features(X)[:, 0] > 0).astype(int) + (plain_features(X)[:, 1] + noise > 0)
    return np.asarray(labels)[np.minimum(code, len(labels) - 1)]


def indicators(X):
    noise = np.random.default_rng(3).normal(size=plain_features(X).shape)
    return np.c_[plain_features(X) > 0, plain_features(X) + noise > 0.5]


def fitted(estimator, kind, target, **params):
    """The estimator fitted on half of the rows, and all rows."""
    X = rows(kind)
    y = target(X)
    return fresh(estimator, random_state=0, **params).fit(X[:200], y[:200]), X


def first_count(X):
    return counts(X)[:, 0]


def wide_units(X):
    """Columns so different that float32 would lose all of one and overflow in another."""
    return np.c_[1e12 + plain_features(X)[:, 0], 1e200 * plain_features(X)[:, 1]]


def grows(estimator, kind, target, **params):
    return functools.partial(fitted, estimator, kind, target, **params)


FOREST, BOOSTING = CO2ForestRegressor(4, mixture=None), CO2BoostingRegressor(n_estimators=12)
CLASSES, BOOSTED_CLASSES = (
    CO2ForestClassifier(4, mixture=None),
    CO2BoostingClassifier(n_estimators=12),
)

# Names say what is predicted: numbers, labels (several per row), or classes.
MODELS = (
    {f"numbers: {loss}": grows(FOREST, "plain", first_count, loss=loss) for loss in LOSSES}
    | {f"numbers: boosted {loss}": grows(BOOSTING, "plain", counts, loss=loss) for loss in LOSSES}
    | {f"numbers: {name_of(e)}": grows(e, "missing", counts) for e in REGRESSORS}
    | {
        "numbers: tree": grows(CO2TreeRegressor(max_depth=5), "plain", wide_units),
        "numbers: other units": grows(FOREST, "missing", wide_units),
        "numbers: constant": grows(FOREST, "plain", lambda X: np.full(len(X), 7.5)),
        "numbers: boosted, missing": grows(BOOSTING, "missing", lambda X: plain_features(X)[:, 0]),
        "labels: forest": grows(CLASSES, "missing", lambda X: indicators(X).astype(int)),
        "labels: tree": grows(CO2TreeClassifier(max_depth=6), "plain", indicators),
        "labels: float": grows(CLASSES, "plain", lambda X: indicators(X).astype(np.float32)),
        "labels: half of the trees": grows(
            CO2ForestClassifier(2, mixture=None), "plain", indicators
        ),
        "classes: costs": grows(CLASSES, "missing", classes, cost_matrix=COSTS),
        "classes: costs, tree": grows(
            CO2TreeClassifier(max_depth=3), "bytes", classes, cost_matrix=COSTS
        ),
        "classes: costs, ties": grows(
            CO2ForestClassifier(3, mixture=None),
            "plain",
            classes,
            cost_matrix=np.multiply(TYING_COSTS, 0.3e308),
        ),
        "classes: costs, one class": grows(
            CLASSES, "plain", lambda X: np.zeros(len(X), dtype=int), cost_matrix=[[0]]
        ),
        "classes: boosted": grows(BOOSTED_CLASSES, "missing", classes),
        "classes: boosted, two": grows(
            BOOSTED_CLASSES, "plain", functools.partial(classes, labels=[-1, 1])
        ),
        "classes: boosted, one": grows(BOOSTED_CLASSES, "plain", lambda X: np.full(len(X), "a")),
        "classes: boosted, temperature": grows(
            BOOSTED_CLASSES, "plain", classes, early_stopping=True, learning_rate=1.0
        ),
        "classes: boosted, sure": grows(  # some probabilities are almost zero
            BOOSTED_CLASSES, "plain", classes, learning_rate=1.0, n_estimators=40
        ),
    }
    | {
        f"{what}: {kind}": grows(estimator, kind, target)
        for kind in ("sparse", "bytes")
        for what, estimator, target in (
            ("numbers", FOREST, counts),
            ("numbers: boosted", BOOSTING, first_count),
            ("labels", CLASSES, indicators),
            ("classes: boosted", BOOSTED_CLASSES, classes),
        )
    }
    | {
        f"{what}: frame": grows(estimator, "frame", target)
        for what, estimator, target in (
            ("numbers", FOREST, counts),
            ("numbers: boosted", BOOSTING, counts),
            ("numbers: axis", AxisForestRegressor(3), first_count),
            ("labels", CLASSES, indicators),
            ("classes", CLASSES, classes),
            ("classes: mixture", CO2ForestClassifier(8, mixture="auto"), classes),
            ("classes: tree", CO2TreeClassifier(), classes),
            ("classes: boosted", BOOSTED_CLASSES, classes),
        )
    }
)


SMALL = {"n_rounds": 12}
ENSEMBLES = {
    f"{what}: ensemble, {kind}": grows(estimator, kind, target)
    for kind in ("plain", "missing", "sparse", "bytes", "frame")
    for what, estimator, target in (
        ("numbers", CO2EnsembleRegressor(8, **SMALL), counts),
        ("classes", CO2EnsembleClassifier(8, **SMALL), classes),
    )
} | {
    "numbers: ensemble, one": grows(CO2EnsembleRegressor(8, **SMALL), "plain", first_count),
    "numbers: ensemble, other units": grows(CO2EnsembleRegressor(8, **SMALL), "plain", wide_units),
    "classes: ensemble, two": grows(
        CO2EnsembleClassifier(8, **SMALL), "plain", functools.partial(classes, labels=[-1, 1])
    ),
}


@functools.cache
def model(name):
    """A fitted estimator, and rows to predict."""
    return (MODELS | ENSEMBLES)[name]()


def is_exact(fitted):
    """Whether no exponential, which libraries round differently, is on the way to its numbers."""
    if isinstance(fitted, CO2EnsembleClassifier | CO2EnsembleRegressor):
        return is_exact(fitted.forest_) and is_exact(fitted.boosting_)
    if getattr(fitted._outputs, "calibration", None) is not None:
        return False
    boosted = isinstance(fitted, CO2BoostingClassifier | CO2BoostingRegressor)
    return not boosted or getattr(fitted, "loss", "") in ("squared", "huber", "quantile")


def votes_of(fitted, X):
    """The same before calibration."""
    if getattr(fitted._outputs, "calibration", None) is not None:
        return fitted._raw(X)
    return numbers_of(fitted, X)


def numbers_of(fitted, X):
    """What an export calculates before it decides, a column for each output."""
    if not hasattr(fitted, "predict_proba"):
        return fitted.predict(X).reshape(X.shape[0], -1)
    proba = fitted.predict_proba(X)
    return np.stack([p[:, 1] for p in proba], axis=1) if isinstance(proba, list) else proba
