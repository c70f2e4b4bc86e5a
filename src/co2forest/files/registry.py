# SPDX-License-Identifier: BSD-3-Clause
"""Which class reads a model file: modules by name, so that only the one needed is imported."""

from importlib import import_module
from typing import Any

# Every estimator that a file may name, and its module.
ESTIMATORS = {
    "CO2ForestClassifier": "co2forest.estimators.classifier",
    "CO2TreeClassifier": "co2forest.estimators.classifier",
    "CO2ForestRegressor": "co2forest.estimators.regressor",
    "CO2TreeRegressor": "co2forest.estimators.regressor",
    "CO2BoostingClassifier": "co2forest.estimators.boosting",
    "CO2BoostingRegressor": "co2forest.estimators.boosting",
    "CO2EnsembleClassifier": "co2forest.estimators.ensemble",
    "CO2EnsembleRegressor": "co2forest.estimators.ensemble",
    "ForestSegmenter": "co2forest.segmentation.segmenter",
    "AxisForestClassifier": "co2forest.baselines",
    "AxisForestRegressor": "co2forest.baselines",
    "BaselineForestClassifier": "co2forest.baselines",
    "BaselineForestRegressor": "co2forest.baselines",
    "CARTLCForestClassifier": "co2forest.baselines",
    "LDAForestClassifier": "co2forest.baselines",
    "OC1ForestClassifier": "co2forest.baselines",
    "TwoProbeForestClassifier": "co2forest.baselines",
    "TwoProbeForestRegressor": "co2forest.baselines",
}
TABLE_MODEL = ("co2forest.tables.model", "TableModel")

# For skops.io.load(file, trusted=co2forest.TRUSTED_TYPES): constructing them runs no other code,
# and checks every number.
TRUSTED_TYPES = [
    *(f"{module}.{name}" for name, module in ESTIMATORS.items()),
    "co2forest._native.Forest",
    "co2forest._native.Views",
    ".".join(TABLE_MODEL),
    "co2forest.tables.encoder.TableEncoder",
    "co2forest.data.columns.columns.Column",
    "co2forest.data.columns.columns.Columns",
    "co2forest.data.columns.views.ColumnViews",
    "co2forest.data.losses.Loss",
    "co2forest.data.outputs.calibration.Calibration",
    "co2forest.data.outputs.classes.ClassOutputs",
    "co2forest.data.outputs.costs.CostOutputs",
    "co2forest.data.outputs.labels.LabelOutputs",
    "co2forest.data.outputs.numbers.NumberOutputs",
    "co2forest.data.outputs.quantiles.KeptTargets",
    "co2forest.data.outputs.scores.ClassScores",
    "co2forest.data.outputs.scores.NumberScores",
    "co2forest.fitting.mixture.Member",
    "co2forest.fitting.mixture.Mixture",
    "co2forest.fitting.plan.Draws",
]


def estimator_class(name: str) -> Any:
    """The class of an estimator that `ESTIMATORS` names."""
    return getattr(import_module(ESTIMATORS[name]), name)


def table_model_class() -> Any:
    """The class that reads files with an encoding of columns."""
    module, name = TABLE_MODEL
    return getattr(import_module(module), name)
