"""What a report starts from: a model, rows, what is true of them and what the model says."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import check_consistent_length, column_or_1d

from co2forest._co2_classification import indicators
from co2forest._weights import checked_weights
from co2forest.export._fitted import Classes, Labels
from co2forest.inspection._curves import error_by_trees
from co2forest.inspection._trees import Floats, ForestView

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Evaluation:
    """Checked rows with truth and prediction; the task says what these are.

    - "classes": numbers of classes (rows,); probabilities (rows, classes of the model).
    - "labels": ones where a row has a label (rows, labels); probabilities of having it, alike.
    - "numbers": in units of y (rows, outputs); no probabilities.
    """

    view: ForestView
    rows: Any  # as the core takes them
    filled: Any  # the same as float32, with means in place of NaN
    curve: tuple[npt.NDArray[np.int64], Floats]  # numbers of trees, and the error with so many
    task: str
    names: list[str]  # of classes, with those that only y has behind; of labels; of outputs
    truth: npt.NDArray[Any]
    prediction: npt.NDArray[Any]
    probability: Floats
    weights: Floats
    weighted: bool
    index: list[str] | None  # of a data frame, unless it just counts
    columns: list[tuple[str, Any]] | None  # of a table, as they are, the most important ones first

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
        """Of one class per row: the probability of the class that is predicted."""
        chosen: Floats = np.take_along_axis(self.probability, self.prediction[:, None], axis=1)
        return chosen[:, 0]

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check the data and predict them."""
        view = ForestView.of(model)
        table = None
        if view.model is not view.estimator:  # a TableModel: raw columns, y perhaps among them
            table, X, y, sample_weight = _encoded(model, X, y, sample_weight)
            view = replace(view, model=view.estimator)
        if y is None:
            raise ValueError("y must be what is true of the rows of X, got None")
        rows = view.checked(X)
        check_consistent_length(rows, y)
        weights = checked_weights(rows, sample_weight).astype(np.float64)
        meaning, names = view.fitted.meaning, list(view.output_names)
        truth: npt.NDArray[Any]
        if isinstance(meaning, Classes):
            task, truth = "classes", _codes(y, meaning.labels, names)
        elif isinstance(meaning, Labels):
            task, truth = "labels", _indicators(y, len(names))
        else:
            task, truth = "numbers", _numbers(y, len(names))
        prediction, probability = _predict(view, X)
        return cls(
            view,
            rows,
            view.rows(X),
            error_by_trees(view.estimator, X, y),
            task,
            names,
            truth,
            prediction,
            probability,
            weights if len(weights) else np.ones(len(truth)),
            sample_weight is not None,
            _index(X if table is None else table),
            None if table is None else _columns(model, table),
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


def _columns(model: Any, table: Any) -> list[tuple[str, Any]]:
    """The columns of a table, the most important ones first."""
    order = np.argsort(-model.feature_importances_, kind="stable")
    names = [model.feature_names_in_[i] for i in order]
    return [(str(name), table[name]) for name in names]


def _predict(view: ForestView, X: Any) -> tuple[npt.NDArray[Any], Floats]:
    estimator, meaning = view.estimator, view.fitted.meaning
    predicted = np.asarray(estimator.predict(X))
    if isinstance(meaning, Classes):
        codes = np.searchsorted(meaning.labels, predicted).astype(np.int64)
        return codes, estimator.predict_proba(X)
    if isinstance(meaning, Labels):
        present = np.stack([p[:, 1] for p in estimator.predict_proba(X)], axis=1)
        return (predicted == meaning.values[1]).astype(np.int64), present
    return predicted.reshape(len(predicted), -1), np.empty((len(predicted), 0))


def _codes(y: Any, labels: npt.NDArray[Any], names: list[str]) -> Codes:
    """The number of each row's class; ``names`` gets those that the model does not know."""
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    known, given = list(code_of), y.tolist()
    for label in sorted(set(given) - code_of.keys(), key=str):
        code_of[label] = len(code_of)
        names.append(str(label))
    codes = np.array([code_of[label] for label in given], dtype=np.int64)
    if (codes >= len(known)).all():
        raise ValueError(
            f"y has none of the model's classes {known[:10]}; its first label is {given[0]!r}"
        )
    return codes


def _indicators(y: Any, n_labels: int) -> Codes:
    labels = indicators(y)
    if labels is None or labels.shape[1] != n_labels:
        raise ValueError(
            f"y must have a column for each of the model's {n_labels} labels, "
            f"got shape {np.shape(y)}"
        )
    return np.asarray(labels != 0, dtype=np.int64)


def _numbers(y: Any, n_outputs: int) -> Floats:
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    columns: Floats = values.reshape(len(values), -1)
    if columns.shape[1] != n_outputs:
        raise ValueError(
            f"y must have a column for each of the model's {n_outputs} outputs, "
            f"got shape {values.shape}"
        )
    return columns


def _index(X: Any) -> list[str] | None:
    """Labels of the rows of a pandas data frame, unless these are just 0, 1, 2, ..."""
    labels = getattr(X, "index", None)
    if labels is None or callable(labels) or len(labels) != X.shape[0]:
        return None
    shown = [str(label) for label in labels]
    return None if shown == [str(i) for i in range(len(shown))] else shown
