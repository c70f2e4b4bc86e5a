# SPDX-License-Identifier: BSD-3-Clause
"""The settings of model_digests.py: small models of every kind, and their data.

A new parameter, loss or kind of rows gets a setting here.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import scipy.sparse as sp

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2EnsembleClassifier,
    CO2EnsembleRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    baselines,
)
from co2forest.segmentation import ForestSegmenter
from co2forest.tables import TableEncoder, TableModel, fit_table


class Setting(NamedTuple):
    """A model to fit, and rows that it predicts."""

    name: str
    fit: Callable[[], Any]
    rows: Any


# Data. Matrix products and functions like exp differ by machine in the last bit; sums do not.


def normal(n_rows, n_features, seed):
    return np.random.default_rng(seed).standard_normal((n_rows, n_features))


X = normal(300, 6, seed=1)
NOISE = normal(300, 1, seed=2)[:, 0]
SCORE = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] * X[:, 3] + 0.4 * NOISE
Y = np.digitize(SCORE, [-0.7, 0.6])  # three classes
BINARY = (SCORE > 0).astype(int)
NUMBERS = 10 + 3 * SCORE
COUNTS = np.floor(np.maximum(0, 2 + 1.5 * SCORE))
LABELS = np.column_stack([SCORE > 0, X[:, 1] + X[:, 4] > 0.5, X[:, 5] > 1]).astype(int)
TWO_COUNTS = np.column_stack([COUNTS, 3 + LABELS[:, 0]])
TWO_NUMBERS = np.column_stack([NUMBERS, X[:, 4] * X[:, 5] + NOISE])
WHOLE = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)  # weights, zeros among them
FRACTIONS = np.random.default_rng(4).integers(1, 1000, len(X)) / 300
HOLES = np.where(np.random.default_rng(5).random(X.shape) < 0.15, np.nan, X)
FRAME = pd.DataFrame(X, columns=["length", "width", "B\xfchne", "a b", "x", "y"])
REPEATED = np.random.default_rng(6).integers(0, 4, (300, 4)).astype(float)  # many rows are equal
COSTS = [[0, 1, 5], [2, 0, 1], [9, 3, 0]]

# Features in different units, and enough rows that a trial chooses the scale.
UNITS = normal(600, 5, seed=7) * [1.0, 1000.0, 0.01, 30.0, 1.0]
UNITS_SCORE = UNITS[:, 0] + UNITS[:, 1] / 1000 - 100 * UNITS[:, 2] * UNITS[:, 4]
UNITS_Y = np.digitize(UNITS_SCORE, [-0.5, 0.5])

# A node looks at 4000 of its rows; a root of more draws them.
MANY = normal(4500, 3, seed=8).astype(np.float32)
MANY_SCORE = MANY[:, 0] + MANY[:, 1] * MANY[:, 2]

# Images: squares whose place tells the class, in noise.
PIXELS = np.random.default_rng(9).integers(0, 90, (200, 196), dtype=np.uint8)
PIXELS_Y = np.arange(200) % 4
for _image, _place in zip(PIXELS.reshape(200, 14, 14), PIXELS_Y, strict=True):
    _image[2 + 6 * (_place // 2) :, 2 + 6 * (_place % 2) :][:5, :5] += 100

# Words of texts: few of many features are not zero.
_WORDS = np.random.default_rng(10)
WORDS = sp.csr_matrix(
    (_WORDS.integers(1, 5, 2400).astype(float), _WORDS.integers(0, 120, 2400), range(0, 2401, 8)),
    shape=(300, 120),
)
WORDS.sum_duplicates()
WORDS_SCORE = np.asarray(WORDS[:, :60].sum(axis=1) - WORDS[:, 60:].sum(axis=1)).ravel()
WORDS_Y = np.digitize(WORDS_SCORE, [-5, 5])

# Pictures of 24 x 20 pixels with three channels, and a map of two classes and pixels of neither.
PICTURES = np.random.default_rng(11).integers(0, 120, (3, 24, 20, 3), dtype=np.uint8)
MAPS = np.zeros((3, 24, 20), dtype=np.uint8)
for _number in range(3):
    MAPS[_number, 4 + 2 * _number : 14 + 2 * _number, 5:15] = 1
PICTURES[MAPS == 1] += 70
MAPS[:, :, 17:] = np.where(np.random.default_rng(12).random((3, 24, 3)) < 0.5, 2, MAPS[:, :, 17:])
FLOAT_PICTURES = (PICTURES / np.array([1, 16, 256])).astype(np.float32)


# Settings, by kind of model.

# Settings without a mixture are those that have always been there.
plain = {"mixture": None, "oob_score": False, "random_state": 0}
classifier = partial(CO2ForestClassifier, n_estimators=4, **plain)
regressor = partial(CO2ForestRegressor, n_estimators=4, **plain)
boosting_classifier = partial(CO2BoostingClassifier, n_estimators=8, random_state=0)
boosting_regressor = partial(CO2BoostingRegressor, n_estimators=12, random_state=0)


def fitted(estimator, X, y, sample_weight=None, **params):
    """How a setting fits. It is called later, so that only those that are asked for cost time."""

    def fit():
        return estimator(**params).fit(X, y, sample_weight=sample_weight)

    return fit


def with_more_trees(estimator, more, X, y, **params):
    """A fit that is continued."""

    def fit():
        model = estimator(warm_start=True, **params).fit(X, y)
        return model.set_params(n_estimators=more).fit(X, y)

    return fit


def in_processes(fit):
    """A fit whose trees grow in other processes."""

    def fit_there():
        with joblib.parallel_config("loky", n_jobs=2):
            return fit()

    return fit_there


def fit_with_generator():
    return classifier(n_estimators=3, random_state=np.random.RandomState(5)).fit(X, Y)


def one_tree_of(fit):
    return lambda: fit().estimators_[1]


def growth_settings(family, estimator, y, units_y):
    """What the trees of classifiers and regressors have in common."""
    for name, params in {
        "best_first": {"max_leaf_nodes": 9},
        "max_depth": {"max_depth": 3},
        "leaf_fraction": {"min_samples_leaf": 0.06},
        "leaf_of_5": {"min_samples_leaf": 5},
        "split_fraction": {"min_samples_split": 0.2},
        "least_decrease": {"min_impurity_decrease": 0.02},
        "least_weight_of_leaf": {"min_weight_fraction_leaf": 0.05},
        "refine": {"refine": 2},
        "refine_bootstrap": {"refine": 2, "bootstrap": True},
        "refine_best_first": {"refine": 1, "max_leaf_nodes": 9},
        "all_features": {"max_features": None},
        "log2_features": {"max_features": "log2", "max_depth": 6},
        "fraction_of_features": {"max_features": 0.5},
        "three_features": {"max_features": 3},
        "nu_and_rate": {"nu": 4.0, "learning_rate": 0.02},
        "cccp": {"solver": "cccp"},
        "cccp_nu_and_rate": {"solver": "cccp", "nu": 4.0, "learning_rate": 0.02},
        "cccp_period": {"solver": "cccp", "cccp_period": 3, "max_iter": 40, "batch_size": 30},
        "optimiser": {"batch_size": 50, "momentum": 0.5, "max_iter": 30, "tol": 0.01},
        "bootstrap": {"bootstrap": True},
        "out_of_bag": {"bootstrap": True, "oob_score": True, "n_estimators": 15},
        "out_of_bag_fraction": {"max_samples": 0.5, "oob_score": True, "n_estimators": 15},
        "fraction_of_rows": {"bootstrap": True, "max_samples": 0.4},
        "number_of_rows": {"max_samples": 100},
        "threads": {"n_jobs": 2},
        "mixture": {"mixture": "auto", "n_estimators": 12},
        "mixture_out_of_bag": {"mixture": "auto", "oob_score": True, "max_samples": 0.7},
        "mixture_insisted": {"mixture": "auto", "oob_score": True, "n_estimators": 15},
        "all_defaults": {"mixture": "auto", "oob_score": "auto", "n_estimators": 12},
    }.items():
        yield Setting(f"{family}/{name}", fitted(estimator, X, y, **params), X)
    for scale in ("auto", "standard", "soft", "minmax", "global", None):
        fit = fitted(estimator, UNITS, units_y, scale=scale)
        yield Setting(f"{family}/units_{scale}", fit, UNITS)
    for name, rows in {
        "default": X,
        "float32": X.astype(np.float32),
        "float32_fortran": np.asfortranarray(X, dtype=np.float32),
        "csr_floats": sp.csr_matrix(np.where(X > 0, X, 0)),
        "missing": HOLES,
        "frame": FRAME,
        "frame_missing": pd.DataFrame(HOLES, columns=FRAME.columns),
        "equal_rows": REPEATED,
        "one_feature": X[:, :1],
        "constant_feature": np.column_stack([X[:, :2], np.ones(len(X))]),
        "large_numbers": X * 1e12 + 1e13,
    }.items():
        yield Setting(f"{family}/{name}", fitted(estimator, rows, y), rows)
    yield Setting(f"{family}/whole_weights", fitted(estimator, X, y, WHOLE), X)
    yield Setting(f"{family}/fractional_weights", fitted(estimator, X, y, FRACTIONS), X)
    bagged = fitted(estimator, X, y, WHOLE, bootstrap=True, max_samples=0.7)
    yield Setting(f"{family}/weights_bootstrap", bagged, X)
    yield Setting(f"{family}/warm_start", with_more_trees(estimator, 7, X, y), X)
    bagged = with_more_trees(estimator, 14, X, y, bootstrap=True, oob_score=True, n_estimators=9)
    yield Setting(f"{family}/warm_start_out_of_bag", bagged, X)
    yield Setting(f"{family}/processes", in_processes(fitted(estimator, X, y, n_estimators=9)), X)
    yield Setting(f"{family}/one_tree", one_tree_of(fitted(estimator, X, y, bootstrap=True)), X)


def classifier_settings():
    yield from growth_settings("forest", classifier, Y, UNITS_Y)
    words = np.array(["cat", 'a "dog"', "\N{OWL}\n"], dtype=object)
    for name, classes in {
        "objects": words,
        "strings": words.astype("U20"),
        "integers": np.array([-7, 3, 2**40]),
        "bytes_of_8": np.array([1, 2, 3], dtype=np.uint8),
        "floats": np.array([-1.0, 0.0, 2.0]),
        "dates": np.array(["1969-12-31", "2015-11-16", "2020-02-29"], dtype="M8[D]"),
        "booleans": np.array([False, True, True]),
        "one": np.array(["only", "only", "only"]),
    }.items():
        yield Setting(f"forest/labels_{name}", fitted(classifier, X, classes[Y]), X)
    series = pd.Series(words[Y], name="kind")
    yield Setting("forest/labels_series", fitted(classifier, FRAME, series), FRAME)
    dates = np.array(["2001-01-01", "2002-02-02", "2003-03-03"], dtype="M8[s]")[Y]
    tree = fitted(CO2TreeClassifier, X, dates, random_state=0)
    yield Setting("tree/labels_seconds", tree, X)

    for name, params in {
        "weights_of_classes": {"class_weight": {0: 3.0, 1: 0.5}},
        "balanced": {"class_weight": "balanced"},
        "balanced_subsample": {"class_weight": "balanced_subsample", "bootstrap": True},
        "costs": {"cost_matrix": COSTS},
        "costs_cccp": {"cost_matrix": COSTS, "solver": "cccp"},
        "costs_balanced": {"cost_matrix": COSTS, "class_weight": "balanced"},
        "costs_refine": {"cost_matrix": COSTS, "refine": 2},
        "costs_out_of_bag": {
            "cost_matrix": COSTS,
            "bootstrap": True,
            "oob_score": True,
            "n_estimators": 15,
        },
    }.items():
        yield Setting(f"forest/{name}", fitted(classifier, X, Y, **params), X)
    both = fitted(classifier, X, Y, FRACTIONS, class_weight="balanced_subsample", bootstrap=True)
    yield Setting("forest/balanced_subsample_weights", both, X)
    costs = in_processes(fitted(classifier, X, Y, n_estimators=9, cost_matrix=COSTS))
    yield Setting("forest/costs_processes", costs, X)
    yield Setting("forest/generator", fit_with_generator, X)

    for name, params in {
        "several": {},
        "several_cccp": {"solver": "cccp"},
        "several_refine": {"refine": 2},
        "several_balanced": {"class_weight": "balanced"},
        "several_out_of_bag": {"bootstrap": True, "oob_score": True, "n_estimators": 15},
    }.items():
        yield Setting(f"forest/{name}", fitted(classifier, X, LABELS, **params), X)
    yield Setting("forest/several_booleans", fitted(classifier, X, LABELS.astype(bool)), X)
    yield Setting("forest/several_weights", fitted(classifier, X, LABELS, FRACTIONS), X)
    yield Setting("forest/several_csr", fitted(classifier, WORDS, LABELS), WORDS)

    few = PIXELS[:, 30:45]
    yield Setting("forest/few_bytes", fitted(classifier, few, PIXELS_Y), few)
    yield Setting("forest/many_rows", fitted(classifier, MANY, MANY_SCORE > 0), MANY)
    three = np.digitize(MANY_SCORE, [-1, 1])
    costs = fitted(classifier, MANY, three, n_estimators=2, cost_matrix=COSTS)
    yield Setting("forest/many_rows_costs", costs, MANY)
    for name, params in {"": {}, "_refine": {"refine": 2}, "_cccp": {"solver": "cccp"}}.items():
        yield Setting(f"forest/bytes{name}", fitted(classifier, PIXELS, PIXELS_Y, **params), PIXELS)
        yield Setting(f"forest/csr{name}", fitted(classifier, WORDS, WORDS_Y, **params), WORDS)
    standard = fitted(classifier, WORDS, WORDS_Y, scale="standard")
    yield Setting("forest/csr_standard", standard, WORDS)
    yield Setting("forest/csr_weights", fitted(classifier, WORDS, WORDS_Y, WHOLE), WORDS)

    for name, params in {
        "default": {},
        "costs": {"cost_matrix": COSTS},
        "best_first": {"max_leaf_nodes": 9, "class_weight": "balanced"},
        "refine": {"refine": 2, "min_samples_leaf": 3},
    }.items():
        yield Setting(f"tree/{name}", fitted(CO2TreeClassifier, X, Y, random_state=0, **params), X)
    yield Setting("tree/several", fitted(CO2TreeClassifier, X, LABELS, random_state=0), X)


def regressor_settings():
    yield from growth_settings("regressor", regressor, NUMBERS, UNITS_SCORE)
    losses = {
        "squared": {"loss": "squared"},
        "huber": {"loss": "huber", "delta": 0.8},
        "quantile": {"loss": "quantile", "alpha": 0.8},
        "poisson": {"loss": "poisson"},
    }
    for loss, params in losses.items():
        for solver in ("auto", "ridge", "warm", "cccp", "select"):
            fit = fitted(regressor, X, COUNTS, solver=solver, **params)
            yield Setting(f"regressor/{loss}_{solver}", fit, X)
        for name, fit in {
            "kept": fitted(regressor, X, COUNTS, keep_targets=True, **params),
            "refine": fitted(regressor, X, COUNTS, refine=2, **params),
            "weights": fitted(regressor, X, COUNTS, FRACTIONS, **params),
            "best_first": fitted(regressor, X, COUNTS, max_leaf_nodes=9, **params),
            "out_of_bag": fitted(
                regressor, X, COUNTS, bootstrap=True, oob_score=True, n_estimators=15, **params
            ),
            "two_outputs": fitted(regressor, X, TWO_COUNTS, **params),
            "processes": in_processes(fitted(regressor, X, COUNTS, n_estimators=9, **params)),
        }.items():
            yield Setting(f"regressor/{loss}_{name}", fit, X)
    for name, params in {
        "two_outputs": {},
        "two_outputs_cccp": {"solver": "cccp"},
        "two_outputs_refine": {"refine": 2},
        "two_outputs_kept": {"keep_targets": True, "bootstrap": True},
    }.items():
        yield Setting(f"regressor/{name}", fitted(regressor, X, TWO_NUMBERS, **params), X)
    kept = with_more_trees(regressor, 7, X, NUMBERS, keep_targets=True, bootstrap=True)
    yield Setting("regressor/warm_start_kept", kept, X)
    tree = one_tree_of(fitted(regressor, X, NUMBERS, keep_targets=True, bootstrap=True))
    yield Setting("regressor/one_tree_kept", tree, X)
    weighted = fitted(regressor, X, NUMBERS, WHOLE, keep_targets=True)
    yield Setting("regressor/kept_weights", weighted, X)
    select = fitted(regressor, UNITS, UNITS_SCORE, solver="select")
    yield Setting("regressor/units_select", select, UNITS)
    select = in_processes(fitted(regressor, X, NUMBERS, solver="select", n_estimators=9))
    yield Setting("regressor/select_processes", select, X)
    yield Setting("regressor/many_rows", fitted(regressor, MANY, MANY_SCORE, n_estimators=2), MANY)
    yield Setting("regressor/bytes", fitted(regressor, PIXELS, PIXELS_Y), PIXELS)
    yield Setting("regressor/csr", fitted(regressor, WORDS, WORDS_SCORE), WORDS)
    yield Setting("regressor/csr_refine", fitted(regressor, WORDS, WORDS_SCORE, refine=2), WORDS)
    for name, params in {
        "default": {},
        "huber": {"loss": "huber"},
        "kept": {"keep_targets": True, "min_samples_leaf": 4},
        "select": {"solver": "select"},
    }.items():
        fit = fitted(CO2TreeRegressor, X, NUMBERS, random_state=0, **params)
        yield Setting(f"tree_regressor/{name}", fit, X)
    fit = fitted(CO2TreeRegressor, X, TWO_NUMBERS, random_state=0)
    yield Setting("tree_regressor/two_outputs", fit, X)


def boosting_settings():
    stopping = {"early_stopping": True, "n_iter_no_change": 3, "n_estimators": 40}
    shared = {
        "default": {},
        "early_stopping": stopping,
        "early_stopping_weights": stopping,
        "subsample": {"subsample": 0.5},
        "max_depth": {"max_depth": 3, "max_leaf_nodes": None},
        "max_leaf_nodes": {"max_leaf_nodes": 6},
        "leaf_fraction": {"min_samples_leaf": 0.05},
        "rate": {"learning_rate": 0.3, "l2_regularization": 0.5},
        "features": {"max_features": 3},
        "standard": {"scale": "standard"},
        "narrow": {"split": "narrow"},
        "co2": {"split": "co2"},
        "co2_folds": {"split": "co2", "n_folds": 2, "validation_fraction": 0.3},
        "all_rounds": {"early_stopping": False},
    }
    for family, estimator, y in (
        ("boosting", boosting_classifier, Y),
        ("boosting_regressor", boosting_regressor, NUMBERS),
    ):
        for name, params in shared.items():
            weights = WHOLE if name.endswith("weights") else None
            yield Setting(f"{family}/{name}", fitted(estimator, X, y, weights, **params), X)
        for name, rows in {
            "float32": X.astype(np.float32),
            "missing": HOLES,
            "frame": FRAME,
            "csr": WORDS,
        }.items():
            yield Setting(f"{family}/{name}", fitted(estimator, rows, y), rows)
        yield Setting(f"{family}/bytes", fitted(estimator, PIXELS, PIXELS_Y), PIXELS)
        units_y = UNITS_Y if family == "boosting" else UNITS_SCORE
        yield Setting(f"{family}/units", fitted(estimator, UNITS, units_y), UNITS)
        yield Setting(f"{family}/weights", fitted(estimator, X, y, FRACTIONS), X)
        yield Setting(f"{family}/warm_start", with_more_trees(estimator, 20, X, y), X)
        stopped = with_more_trees(estimator, 20, X, y, early_stopping=True, n_iter_no_change=5)
        yield Setting(f"{family}/warm_start_stopping", stopped, X)
    words = np.array(["no", "yes"])[BINARY]
    yield Setting("boosting/binary", fitted(boosting_classifier, X, words), X)
    for name, weight in {"balanced": "balanced", "weights_of_classes": {0: 3.0, 1: 0.5}}.items():
        fit = fitted(boosting_classifier, X, Y, class_weight=weight)
        yield Setting(f"boosting/{name}", fit, X)
    for loss in ("squared", "huber", "quantile", "poisson"):
        counts = partial(fitted, boosting_regressor, X, COUNTS, loss=loss, alpha=0.8, delta=0.8)
        yield Setting(f"boosting_regressor/{loss}", counts(), X)
        yield Setting(f"boosting_regressor/{loss}_stopping", counts(**stopping), X)
        yield Setting(f"boosting_regressor/{loss}_subsample", counts(subsample=0.5), X)


def ensemble_settings():
    for family, kind, y in (
        ("ensemble", CO2EnsembleClassifier, Y),
        ("ensemble_regressor", CO2EnsembleRegressor, NUMBERS),
    ):
        estimator = partial(kind, n_estimators=12, n_rounds=8, random_state=0)
        for name, rows, weights in (
            ("default", X, None),
            ("weights", X, FRACTIONS),
            ("missing", HOLES, None),
            ("frame", FRAME, None),
            ("csr", WORDS, None),
        ):
            yield Setting(f"{family}/{name}", fitted(estimator, rows, y, weights), rows)


def baseline_settings():
    for name in sorted(baselines.__all__):
        estimator = partial(getattr(baselines, name), n_estimators=4, random_state=0)
        classes = name.endswith("Classifier")
        y = Y if classes else NUMBERS
        yield Setting(f"{name}/default", fitted(estimator, X, y), X)
        yield Setting(f"{name}/no_bootstrap", fitted(estimator, X, y, bootstrap=False), X)
        yield Setting(f"{name}/weights", fitted(estimator, X, y, FRACTIONS), X)
        yield Setting(f"{name}/missing", fitted(estimator, HOLES, y), HOLES)
        yield Setting(f"{name}/bytes", fitted(estimator, PIXELS, PIXELS_Y), PIXELS)
        words = WORDS_Y if classes else WORDS_SCORE
        yield Setting(f"{name}/csr", fitted(estimator, WORDS, words), WORDS)
        yield Setting(f"{name}/best_first", fitted(estimator, X, y, max_leaf_nodes=9), X)
        bagged = fitted(estimator, X, y, oob_score=True, n_estimators=15, max_depth=4)
        yield Setting(f"{name}/out_of_bag", bagged, X)
        yield Setting(f"{name}/warm_start", with_more_trees(estimator, 7, X, y), X)
        units = fitted(estimator, UNITS, UNITS_Y if classes else UNITS_SCORE)
        yield Setting(f"{name}/units", units, UNITS)
        processes = in_processes(fitted(estimator, X, y, n_estimators=9))
        yield Setting(f"{name}/processes", processes, X)
        if classes:
            balanced = fitted(estimator, X, Y, class_weight="balanced_subsample")
            yield Setting(f"{name}/balanced_subsample", balanced, X)
        else:
            yield Setting(f"{name}/two_outputs", fitted(estimator, X, TWO_NUMBERS), X)


def segmenter_settings():
    def segmenter(images=PICTURES, **params):
        base = {"window": 5, "n_estimators": 3, "samples_per_tree": 400, "random_state": 0}
        return lambda: ForestSegmenter(**(base | params)).fit(images, MAPS)

    def warm():
        model = segmenter(warm_start=True)()
        return model.set_params(n_estimators=5).fit(PICTURES, MAPS)

    for split in ("co2", "two_probe", "axis"):
        for name, images in {"bytes": PICTURES, "floats": FLOAT_PICTURES}.items():
            yield Setting(f"segmenter/{split}_{name}", segmenter(images, split=split), images[0])
        reflect = segmenter(split=split, border="reflect", max_depth=6)
        yield Setting(f"segmenter/{split}_reflect", reflect, PICTURES[0])
    for name, params in {
        "centred": {"center": True},
        "unbalanced": {"balance": False},
        "ignored": {"ignore_label": 2},
        "refine": {"refine": 2},
        "cccp": {"solver": "cccp"},
        "standard": {"scale": "standard"},
        "best_first": {"max_leaf_nodes": 9},
        "pairs": {"split": "two_probe", "n_pairs": 7},
    }.items():
        yield Setting(f"segmenter/{name}", segmenter(**params), PICTURES[0])
    grey = FLOAT_PICTURES[..., 0]
    yield Setting("segmenter/grey_centred", segmenter(grey, center=True), grey[0])
    yield Setting("segmenter/warm_start", warm, PICTURES[0])


def table_settings():
    pick = np.random.default_rng(13).integers(0, 4, len(X))
    frame = pd.DataFrame(
        {
            "number": np.where(X[:, 0] > 1, np.nan, X[:, 0].round(4)),
            "kind": np.array(["a", "b", "\N{OWL}", None], dtype=object)[pick],
            "many": [f"c{i % 9}" if i < 250 else f"rare {i}" for i in range(len(X))],
            "day": [f"20{10 + i % 13}-0{1 + i % 9}-1{i % 7} 1{i % 10}:30" for i in range(len(X))],
            "switch": X[:, 2] > 0,
            "remark": [f"text {i}" if i % 3 else None for i in range(len(X))],
            "id": np.arange(len(X)),
            "class": np.array(["no", "yes", "perhaps"], dtype=object)[Y],
            "amount": NUMBERS.round(4),
        }
    )
    classes, numbers = frame.drop(columns="amount"), frame.drop(columns="class")
    counts = numbers.assign(amount=COUNTS)
    encoder = TableEncoder(drop=["id"], keep=["remark"], categorical=["switch"])
    axis = baselines.AxisForestClassifier(4, random_state=0)
    for name, model, rows in (
        ("classes", TableModel(classifier(), target="class"), classes),
        ("numbers", TableModel(regressor(), target="amount"), numbers),
        ("counts", TableModel(regressor(), target="amount", task="regression"), counts),
        ("encoder", TableModel(classifier(), target="class", encoder=encoder), classes),
        ("boosting", TableModel(boosting_regressor(), target="amount"), numbers),
        ("baseline", TableModel(axis, target="class"), classes),
        ("defaults", TableModel(target="class", random_state=0), classes),
    ):
        yield Setting(f"table/{name}", partial(model.fit, rows), rows)
    fit = partial(fit_table, classes, "class", estimator=classifier(), sample_weight=FRACTIONS)
    yield Setting("table/weights", fit, classes)


def dask_settings():
    import dask.array as da

    from co2forest.dask import DaskCO2ForestClassifier, DaskCO2ForestRegressor

    def lazy(rows, chunk=110):
        if sp.issparse(rows):
            parts = [rows[i : i + chunk] for i in range(0, rows.shape[0], chunk)]
            blocks = [da.from_array(part.toarray(), chunks=part.shape) for part in parts]
            return da.concatenate(blocks).map_blocks(sp.csr_matrix)
        return da.from_array(rows, chunks=(chunk, *rows.shape[1:]))

    def fit(estimator, X, y, weights=None, **params):
        base = {"n_estimators": 5} | plain
        lazy_weights = None if weights is None else lazy(weights)
        model = estimator(**(base | params))
        return model.fit(lazy(X), lazy(y), sample_weight=lazy_weights)

    def more():
        model = DaskCO2ForestClassifier(3, warm_start=True, **plain).fit(lazy(X), lazy(Y))
        return model.set_params(estimator__n_estimators=6).fit(lazy(X), lazy(Y))

    classes, numbers = DaskCO2ForestClassifier, DaskCO2ForestRegressor
    for name, arguments, params in (
        ("classes", (classes, X, Y), {}),
        ("classes_defaults", (classes, X, Y), {"mixture": "auto", "oob_score": "auto"}),
        ("classes_draws", (classes, X, Y), {"bootstrap": False, "max_samples": 0.5}),
        ("classes_out_of_bag", (classes, X, Y), {"oob_score": True, "n_estimators": 15}),
        ("classes_weights", (classes, X, Y, FRACTIONS), {}),
        ("classes_balanced", (classes, X, Y), {"class_weight": "balanced"}),
        ("classes_missing", (classes, HOLES, Y), {}),
        ("classes_cccp", (classes, X, Y), {"solver": "cccp", "max_depth": 4}),
        ("classes_refine", (classes, X, Y), {"refine": 2}),
        ("classes_units", (classes, UNITS, UNITS_Y), {}),
        ("classes_tasks_of_1", (classes, X, Y), {"trees_per_task": 1}),
        ("costs", (classes, X, Y), {"cost_matrix": COSTS}),
        ("several", (classes, X, LABELS), {}),
        ("bytes", (classes, PIXELS, PIXELS_Y), {}),
        ("csr", (classes, WORDS, WORDS_Y), {}),
        ("strings", (classes, X, np.array(["a", "bc", "d"])[Y]), {}),
        ("numbers", (numbers, X, NUMBERS), {}),
        ("numbers_out_of_bag", (numbers, X, NUMBERS), {"oob_score": True, "n_estimators": 15}),
        ("numbers_weights", (numbers, X, NUMBERS, WHOLE), {}),
        ("numbers_poisson", (numbers, X, COUNTS), {"loss": "poisson"}),
        ("numbers_quantile", (numbers, X, COUNTS), {"loss": "quantile", "alpha": 0.8}),
        ("numbers_huber", (numbers, X, COUNTS), {"loss": "huber"}),
        ("numbers_select", (numbers, X, NUMBERS), {"solver": "select"}),
        ("two_outputs", (numbers, X, TWO_NUMBERS), {}),
    ):
        yield Setting(f"dask/{name}", partial(fit, *arguments, **params), arguments[1])
    yield Setting("dask/classes_warm_start", more, X)


@contextmanager
def workers():
    """A cluster of two threads for the settings on Dask."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        yield


SETTINGS = (
    classifier_settings,
    regressor_settings,
    boosting_settings,
    ensemble_settings,
    baseline_settings,
    segmenter_settings,
    table_settings,
)
