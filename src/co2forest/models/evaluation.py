# SPDX-License-Identifier: BSD-3-Clause
"""A model on rows whose truth is known: what is true of them and what the model predicts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from co2forest.data.columns.frames import Frame
from co2forest.data.outputs.base import Floats, Outputs
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.data.weights import checked_weights
from co2forest.models.curves import Curve, error_curve
from co2forest.models.ensemble import EnsembleView, view_of_features
from co2forest.models.view import ModelView


@dataclass(frozen=True)
class Evaluation:
    """Checked rows with truth and prediction; the task says what these are.

    - "classes": numbers of classes (rows,); probabilities (rows, classes of the model).
    - "labels": ones where a row has a label (rows, labels); probabilities of the same shape.
    - "numbers": in units of y (rows, outputs); no probabilities.
    """

    estimator: Any  # what predicts
    view: ModelView  # of the estimator, or of the forest of an ensemble
    ensemble: EnsembleView | None
    cells: Any  # columns as the estimator takes them
    rows: Any  # the features that trees see of them
    filled: Any  # the same as float32, with means in place of NaN
    curve: Curve  # of the view's trees
    names: list[str]  # of classes, those that only y has last; of labels; of outputs
    truth: npt.NDArray[Any]
    prediction: npt.NDArray[Any]
    probability: Floats
    weights: Floats
    weighted: bool
    index: list[str] | None  # of a data frame, unless it just counts
    # How to read the cells of some rows as they are given, by column; None for plain numbers.
    given: list[Callable[[npt.NDArray[np.intp]], list[Any]]] | None

    @property
    def task(self) -> str:
        """What is predicted."""
        return self.view.outputs.task

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Which rows have a wrong class, or any wrong label."""
        differs = (self.truth != self.prediction).reshape(self.n_rows, -1)
        return np.asarray(differs.any(axis=1))

    @property
    def confidence(self) -> Floats:
        """The probability of the class that is predicted, for tasks with one class per row."""
        chosen: Floats = np.take_along_axis(self.probability, self.prediction[:, None], axis=1)
        return chosen[:, 0]

    @property
    def importances(self) -> Floats:
        """The importance of each column."""
        return self.view.importances if self.ensemble is None else self.ensemble.importances

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check the data and predict them."""
        ensemble = EnsembleView.of(model)
        view = view_of_features(model)
        estimator = view.estimator if ensemble is None else ensemble.estimator
        table = None
        if view.encoder is not None:  # a TableModel: raw columns, y perhaps among them
            table, X, y, sample_weight = _encoded(model, X, y, sample_weight)
            view = replace(view, model=view.estimator)
        if y is None:
            raise ValueError("y must be what is true of the rows of X, got None")
        cells = view.cells(X)
        rows = view.features(cells)
        check_consistent_length(rows, y)
        weights = checked_weights(rows, sample_weight).astype(np.float64)
        truth = view.outputs.read_truth(y)
        prediction, probability = _predict(estimator, view.outputs, X)
        return cls(
            estimator,
            view,
            ensemble,
            cells,
            rows,
            view.filled(rows),
            error_curve(view, rows, truth.values),
            view.output_names + truth.unknown,
            truth.values,
            prediction,
            probability,
            weights if len(weights) else np.ones(len(truth.values)),
            sample_weight is not None,
            _index(X if table is None else table),
            _given(view, X) if table is None else _columns(model, table),
        )


def _encoded(model: Any, frame: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
    """The rows of a table that have an answer: as they are, encoded, answers, weights."""
    answers, known = model.answers(frame, y)
    if not known.any():
        raise ValueError(f"no row of the table has an answer in {model.target_!r}")
    table = frame[known]
    if sample_weight is not None:
        sample_weight = checked_weights(frame, sample_weight)[known]
    return table, model.encoder_.transform(table), answers, sample_weight


def _columns(model: Any, table: Any) -> list[Callable[[npt.NDArray[np.intp]], list[Any]]]:
    """How to read the columns of a table."""

    def reader(name: str) -> Callable[[npt.NDArray[np.intp]], list[Any]]:
        return lambda rows: table[name].iloc[rows].tolist()

    return [reader(name) for name in model.feature_names_in_]


def _given(view: ModelView, X: Any) -> list[Callable[[npt.NDArray[np.intp]], list[Any]]] | None:
    """How to read columns of which some hold categories."""
    if view.columns is None or not view.columns.columns.has_categories:
        return None
    frame = Frame.of(X)

    def reader(j: int) -> Callable[[npt.NDArray[np.intp]], list[Any]]:
        return lambda rows: frame.column(j).at(rows)

    return [reader(j) for j in range(frame.n_columns)]


def _predict(estimator: Any, outputs: Outputs, X: Any) -> tuple[npt.NDArray[Any], Floats]:
    """Predictions and probabilities in the form that `Evaluation` has for the task."""
    predicted = np.asarray(estimator.predict(X))
    if isinstance(outputs, ClassOutputs):
        codes = np.searchsorted(outputs.classes, predicted).astype(np.int64)
        return codes, estimator.predict_proba(X)
    if isinstance(outputs, LabelOutputs):
        present = np.stack([p[:, 1] for p in estimator.predict_proba(X)], axis=1)
        return (predicted == outputs.values[1]).astype(np.int64), present
    return predicted.reshape(len(predicted), -1), np.empty((len(predicted), 0))


def _index(X: Any) -> list[str] | None:
    """Labels of the rows of a pandas data frame, unless these are just 0, 1, 2, ..."""
    labels = getattr(X, "index", None)
    if labels is None or callable(labels) or len(labels) != X.shape[0]:
        return None
    shown = [str(label) for label in labels]
    return None if shown == [str(i) for i in range(len(shown))] else shown
