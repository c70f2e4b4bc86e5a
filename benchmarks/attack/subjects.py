# SPDX-License-Identifier: BSD-3-Clause
"""The libraries under attack, as the attacks use them."""

import importlib
import pickle

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from attack import estimators
from attack.outcomes import expect
from robustness.targets import TARGETS


class Ours:
    """Every estimator of co2forest, with random parameters."""

    name = "co2forest"
    # What says that an argument is not right.
    refusals = (ValueError, TypeError)

    def estimator(self, rng):
        return estimators.any_estimator(rng)

    def wants(self, model):
        """The answers for which it is, as words of `values.draw`."""
        tags = get_tags(model)
        several = is_regressor(model) or tags.classifier_tags.multi_label
        return {"of_numbers": is_regressor(model), "several": several}

    def plain(self):
        import co2forest

        return co2forest.CO2ForestClassifier(3, mixture=None, random_state=0)

    def save(self, model, path):
        model.save(path)

    def load(self, path):
        import co2forest

        return co2forest.load_model(path)

    def answers(self, model, X):
        """What a model says of rows, as an array of numbers, or of labels if it has no numbers."""
        if is_classifier(model):
            return as_array(model.predict_proba(X))
        return as_array(model.predict(X))

    def check(self, model, X, path):
        """Raise `Wrong` unless whatever a model says is sound, and the same in every way."""
        with np.errstate(all="ignore"):
            answers = self.answers(model, X)
            expect(not np.isnan(answers).any(), "answers are NaN")
            if is_classifier(model):
                _check_probabilities(model.predict_proba(X))
            expect(np.isfinite(model.feature_importances_).all(), "importances are not finite")
            leaves = model.apply(X) if hasattr(model, "apply") else answers  # ensembles have none
            expect(len(model.predict(X)) == len(leaves), "not a prediction for each row")
            copies = {"pickle": pickle.loads(pickle.dumps(model))}
            if storable(model):
                model.save(path)
                copies["file"] = self.load(path)
            for name, copy in copies.items():
                if hasattr(copy, "n_jobs"):
                    copy.set_params(n_jobs=2)
                expect(same(answers, self.answers(copy, X)), f"the {name} predicts something else")


def _check_probabilities(proba):
    for each in proba if isinstance(proba, list) else [proba]:
        expect(np.all((each >= 0) & (each <= 1 + 1e-9)), "not probabilities")
        expect(np.allclose(each.sum(axis=1), 1, atol=1e-6), "sums are not 1")


def storable(model):
    """Whether all its parameters can be written."""
    return not any(
        callable(value) or isinstance(value, np.random.RandomState)
        for value in model.get_params(deep=False).values()
    )


# Classifiers in scikit-learn's words, which can be fitted again.
ESTIMATORS = {
    "random_forest": ("sklearn.ensemble", "RandomForestClassifier", {}),
    "lightgbm": ("lightgbm", "LGBMClassifier", {"verbosity": -1}),
    "xgboost": ("xgboost", "XGBClassifier", {}),
}


class Peer:
    """Another library's classifier, with its defaults but for the number of trees."""

    refusals = (Exception,)  # each has its own ways to say no

    def __init__(self, name):
        self.name = name
        self.target = TARGETS[name]()
        self.form = self.target.formats()[0]

    def estimator(self, rng):  # noqa: ARG002 (whose parameters are not at random)
        return self.plain()

    def plain(self):
        if self.name not in ESTIMATORS:
            return _Trained(self.target)
        module, kind, params = ESTIMATORS[self.name]
        kind = getattr(importlib.import_module(module), kind)
        return kind(n_estimators=3, n_jobs=1, random_state=0, **params)

    def wants(self, model):  # noqa: ARG002
        return {"of_numbers": False, "several": False}

    def save(self, model, path):
        self.form.save(getattr(model, "model", model), path)

    def load(self, path):
        return self.form.load(path)

    def answers(self, model, X):
        return as_array(self.target.predictor(getattr(model, "model", model), 1)(X))

    def check(self, model, X, path):  # noqa: ARG002 (files have an attack of their own)
        answers = self.answers(model, X)
        expect(np.isfinite(answers).all(), "probabilities are not finite")
        expect(np.all((answers > -1e-6) & (answers < 1 + 1e-6)), "not probabilities")
        expect(np.allclose(answers, self.answers(model, X), atol=1e-6), "other probabilities")


class _Trained:
    """A model of a library that has no estimators."""

    def __init__(self, target):
        self.target = target

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002 (adapters know no weights)
        self.model = self.target.fit(X, y, 3, 1, 0)
        return self


def subject(name):
    return Ours() if name == "co2forest" else Peer(name)


def as_array(answers):
    """Answers for several outputs are a list of arrays."""
    return np.concatenate(answers, axis=1) if isinstance(answers, list) else np.asarray(answers)


def same(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()
