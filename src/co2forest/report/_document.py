# SPDX-License-Identifier: BSD-3-Clause
"""All numbers of a report as one JSON document."""

import inspect
import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from co2forest import __version__
from co2forest.models.calibration import calibration
from co2forest.models.evaluation import Evaluation
from co2forest.models.metrics import metrics, n_resamples
from co2forest.models.mistakes import confusion, label_table, number_errors
from co2forest.models.mixture import SPLITS
from co2forest.models.trees import depths_of
from co2forest.report._explorer import checked_trees, explorer
from co2forest.report._rows import Picture, choose_rows, row_table

_IMPORTANCES = 20
_LONGEST_VALUE = 120  # characters of a parameter
_DRAWN_DIGITS = 4  # of numbers that are only drawn
_WRITTEN_DIGITS = 7  # of features, as many as float32 has


def gather(
    evaluation: Evaluation, *, title: str, max_rows: int, trees: Any, image_shape: Any
) -> dict[str, Any]:
    """What the page shows; its script reads the same document."""
    view = evaluation.view
    picture = Picture.of(image_shape, view.n_features)
    tree_numbers = checked_trees(trees, view.n_trees)
    importances = evaluation.importances
    chosen = choose_rows(evaluation, max_rows, picture)
    rows = row_table(evaluation, chosen, importances, picture)
    shown_trees = explorer(evaluation, tree_numbers, chosen, picture)
    of_task: dict[str, Any] = {}
    if evaluation.task == "classes":
        of_task = {"confusion": confusion(evaluation), "calibration": calibration(evaluation)}
    elif evaluation.task == "labels":
        of_task = {"labels": label_table(evaluation), "calibration": calibration(evaluation)}
    else:
        of_task = {"errors": number_errors(evaluation)}
    strongest = np.argsort(-importances, kind="stable")[:_IMPORTANCES]
    document = {
        "title": title,
        "model": _model_summary(evaluation),
        "data": _data_summary(evaluation),
        "names": evaluation.names,
        "metrics": metrics(evaluation),
        "resamples": n_resamples(evaluation.n_rows),
        "curve": _curve(evaluation),
        "importances": [[int(j), float(importances[j])] for j in strongest],
        **of_task,
        "rows": rows | {"columns": _plain(rows["columns"], _WRITTEN_DIGITS)},
        "explorer": _plain(shown_trees, _DRAWN_DIGITS),
    }
    document["columns"] = {str(j): view.column_names[j] for j in strongest.tolist()}
    document["features"] = _feature_names(document, view.feature_names)
    complete: dict[str, Any] = _plain(document)
    return complete


def _model_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The estimator, its sizes, and parameters that are not the defaults."""
    view, ensemble = evaluation.view, evaluation.ensemble
    members = [view] if ensemble is None else ensemble.views
    arrays = [member.arrays for member in members]
    n_nodes = sum(len(each["left"]) for each in arrays)
    inner = sum(int(np.count_nonzero(each["left"] >= 0)) for each in arrays)
    used = sum(int(np.count_nonzero(each["weight"])) for each in arrays)
    return {
        "name": type(evaluation.estimator).__name__,
        "version": __version__,
        "task": evaluation.task,
        "kind": view.kind,
        "n_trees": view.n_trees,
        "n_rounds": None if ensemble is None else ensemble.boosting.n_trees,
        "forest_share": None if ensemble is None else ensemble.forest_share,
        "n_nodes": n_nodes,
        "n_leaves": n_nodes - inner,
        "depth": max(max(depths_of(each)) for each in arrays),
        "features_per_split": used / inner if inner else 0.0,
        "n_features": view.n_features,
        "n_columns": len(view.column_names),
        "n_outputs": view.n_outputs,
        "bytes": sum(array.nbytes for each in arrays for array in each.values()),
        "impurity": view.impurity.name,
        "parameters": _changed_parameters(evaluation.estimator),
        "mixture": [
            kind | {"name": SPLITS[kind["split"]]}
            for kind in getattr(view.estimator, "mixture_", [])
        ],
    }


def _data_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The rows that the report is about."""
    cells = evaluation.cells
    numbers = cells.data if sp.issparse(cells) else cells
    missing = int(np.count_nonzero(np.isnan(numbers))) if numbers.dtype.kind == "f" else 0
    summary: dict[str, Any] = {
        "n_rows": evaluation.n_rows,
        "n_columns": len(evaluation.view.column_names),
        "n_features": int(evaluation.rows.shape[1]),
        "sparse": bool(sp.issparse(evaluation.rows)),
        "missing": missing,
        "weighted": evaluation.weighted,
        "unknown_classes": evaluation.names[len(evaluation.view.output_names) :],
    }
    if evaluation.task == "classes":
        counts = np.bincount(evaluation.truth, minlength=len(evaluation.names))
        summary["class_counts"] = counts.tolist()
    return summary


def _changed_parameters(estimator: Any) -> list[dict[str, str]]:
    """Parameters whose value is not the default, as text."""
    defaults = inspect.signature(type(estimator).__init__).parameters
    changed = []
    for name, value in estimator.get_params(deep=False).items():
        default = defaults[name].default
        if _shown(value) != _shown(default):
            changed.append({"name": name, "value": _shown(value), "default": _shown(default)})
    return changed


def _shown(value: Any) -> str:
    """A value as one writes it; the same in every process, so never with an address."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str | tuple | list | dict):
        text = repr(value)
    elif isinstance(value, np.ndarray):
        text = f"array of shape {value.shape}"
    elif callable(value) and hasattr(value, "__qualname__"):
        text = f"{value.__module__}.{value.__qualname__}"
    else:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def _curve(evaluation: Evaluation) -> dict[str, Any]:
    """The error with one, two, ... trees, and that of an answer that looks at no feature."""
    numbers, errors = evaluation.curve
    truth = evaluation.truth
    if evaluation.task == "classes":
        name = "fraction of rows with a wrong class"
        base, about = 1 - np.bincount(truth).max() / len(truth), "always the most frequent class"
    elif evaluation.task == "labels":
        name = "fraction of rows with at least one wrong label"
        most = (truth.mean(axis=0) > 0.5).astype(np.int64)
        base, about = (
            float((truth != most).any(axis=1).mean()),
            "for each label, what most rows have",
        )
    else:
        name = "root of the mean squared error"
        name += ", mean over outputs" if truth.shape[1] > 1 else ""
        unit = np.abs(truth).max(axis=0)  # squares of 1e200 overflow
        unit = np.where(unit > 0, unit, 1)
        base, about = float((unit * (truth / unit).std(axis=0)).mean()), "always the mean of y"
    return {
        "trees": numbers.tolist(),
        "errors": errors.tolist(),
        "name": name,
        "base": float(base),
        "base_about": about,
    }


def _feature_names(document: dict[str, Any], names: list[str]) -> dict[str, str]:
    """Names of the features that trees show: there may be a million others."""
    used: set[int] = set()
    for tree in document["explorer"]["trees"]:
        used |= {j for node in tree["nodes"] for j, _ in node.get("bars", ())}
    return {str(j): names[j] for j in sorted(used)}


def _plain(value: Any, digits: int | None = None) -> Any:
    """The same with None for every number that JSON does not have, perhaps with fewer digits."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = value if digits is None else float(f"{value:.{digits}g}")
        return int(short) if digits and short.is_integer() and abs(short) < 1e15 else short
    if isinstance(value, list):
        return [_plain(item, digits) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, digits) for key, item in value.items()}
    return value
