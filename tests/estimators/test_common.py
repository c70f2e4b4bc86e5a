# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks of an estimator, for the default and for unusual settings."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from baseline_models import BASELINES
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
from co2forest.baselines import AxisForestRegressor, TwoProbeForestClassifier

# A bootstrap draws rows, so a row of weight two and two equal rows are drawn differently.
_BOOTSTRAP = "a bootstrap draws rows, whatever their weights"
_BOOTSTRAP_FAILS = {
    "check_sample_weight_equivalence_on_dense_data": _BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": _BOOTSTRAP,
}

# Rows are held out one by one, and min_samples_leaf counts rows.
_ROWS = "rows are counted, whatever their weights"
_ROWS_FAIL = dict.fromkeys(_BOOTSTRAP_FAILS, _ROWS)

ESTIMATORS = [
    CO2ForestClassifier(n_estimators=5, mixture=None),
    CO2TreeClassifier(),
    CO2ForestClassifier(n_estimators=20, bootstrap=True, oob_score=True, mixture=None),
    CO2ForestClassifier(
        n_estimators=5, bootstrap=True, class_weight="balanced_subsample", mixture=None
    ),
    CO2ForestClassifier(n_estimators=5, warm_start=True, mixture=None),
    CO2ForestClassifier(n_estimators=5, solver="cccp", mixture=None),
    CO2TreeClassifier(solver="cccp"),
    CO2ForestClassifier(n_estimators=5, max_leaf_nodes=8, mixture=None),
    CO2ForestClassifier(n_estimators=5, scale=None, mixture=None),
    CO2ForestClassifier(n_estimators=5, n_jobs=2, mixture=None),
    CO2ForestRegressor(n_estimators=5, mixture=None),
    CO2TreeRegressor(),
    CO2ForestRegressor(
        n_estimators=20, bootstrap=True, oob_score=True, keep_targets=True, mixture=None
    ),
    CO2ForestRegressor(n_estimators=5, solver="select", loss="huber", mixture=None),
    CO2ForestRegressor(n_estimators=5, solver="cccp", mixture=None),
    CO2ForestRegressor(
        n_estimators=5, loss="quantile", min_samples_leaf=1, warm_start=True, mixture=None
    ),
    CO2ForestRegressor(n_estimators=5, loss="poisson", mixture=None),
    CO2BoostingClassifier(n_estimators=10),
    CO2BoostingClassifier(
        n_estimators=10, split="co2", early_stopping=False, calibrate=False, min_samples_leaf=1
    ),
    CO2BoostingRegressor(n_estimators=40),
    CO2BoostingRegressor(n_estimators=20, split="co2", early_stopping=False, min_samples_leaf=1),
    CO2BoostingRegressor(n_estimators=40, warm_start=True, early_stopping=True),
    CO2EnsembleClassifier(n_estimators=60, n_rounds=10),  # so that some rows tell the shares
    CO2EnsembleRegressor(n_estimators=5, n_rounds=20),
    *BASELINES,
    AxisForestRegressor(n_estimators=20, bootstrap=True, oob_score=True),
    AxisForestRegressor(n_estimators=5, bootstrap=False),
    TwoProbeForestClassifier(n_estimators=5, bootstrap=False),
]


_POISSON_FAILS = {"check_regressor_multioutput": "its targets are negative, whatever the tags say"}


def _expected_failed_checks(estimator):
    ensemble = isinstance(estimator, CO2EnsembleClassifier | CO2EnsembleRegressor)
    boosted = isinstance(estimator, CO2BoostingClassifier | CO2BoostingRegressor)
    if ensemble or (boosted and estimator.early_stopping):
        return _ROWS_FAIL
    if getattr(estimator, "loss", None) == "poisson":
        return _POISSON_FAILS
    return _BOOTSTRAP_FAILS if getattr(estimator, "bootstrap", False) else {}


# Some checks fit an estimator twice, so that a warm start has nothing to do; some have so few rows
# that the bootstraps of all trees may share one.
@pytest.mark.filterwarnings("ignore:.* rows were drawn by every tree:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # scikit-learn 1.6
@pytest.mark.filterwarnings("ignore:warm_start=True and n_estimators has not grown:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failed_checks)
def test_scikit_learn_check(estimator, check):
    check(estimator)
