# SPDX-License-Identifier: BSD-3-Clause
"""What is compared: estimators by name, and boosters with early stopping.

A library is imported only when one of its methods is needed. So a library that is not installed, or
a class that this version does not have, does not stop the others. All methods run on one thread.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

VALIDATION_FRACTION = 0.1
LEARNING_RATE = 0.1


class Counts(NamedTuple):
    """The size of a model."""

    trees: int  # all that were grown; boosters also count those after the best round
    rounds: float | None = None  # the number that a booster predicts with; mean over its models
    leaves: int | None = None


class Fitted(NamedTuple):
    """A model. Counting is a function, because only the time of the fit is measured."""

    predict: Callable
    counts: Callable[[], Counts]


@dataclass(frozen=True)
class Estimator:
    """A class with scikit-learn's interface, by the name of its module and its own."""

    label: str  # in tables
    module: str
    name: str
    parameters: dict = field(default_factory=dict)

    def missing(self):
        """What this machine lacks, or None."""
        try:
            found = self.find()
        except ModuleNotFoundError:
            return f"{self.module} is not installed"
        except AttributeError:
            return f"{self.module} has no {self.name}"
        unknown = self.parameters.keys() - found().get_params()
        return f"{self.name} has no parameter {', '.join(sorted(unknown))}" if unknown else None

    def find(self):
        return getattr(importlib.import_module(self.module), self.name)

    def version(self):
        return importlib.import_module(self.module.split(".", maxsplit=1)[0]).__version__

    def create(self, seed, **more):
        found = self.find()
        common = {"n_jobs": 1, "random_state": seed}
        known = {key: common[key] for key in common.keys() & found().get_params()}
        return found(**self.parameters, **known, **more)

    def fit(self, X, y, seed):
        model = self.create(seed).fit(X, y)
        return Fitted(model.predict, lambda: self.counts(model))

    @staticmethod
    def counts(model):
        trees = getattr(model, "estimators_", [model])
        leaves = [int(tree.get_n_leaves()) for tree in trees if hasattr(tree, "get_n_leaves")]
        return Counts(len(trees), leaves=sum(leaves) if leaves else None)


class Boosting(Estimator):
    """This library's boosting, which draws its own held-out rows for early stopping."""

    @staticmethod
    def counts(model):
        return Counts(trees=model.n_estimators_, rounds=model.n_estimators_)


@dataclass(frozen=True)
class EarlyStopped(Estimator):
    """A booster that gets its rows for early stopping; for a seed, all get the same rows."""

    patience: int = 50

    def parts(self, X, y, seed):
        """X, held-out X, y, held-out y; classes keep their shares."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import train_test_split

        classes = y if is_classifier(self.create(seed)) else None
        return train_test_split(
            X, y, test_size=VALIDATION_FRACTION, random_state=seed, stratify=classes
        )


class LightGBM(EarlyStopped):
    """One model for each output."""

    def fit(self, X, y, seed):
        X, X_held, y, y_held = self.parts(X, y, seed)
        if y.ndim == 1:
            models = [self.fit_one(X, y, X_held, y_held, seed)]
            predict = models[0].predict
        else:
            pairs = zip(y.T, y_held.T, strict=True)
            models = [self.fit_one(X, one, X_held, held, seed) for one, held in pairs]

            def predict(X):
                return np.column_stack([model.predict(X) for model in models])

        return Fitted(predict, lambda: self.counts(models))

    def fit_one(self, X, y, X_held, y_held, seed):
        from lightgbm import early_stopping

        stop = early_stopping(self.patience, verbose=False)
        model = self.create(seed, verbosity=-1)
        return model.fit(X, y, eval_X=X_held, eval_y=y_held, callbacks=[stop])

    @staticmethod
    def counts(models):
        trees = 0
        for model in models:
            (losses,) = model.evals_result_["valid_0"].values()  # one for each round that was grown
            trees += len(losses) * model.booster_.num_model_per_iteration()
        return Counts(trees, rounds=float(np.mean([model.best_iteration_ for model in models])))


class XGBoost(EarlyStopped):
    """All outputs in one model, with a tree for each in every round."""

    def fit(self, X, y, seed):
        X, X_held, y, y_held = self.parts(X, y, seed)
        model = self.create(seed, early_stopping_rounds=self.patience)
        model.fit(X, y, eval_set=[(X_held, y_held)], verbose=False)
        outputs = y.shape[1] if y.ndim == 2 else 1
        return Fitted(model.predict, lambda: self.counts(model, outputs))

    @staticmethod
    def counts(model, outputs):
        classes = getattr(model, "n_classes_", 1)
        per_round = classes if classes > 2 else outputs
        grown = model.get_booster().num_boosted_rounds()
        return Counts(grown * per_round, rounds=model.best_iteration + 1)
