"""CO2 forests: random forests whose splits are continuously optimised hyperplanes."""

from importlib.metadata import version

from co2forest.boosting import CO2BoostingClassifier, CO2BoostingRegressor
from co2forest.classifier import CO2ForestClassifier, CO2TreeClassifier
from co2forest.exceptions import ModelFormatError
from co2forest.export.c import to_c
from co2forest.export.onnx import to_onnx
from co2forest.model_file import TRUSTED_TYPES, load_model, save_model
from co2forest.regressor import CO2ForestRegressor, CO2TreeRegressor

__version__ = version("co2forest")

__all__ = [
    "TRUSTED_TYPES",
    "CO2BoostingClassifier",
    "CO2BoostingRegressor",
    "CO2ForestClassifier",
    "CO2ForestRegressor",
    "CO2TreeClassifier",
    "CO2TreeRegressor",
    "ModelFormatError",
    "__version__",
    "load_model",
    "save_model",
    "to_c",
    "to_onnx",
]
