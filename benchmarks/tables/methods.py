# SPDX-License-Identifier: BSD-3-Clause
"""What is compared. Everything is left at its default, apart from one thread and a seed of 0.

A library is imported only when one of its methods is needed, so one that is not installed does not
stop the others. Our own estimators get the raw frame. Boosters get categories as such, and forests
of scikit-learn codes. What a method does to its columns counts as fitting.
"""

import importlib
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError

import numpy as np

from tables.suites import REGRESSION

HELD_OUT = 0.1
PATIENCE = 50


@dataclass(frozen=True)
class Method:
    """Two classes with scikit-learn's interface, which take categories of pandas as they are."""

    label: str  # in tables
    module: str
    name: str  # of the classes, without Classifier or Regressor at the end
    parameters: dict = field(default_factory=dict)

    ours = False

    def find(self, task):
        kind = "Regressor" if task == REGRESSION else "Classifier"
        return getattr(importlib.import_module(self.module), self.name + kind)

    def missing(self):
        """What this machine lacks, or None."""
        try:
            found = [self.find(task) for task in (REGRESSION, "binary")]
        except ModuleNotFoundError:
            return f"{self.module} is not installed"
        except AttributeError:
            return f"{self.module} has no {self.name}"
        return self.lacks(found)

    def lacks(self, _found):
        return None

    def version(self):
        """The library's version, or "" if it is not installed but found on the path."""
        try:
            return importlib.import_module(self.module.split(".", maxsplit=1)[0]).__version__
        except PackageNotFoundError:
            return ""

    def create(self, task, **more):
        return self.find(task)(**self.parameters, **more)

    def encoder(self, _X, _categorical):
        """A function from raw frames to what the method takes.

        Names are replaced, because boosters refuse some characters in them.
        """
        return plain_names

    def fit(self, data):
        """A function from raw test rows to numbers, or to probabilities of all classes."""
        encode = self.encoder(data.X_train, data.categorical)
        model = self.train(data.task, encode(data.X_train), data.y_train)
        return lambda X: answers(model, encode(X), data)

    def train(self, task, X, y):
        return self.create(task).fit(X, y)


def plain_names(X):
    return X.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)


def answers(model, X, data):
    if data.task == REGRESSION:
        return np.asarray(model.predict(X))
    found = np.zeros((len(X), data.classes))  # a class may be missing in training
    found[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(X)
    return found


class Ours(Method):
    """An estimator of this library behind a TableModel."""

    ours = True

    def lacks(self, found):
        unknown = sorted(
            {key for each in found for key in self.parameters.keys() - each().get_params()}
        )
        return f"{self.name} has no parameter {', '.join(unknown)}" if unknown else None

    def create(self, task, **more):
        from co2forest.tables import TableModel

        found = self.find(task)
        common = {"n_jobs": 1, "random_state": 0}
        known = {key: common[key] for key in common.keys() & found().get_params()}
        return TableModel(super().create(task, **known, **more))

    def encoder(self, _X, _categorical):
        return lambda X: X


class Forest(Method):
    """A forest of scikit-learn: first categories as codes, then numbers.

    Codes are in the order of the categories. A gap comes after the last, and a category that
    training did not have is -1. Gaps among numbers are NaN.
    """

    def encoder(self, X, categorical):
        known = {
            name: X[name].cat.remove_unused_categories().cat.categories for name in categorical
        }
        numeric = [name for name in X.columns if name not in known]

        def encode(X):
            columns = [codes(X[name], categories) for name, categories in known.items()]
            columns += [X[name].to_numpy(dtype=float, na_value=np.nan) for name in numeric]
            return np.column_stack(columns)

        return encode


def codes(column, categories):
    found = column.cat.set_categories(categories).cat.codes.to_numpy(dtype=float)
    return np.where(column.isna(), len(categories), found)


class EarlyStopped(Method):
    """LightGBM with a tenth of the rows held out, to stop when they are predicted no better."""

    def train(self, task, X, y):
        from lightgbm import early_stopping
        from sklearn.model_selection import train_test_split

        classes = None if task == REGRESSION else y
        X, X_held, y, y_held = train_test_split(
            X, y, test_size=HELD_OUT, random_state=0, stratify=classes
        )
        stop = early_stopping(PATIENCE, verbose=False)
        return self.create(task).fit(X, y, eval_X=X_held, eval_y=y_held, callbacks=[stop])


class CatBoost(Method):
    """CatBoost wants to know its columns of categories, and takes no gaps in them."""

    def encoder(self, _X, categorical):
        def encode(X):
            X = X.copy()
            for name in categorical:
                X[name] = X[name].astype(object).where(X[name].notna(), "(missing)").astype(str)
            return plain_names(X)

        return encode

    def train(self, task, X, y):
        texts = [name for name in X.columns if X[name].dtype.kind not in "fiub"]
        return self.create(task, cat_features=texts).fit(X, y)


SKLEARN = {"n_jobs": 1, "random_state": 0}
LIGHTGBM = {"n_jobs": 1, "random_state": 0, "verbosity": -1}
SLOW_STEPS = {"n_estimators": 1000, "learning_rate": 0.05}
XGBOOST = {"n_jobs": 1, "random_state": 0, "enable_categorical": True}
CATBOOST = {"thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}

METHODS = {
    "co2forest": Ours("CO2 forest", "co2forest", "CO2Forest", {"mixture": "auto"}),
    "co2forest_plain": Ours("CO2 forest, plain", "co2forest", "CO2Forest", {"mixture": None}),
    "co2boosting": Ours("CO2 boosting", "co2forest", "CO2Boosting"),
    "co2ensemble": Ours("CO2 ensemble", "co2forest", "CO2Ensemble"),
    "random_forest": Forest("random forest", "sklearn.ensemble", "RandomForest", SKLEARN),
    "extra_trees": Forest("extra trees", "sklearn.ensemble", "ExtraTrees", SKLEARN),
    "lightgbm": Method("LightGBM", "lightgbm", "LGBM", LIGHTGBM),
    "lightgbm_early_stopping": EarlyStopped(
        "LightGBM, early stopping", "lightgbm", "LGBM", LIGHTGBM | SLOW_STEPS
    ),
    "xgboost": Method("XGBoost", "xgboost", "XGB", XGBOOST),
    "hist_gradient_boosting": Method(
        "HistGradientBoosting", "sklearn.ensemble", "HistGradientBoosting", {"random_state": 0}
    ),
    "catboost": CatBoost("CatBoost", "catboost", "CatBoost", CATBOOST),
}
