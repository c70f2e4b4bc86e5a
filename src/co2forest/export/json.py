# SPDX-License-Identifier: BSD-3-Clause
"""A fitted estimator as JSON, for programs in any language."""

import json
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.data.columns.views import ColumnViews, ViewKind
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.models.ensemble import EnsembleView
from co2forest.models.trees import hyperplane_of
from co2forest.models.view import ModelView

FORMAT = 1  # of the documents


def to_json(estimator: Any, *, indent: int | None = None) -> str:
    """Write a fitted estimator as one plain JSON document.

    The document holds all that a prediction needs: for each tree, its nodes with hyperplanes,
    thresholds and leaves; names of features, what a missing value stands for, and classes; the
    categories of columns, and the features that trees see of them; for a
    `co2forest.tables.TableModel`, also how the columns of a table become features. The document of
    an ensemble holds those of its members, and the weight of the forest.
    docs/export.md describes it, with a reader in 60 lines of Python.

    Parameters
    ----------
    estimator : classifier or regressor of this library, or TableModel
        Fitted. Labels may be strings, integers, floats or booleans.
    indent : int, default=None
        Spaces by which a level is indented; None writes no line breaks.

    Returns
    -------
    str
        The document; ASCII only. Numbers are exact.

    Examples
    --------
    >>> import json
    >>> from co2forest import CO2TreeClassifier, to_json
    >>> tree = CO2TreeClassifier(random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    >>> document = json.loads(to_json(tree))
    >>> document["classes"]
    ['no', 'yes']
    """
    ensemble = EnsembleView.of(estimator)
    document = _model(ModelView.of(estimator)) if ensemble is None else _ensemble(ensemble)
    return json.dumps(document, indent=indent, allow_nan=False)


def _ensemble(ensemble: EnsembleView) -> dict[str, Any]:
    """The documents of both members; a table is there only once."""
    forest, boosting = map(_model, ensemble.views)
    table = forest["table"]
    return {
        "format": FORMAT,
        "library_version": version("co2forest"),
        "estimator": type(ensemble.estimator).__name__,
        "forest_share": ensemble.forest_share,
        "members": {
            "forest": forest | {"table": None},
            "boosting": boosting | {"table": None},
        },
        "table": table,
    }


def _model(view: ModelView) -> dict[str, Any]:
    """The document of a model with trees of its own."""
    named = view.encoder is not None or hasattr(view.estimator, "feature_names_in_")
    named = named or view.columns is not None
    document = {
        "format": FORMAT,
        "library_version": version("co2forest"),
        "estimator": view.name,
        **_meaning(view.outputs),
        "n_features": view.n_features,
        "feature_names": view.feature_names if named else None,
        **_columns(view.columns),
        "missing": view.arrays["mean"].astype(np.float64).tolist(),
        "n_outputs": view.n_outputs,
        "start": None if view.start is None else view.start.tolist(),
        "trees": [_nodes(view, tree) for tree in range(view.n_trees)],
        "table": None,
    }
    if view.encoder is not None:
        document["table"] = {"target": view.model.target_, **view.encoder.to_json()}
    return document


def _columns(views: ColumnViews | None) -> dict[str, Any]:
    """What the columns of a row are, and what the features are of them."""
    if views is None:
        return {"columns": None, "views": None}
    columns = [
        {"name": column.name, "categories": column.categories} for column in views.columns.columns
    ]
    arrays = views.views.arrays()
    places = zip(*(arrays[name].tolist() for name in _PLACES), strict=True)
    numbers = arrays["values"].astype(np.float64)
    seen = [{"column": column, **_view(numbers, *place)} for column, *place in places]
    return {"columns": columns, "views": seen}


_PLACES = ("column", "kind", "argument", "size")  # of native/rows/views/views.hpp


def _view(numbers: npt.NDArray[np.float64], kind: int, argument: int, size: int) -> dict[str, Any]:
    """What a feature is of its column."""
    if kind == ViewKind.EQUALS:
        return {"kind": "equals", "code": argument}
    if kind == ViewKind.TABLE:
        *entries, other, missing = numbers[argument : argument + size + 2].tolist()
        return {"kind": "table", "values": entries, "other": other, "missing": missing}
    return {"kind": ViewKind(kind).name.lower()}


def _meaning(meaning: Any) -> dict[str, Any]:
    """What the outputs of the trees stand for."""
    if isinstance(meaning, NumberOutputs):
        return {
            "predicts": "numbers",
            "exponential": meaning.logarithmic,
            "unit": meaning.unit.tolist(),
            "offset": meaning.offset.tolist(),
            "one_dimensional": meaning.one_dimensional,
        }
    if isinstance(meaning, LabelOutputs):
        return {"predicts": "labels", "classes": _labels(meaning.values)}
    return {
        "predicts": "classes",
        "classes": _labels(meaning.classes),
        "temperature": meaning.inverse_temperature,
        "calibration": None if meaning.calibration is None else vars(meaning.calibration),
        "costs": None if meaning.decision_costs is None else meaning.decision_costs.tolist(),
    }


def _labels(classes: npt.NDArray[Any]) -> list[Any]:
    """Labels as values of JSON."""
    values = classes.tolist()
    kinds = {type(value) for value in values}
    if classes.dtype.kind in "mM" or not all(
        issubclass(kind, (bool, int, float, str)) for kind in kinds
    ):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"estimator has labels of type {names} ({classes.dtype}), which JSON does not have; "
            "train it with strings, integers, floats or booleans"
        )
    return [str.__str__(value) if isinstance(value, str) else value for value in values]


def _nodes(view: ModelView, tree: int) -> list[dict[str, Any]]:
    """The nodes of a tree, the root first; the children of a node follow it, left and right."""
    arrays = view.arrays
    begin, end = arrays["tree_begin"][tree : tree + 2]
    return [
        _leaf(view, node) if left < 0 else _split(arrays, node, left)
        for node, left in enumerate(arrays["left"][begin:end].tolist(), begin)
    ]


def _split(arrays: dict[str, npt.NDArray[Any]], node: int, left: int) -> dict[str, Any]:
    features, weights = hyperplane_of(arrays, node)
    return {
        "left": left,
        "right": left + 1,
        "threshold": float(arrays["threshold"][node]),
        "features": features.tolist(),
        "weights": weights.tolist(),
    }


def _leaf(view: ModelView, node: int) -> dict[str, Any]:
    """What a leaf says; outputs that are not listed are zero."""
    arrays = view.arrays
    listed = slice(*arrays["value_begin"][node : node + 2])
    values = arrays["value"][listed].astype(np.float64)
    if view.distributions:
        values /= values.sum()  # one except for rounding
    return {"outputs": arrays["value_output"][listed].tolist(), "values": values.tolist()}
