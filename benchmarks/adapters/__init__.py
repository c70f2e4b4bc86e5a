# SPDX-License-Identifier: BSD-3-Clause
"""The libraries of the benchmark, one file each, with the interface of adapters/base.py."""

from adapters.aeon import RotationForest
from adapters.base import Adapter
from adapters.catboost import CatBoost
from adapters.co2forest import AxisForest, CO2Forest, CO2ForestAVX2, CO2ForestBaseline
from adapters.extra_trees import ExtraTrees
from adapters.hist_gradient_boosting import HistGradientBoosting
from adapters.lightgbm import LightGBM
from adapters.random_forest import EntropyForest, RandomForest
from adapters.treeple import ObliqueRandomForest
from adapters.xgboost import XGBoost
from adapters.ydf import YDFObliqueForest, YDFRandomForest

# In the order of tables and legends.
ADAPTERS: dict[str, type[Adapter]] = {
    "co2forest": CO2Forest,
    "random_forest": RandomForest,
    "extra_trees": ExtraTrees,
    "ydf": YDFRandomForest,
    "ydf_oblique": YDFObliqueForest,
    "treeple": ObliqueRandomForest,
    "aeon": RotationForest,
    "hist_gradient_boosting": HistGradientBoosting,
    "lightgbm": LightGBM,
    "xgboost": XGBoost,
    "catboost": CatBoost,
}

# Measured only if named: this library with narrower vectors; and the same random forest in this
# library and in scikit-learn, to compare the engines.
VARIANTS: dict[str, type[Adapter]] = {
    "co2forest_avx2": CO2ForestAVX2,
    "co2forest_baseline": CO2ForestBaseline,
    "co2forest_axis": AxisForest,
    "random_forest_entropy": EntropyForest,
}


def adapter_class(name):
    return (ADAPTERS | VARIANTS)[name]
