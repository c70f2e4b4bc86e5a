# SPDX-License-Identifier: BSD-3-Clause
"""CO2 forests: random forests whose splits are continuously optimised hyperplanes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from co2forest.estimators.boosting import CO2BoostingClassifier, CO2BoostingRegressor
    from co2forest.estimators.classifier import CO2ForestClassifier, CO2TreeClassifier
    from co2forest.estimators.ensemble import CO2EnsembleClassifier, CO2EnsembleRegressor
    from co2forest.estimators.regressor import CO2ForestRegressor, CO2TreeRegressor
    from co2forest.exceptions import ModelFormatError
    from co2forest.export.c import to_c
    from co2forest.export.codes import to_codes
    from co2forest.export.json import to_json
    from co2forest.export.onnx import to_onnx
    from co2forest.files.model_file import TRUSTED_TYPES, load_model, save_model

    __version__: str

__all__ = [
    "TRUSTED_TYPES",
    "CO2BoostingClassifier",
    "CO2BoostingRegressor",
    "CO2EnsembleClassifier",
    "CO2EnsembleRegressor",
    "CO2ForestClassifier",
    "CO2ForestRegressor",
    "CO2TreeClassifier",
    "CO2TreeRegressor",
    "ModelFormatError",
    "__version__",
    "load_model",
    "save_model",
    "to_c",
    "to_codes",
    "to_json",
    "to_onnx",
]

# Names are loaded when they are first used: scikit-learn and SciPy take most of a second, and the
# command line needs neither to show its help.
_HOMES = {
    "TRUSTED_TYPES": "files.model_file",
    "CO2BoostingClassifier": "estimators.boosting",
    "CO2BoostingRegressor": "estimators.boosting",
    "CO2EnsembleClassifier": "estimators.ensemble",
    "CO2EnsembleRegressor": "estimators.ensemble",
    "CO2ForestClassifier": "estimators.classifier",
    "CO2ForestRegressor": "estimators.regressor",
    "CO2TreeClassifier": "estimators.classifier",
    "CO2TreeRegressor": "estimators.regressor",
    "ModelFormatError": "exceptions",
    "load_model": "files.model_file",
    "save_model": "files.model_file",
    "to_c": "export.c",
    "to_codes": "export.codes",
    "to_json": "export.json",
    "to_onnx": "export.onnx",
}
_MODULES = (
    "baselines",
    "dask",
    "export",
    "inspection",
    "report",
    "segmentation",
    "tables",
    "tuning",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("co2forest")
    elif name in _HOMES:
        value = getattr(import_module(f"co2forest.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"co2forest.{name}")
    else:
        raise AttributeError(f"module 'co2forest' has no attribute {name!r}")
    globals()[name] = value  # so that the next access takes no call
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
