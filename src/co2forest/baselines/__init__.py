"""Other forests on the same engine: a comparison with them differs in the splits alone."""

from co2forest.baselines.axis import AxisForestClassifier, AxisForestRegressor
from co2forest.baselines.coordinates import CARTLCForestClassifier, OC1ForestClassifier
from co2forest.baselines.lda import LDAForestClassifier
from co2forest.baselines.two_probe import TwoProbeForestClassifier, TwoProbeForestRegressor

__all__ = [
    "AxisForestClassifier",
    "AxisForestRegressor",
    "CARTLCForestClassifier",
    "LDAForestClassifier",
    "OC1ForestClassifier",
    "TwoProbeForestClassifier",
    "TwoProbeForestRegressor",
]
