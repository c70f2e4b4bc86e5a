# SPDX-License-Identifier: BSD-3-Clause
"""Forests whose outputs for the rows that judge them are known already."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

Outputs = npt.NDArray[np.float64]

# What a forest may be asked although its trees have drawn the rows.
_HARMLESS = ("get_params", "get_metadata_routing")


def outputs_of(forest: Any, X: Any) -> Outputs:
    """What a forest says of rows: probabilities of classes, or values."""
    outputs: Outputs = forest.predict_proba(X) if is_classifier(forest) else forest.predict(X)
    return outputs


def labels_of(forest: Any, outputs: Outputs) -> npt.NDArray[Any]:
    """The most probable classes."""
    labels: npt.NDArray[Any] = forest.classes_.take(outputs.argmax(axis=1))
    return labels


def with_known_outputs(forest: Any, X: Any, outputs: Outputs, *, seen: bool) -> "KnownOutputs":
    """The forest as a scorer may see it; ``seen``: its trees have drawn rows of X."""
    kind = KnownClasses if is_classifier(forest) else KnownOutputs
    return kind(forest, X, outputs, seen=seen)


class KnownOutputs:
    """A fitted forest that need not predict again.

    One that has not seen the rows does whatever else it is asked. One that has must not: its trees
    would be judged by rows that they were fitted on.
    """

    def __init__(self, forest: Any, X: Any, outputs: Outputs, *, seen: bool) -> None:
        self._fitted = forest
        self._X = X
        self._known = outputs
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._fitted, name)
        reveals = name == "estimators_" or (callable(value) and name not in _HARMLESS)
        if self._seen and reveals and not name.startswith("__"):
            raise AttributeError(
                f"method='oob' cannot give scoring the forest's {name}, because its trees have "
                "drawn rows of X; use predict, predict_proba, predict_log_proba or score, or "
                "method='holdout'"
            )
        return value

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return self._outputs(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def _outputs(self, X: Any) -> Outputs:
        if X is self._X:
            return self._known
        if not self._seen:
            return outputs_of(self._fitted, X)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows != len(self._known):
            raise ValueError(
                f"method='oob' has outputs for the {len(self._known)} rows of X that scoring is "
                f"given, but it asked for {rows}; predict them all, or use method='holdout'"
            )
        return self._known


class KnownClasses(KnownOutputs):
    """The same of a classifier."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return labels_of(self._fitted, self._outputs(X))

    def predict_proba(self, X: Any) -> Outputs:
        return self._outputs(X)

    def predict_log_proba(self, X: Any) -> Outputs:
        with np.errstate(divide="ignore"):
            return np.log(self._outputs(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
