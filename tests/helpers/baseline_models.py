# SPDX-License-Identifier: BSD-3-Clause
"""Forests in settings small enough for tests: the baselines, and CO2 forests for numbers."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from co2forest import CO2ForestRegressor
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
# As the baselines they draw rows, and grow until leaves are pure.
CO2_REGRESSORS = (
    CO2ForestRegressor(5, bootstrap=True, random_state=0, mixture=None),
    CO2ForestRegressor(
        5, bootstrap=True, loss="huber", keep_targets=True, random_state=0, mixture=None
    ),
    CO2ForestRegressor(
        5, bootstrap=True, loss="quantile", min_samples_leaf=1, random_state=0, mixture=None
    ),
)
FORESTS = BASELINES + CO2_REGRESSORS


def name_of(estimator):
    loss = getattr(estimator, "loss", "squared")
    return type(estimator).__name__ + ("" if loss == "squared" else f"-{loss}")


every_baseline = pytest.mark.parametrize("estimator", BASELINES, ids=name_of)
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
every_regressor = pytest.mark.parametrize(
    "estimator", [*REGRESSORS, CO2_REGRESSORS[0]], ids=name_of
)
every_forest = pytest.mark.parametrize("estimator", FORESTS, ids=name_of)


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
