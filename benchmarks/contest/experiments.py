# SPDX-License-Identifier: BSD-3-Clause
"""The three comparisons: their sets, methods and error measures."""

from dataclasses import dataclass

import numpy as np

from contest.methods import (
    LEARNING_RATE,
    VALIDATION_FRACTION,
    Boosting,
    Estimator,
    LightGBM,
    XGBoost,
)


@dataclass(frozen=True)
class Experiment:
    """What is compared, and what its report shows."""

    name: str  # also the name of its files of results and of its report
    title: str
    about: str  # the text above the tables
    folder: str  # its data, inside the folder that CO2FOREST_DATA names
    sets: tuple[str, ...]
    methods: dict[str, Estimator]
    seeds: int
    error: str  # the name of the field
    references: tuple[str, ...]  # methods that the others are compared with
    details: dict[str, str]  # fields with a table of their own, and its heading

    @property
    def fields(self):
        measured = ["version", self.error, "fit_cpu_seconds", "trees", "rounds", "leaves"]
        return ["run", "set", "method", "seed", *measured]

    def prepared(self, y_train, y_test):
        """Targets as methods get them: classes as they are, numbers standardised.

        Otherwise a library's tolerances would matter for targets as small as those of ailerons, and
        the output with the largest unit would dominate several outputs.
        """
        if self.error != "rmse":
            return y_train, y_test
        mean, deviation = y_train.mean(axis=0, dtype=float), y_train.std(axis=0, dtype=float)
        return [(y - mean) / deviation for y in (y_train, y_test)]

    def error_of(self, predicted, y):
        """The error of predictions for prepared targets."""
        if self.error == "rmse":
            return float(np.sqrt(np.mean((predicted - y) ** 2)))
        return float(100 * np.mean(predicted != y))


def lightgbm(task, rounds, patience):
    parameters = {"n_estimators": rounds, "learning_rate": LEARNING_RATE}
    label = f"LightGBM, {rounds} rounds"
    return LightGBM(label, "lightgbm", f"LGBM{task}", parameters, patience)


def xgboost(task, rounds, patience):
    parameters = {"n_estimators": rounds, "learning_rate": LEARNING_RATE}
    return XGBoost(f"XGBoost, {rounds} rounds", "xgboost", f"XGB{task}", parameters, patience)


def co2_boosting(task, rounds, patience):
    parameters = {
        "n_estimators": rounds,
        "early_stopping": True,
        "validation_fraction": VALIDATION_FRACTION,
        "n_iter_no_change": patience,
    }
    label = f"CO2 boosting, {rounds} rounds"
    return Boosting(label, "co2forest", f"CO2Boosting{task}", parameters)


def forest(label, module, name, trees=100, **parameters):
    return Estimator(label, module, name, {"n_estimators": trees} | parameters)


REGRESSION = Experiment(
    name="regression",
    title="Regression",
    about="The error is the test RMSE in units of the standard deviation of the training targets. "
    "With several outputs it is the root of the mean squared standardised error over outputs and "
    "rows.",
    folder="regression",
    sets=(
        "california_housing",
        "cpu_act",
        "pol",
        "kin8nm",
        "protein_casp",
        "naval_2out",
        "kin40k",
        "ailerons",
        "sarcos_test4449_7out",
    ),
    methods={
        "random_forest": forest("random forest", "sklearn.ensemble", "RandomForestRegressor"),
        "extra_trees": forest("extra trees", "sklearn.ensemble", "ExtraTreesRegressor"),
        "lightgbm_500": lightgbm("Regressor", 500, 50),
        "lightgbm_3000": lightgbm("Regressor", 3000, 50),
        "xgboost_500": xgboost("Regressor", 500, 50),
        "co2_forest": forest("CO2 forest", "co2forest", "CO2ForestRegressor"),
        "co2_forest_select": forest(
            'CO2 forest, solver="select"', "co2forest", "CO2ForestRegressor", solver="select"
        ),
        "co2_boosting": co2_boosting("Regressor", 500, 50),
    },
    seeds=3,
    error="rmse",
    references=("random_forest", "lightgbm_500", "lightgbm_3000"),
    details={"fit_cpu_seconds": "CPU seconds of a fit", "rounds": "Rounds used"},
)

BOOSTING = Experiment(
    name="boosting",
    title="Boosting of classes",
    about="The error is the test error in %.",
    folder="paper",
    sets=("pendigits", "usps", "letter", "connect4", "covertype_subset", "mnist"),
    methods={
        "xgboost": xgboost("Classifier", 300, 30),
        "lightgbm": lightgbm("Classifier", 300, 30),
        "co2_forest": forest("CO2 forest", "co2forest", "CO2ForestClassifier"),
        "co2_boosting": co2_boosting("Classifier", 300, 30),
        "co2_boosting_1000": co2_boosting("Classifier", 1000, 50),  # its defaults
    },
    seeds=1,
    error="error_percent",
    references=("lightgbm", "xgboost"),
    details={"fit_cpu_seconds": "CPU seconds of a fit", "rounds": "Rounds used"},
)

PASSES = (0, 2, 5)  # refinement passes over a grown tree

REFINEMENT = Experiment(
    name="refinement",
    title="Refined trees",
    about="The error is the test error in %, of trees as grown (refine=0) and of refined trees.",
    folder="paper",
    sets=("pendigits", "letter", "satimage", "mnist"),
    methods={
        f"tree_{n}": Estimator(
            f"CO2 tree, refine={n}", "co2forest", "CO2TreeClassifier", {"refine": n}
        )
        for n in PASSES
    }
    | {
        f"forest_{n}": forest(
            f"10 CO2 trees, refine={n}", "co2forest", "CO2ForestClassifier", 10, refine=n
        )
        for n in PASSES
    },
    seeds=3,
    error="error_percent",
    references=("tree_0", "forest_0"),
    details={"leaves": "Leaves", "fit_cpu_seconds": "CPU seconds of a fit"},
)

EXPERIMENTS = {each.name: each for each in (REGRESSION, BOOSTING, REFINEMENT)}
