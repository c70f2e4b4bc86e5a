"""The baselines in settings small enough for tests, and data for both kinds of targets."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from co2forest.baselines import (
    AxisForestClassifier,
    AxisForestRegressor,
    CARTLCForestClassifier,
    LDAForestClassifier,
    OC1ForestClassifier,
    TwoProbeForestClassifier,
    TwoProbeForestRegressor,
)

CLASSIFIERS = (
    AxisForestClassifier(5, random_state=0),
    TwoProbeForestClassifier(5, random_state=0),
    OC1ForestClassifier(3, n_restarts=3, random_state=0),
    CARTLCForestClassifier(3, random_state=0),
    LDAForestClassifier(5, random_state=0),
)
REGRESSORS = (AxisForestRegressor(5, random_state=0), TwoProbeForestRegressor(5, random_state=0))
BASELINES = CLASSIFIERS + REGRESSORS


def name_of(estimator):
    return type(estimator).__name__


every_baseline = pytest.mark.parametrize("estimator", BASELINES, ids=name_of)
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
every_regressor = pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)


def fresh(estimator, **params):
    return clone(estimator).set_params(**params)


def targets(estimator, codes):
    """Targets from the numbers of classes: names, or two columns of numbers in other units."""
    if is_regressor(estimator):
        return np.c_[codes * 1.5 - 3.0, 100.0 * codes**2]
    return np.array(["a", "b", "c"])[codes]


def outputs(fitted, X):
    """What a forest knows of rows: probabilities or numbers."""
    return fitted.predict(X) if is_regressor(fitted) else fitted.predict_proba(X)
