# SPDX-License-Identifier: BSD-3-Clause
"""Models of the commands on tables: loaded, and what they are in words."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from co2forest import load_model
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import listed
from co2forest.models.ensemble import view_of_features
from co2forest.segmentation import ForestSegmenter

_TABLES = {".csv", ".tsv", ".parquet", ".npz", ".libsvm"}
_FAMILIES = (
    ("CO2Forest", "CO2 forest"),
    ("CO2Boosting", "boosted CO2 trees"),
    ("CO2Ensemble", "CO2 ensemble"),
    ("CO2Tree", "CO2 tree"),
    ("AxisForest", "random forest"),
    ("TwoProbeForest", "two-probe forest"),
    ("OC1Forest", "OC1 forest"),
    ("CARTLCForest", "CART-LC forest"),
    ("LDAForest", "discriminant forest"),
)


def load(path: Path, *, hint: str = "") -> Any:
    """Any model; never a pickle."""
    try:
        return load_model(path)
    except ModelFormatError as error:
        if path.suffix.lower() in _TABLES:
            raise ValueError(f"{path}: a table, not a model{hint}") from error
        raise


def load_for_tables(path: Path) -> Any:
    """A model that takes rows of a table."""
    model = load(path, hint="; the model comes first")
    if isinstance(model, ForestSegmenter):
        raise ValueError(  # noqa: TRY004 (of the file, not of an argument)
            f"{path}: a segmenter, which takes images; see co2forest segment --help"
        )
    return model


def encoder_of(model: Any) -> Any | None:
    """How a model of tables turns columns into features; None for other models."""
    return getattr(model, "encoder_", None)


def estimator_of(model: Any) -> Any:
    """What predicts: the model itself, or that within a model of tables."""
    return model if encoder_of(model) is None else model.estimator_


def rows_of(model: Any, frame: Any, *, others: Iterable[str]) -> Any:
    """The rows of a table as a model takes them: a model of tables encodes its columns itself.

    One that knows no names takes all columns except the others.
    """
    if encoder_of(model) is not None:
        return frame
    names = feature_names(model)
    if names is not None:
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise ValueError(
                f"lacks {len(missing)} of the {len(names)} columns of the model: {listed(missing)}"
            )
    frame = frame.drop(columns=list(others)) if names is None else frame[names]
    categorical = dict(zip(frame.columns, _categorical(model), strict=False))
    text = [
        name
        for name in frame.columns
        if frame[name].dtype.kind not in "biuf" and not categorical.get(name)
    ]
    if text:
        raise ValueError(
            f"has columns that are not numbers, which this model cannot encode: {listed(text)}"
        )
    return frame if names is not None else frame.to_numpy()


def _categorical(model: Any) -> list[bool]:
    """Which columns of an estimator hold categories."""
    view = view_of_features(model)
    if view.columns is None:
        return [False] * view.n_features
    return [column.categories is not None for column in view.columns.columns.columns]


def family(estimator: Any) -> str:
    """What kind of model it is, for people."""
    name = type(estimator).__name__
    if name == "ForestSegmenter":
        return "a segmenter of images"
    for beginning, words in _FAMILIES:
        if name.startswith(beginning):
            return words if words.endswith("trees") else f"a {words}"
    return f"a {name}"


def features_of_trees(model: Any) -> list[str] | None:
    """Names of what the trees see, if known: a column of categories becomes several features."""
    if isinstance(model, ForestSegmenter):
        return None
    view = view_of_features(model)
    return feature_names(model) if view.columns is None else view.feature_names


def feature_names(model: Any) -> list[str] | None:
    """Names of what the estimator takes, in their order, if known."""
    encoder = encoder_of(model)
    if encoder is not None:
        return [str(name) for name in encoder.get_feature_names_out()]
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def feature_columns(model: Any) -> list[str]:
    """Columns that a table must have, if known."""
    names = getattr(model, "feature_names_in_", ())
    return [str(name) for name in names]


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters that differ from their defaults, as far as a file keeps them."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in {"n_jobs", "verbose"} and not _same(value, defaults[name])
    }


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default; an array never has."""
    return type(value) is type(default) and bool(value == default)
