"""CO2 forests: random forests whose splits are continuously optimised hyperplanes."""

from importlib.metadata import version

from co2forest.classifier import CO2ForestClassifier, CO2TreeClassifier
from co2forest.export.onnx import to_onnx

__version__ = version("co2forest")

__all__ = ["CO2ForestClassifier", "CO2TreeClassifier", "__version__", "to_onnx"]
