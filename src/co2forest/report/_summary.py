# SPDX-License-Identifier: BSD-3-Clause
"""What the model is and what it was shown."""

import inspect
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.models.evaluation import Evaluation
from co2forest.models.trees import ancestry

_LONGEST_VALUE = 120  # characters of a parameter


def model_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The estimator, its sizes, and parameters that are not the defaults."""
    from co2forest import __version__

    view = evaluation.view
    arrays = view.arrays
    inner = int(np.count_nonzero(arrays["left"] >= 0))
    return {
        "name": view.name,
        "version": __version__,
        "task": evaluation.task,
        "kind": view.kind,
        "n_trees": view.n_trees,
        "n_nodes": len(arrays["left"]),
        "n_leaves": len(arrays["left"]) - inner,
        "depth": _deepest(arrays["left"], arrays["tree_begin"]),
        "features_per_split": np.count_nonzero(arrays["weight"]) / inner if inner else 0.0,
        "n_features": view.n_features,
        "n_outputs": view.n_outputs,
        "bytes": sum(array.nbytes for array in arrays.values()),
        "impurity": view.impurity.name,
        "parameters": changed_parameters(view.estimator),
    }


def data_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The rows that the report is about."""
    numbers = evaluation.rows.data if sp.issparse(evaluation.rows) else evaluation.rows
    missing = int(np.count_nonzero(np.isnan(numbers))) if numbers.dtype.kind == "f" else 0
    summary: dict[str, Any] = {
        "n_rows": evaluation.n_rows,
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


def _deepest(left: npt.NDArray[np.int32], tree_begin: npt.NDArray[np.int64]) -> int:
    """Splits on the longest path from a root to a leaf."""
    return max(int(ancestry(left[begin:end])[1].max()) for begin, end in pairwise(tree_begin))


def changed_parameters(estimator: Any) -> list[dict[str, str]]:
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
