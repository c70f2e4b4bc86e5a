# SPDX-License-Identifier: BSD-3-Clause
"""A model together with the encoding of its columns."""

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import at_once, of_one_fit
from co2forest._sklearn_compat import HasMethods, StrOptions
from co2forest.estimators.ensemble import CO2EnsembleClassifier, CO2EnsembleRegressor
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import listed, shown
from co2forest.files.model_file import save_model
from co2forest.files.seals import sealed, unsealed
from co2forest.fitting.parameters import Constraints
from co2forest.tables._frames import check_frame, find_column
from co2forest.tables._optional import library
from co2forest.tables._stored import check_name
from co2forest.tables.cells import numbers_of
from co2forest.tables.encoder import TableEncoder
from co2forest.tables.reading import read_table
from co2forest.tables.target import CLASSIFICATION, REGRESSION, TASKS, read_target, truth


def _has_probabilities(model: "TableModel") -> bool:
    inner = getattr(model, "estimator_", model.estimator)
    return inner is None or hasattr(inner, "predict_proba")


class TableModel(BaseEstimator):
    """An estimator with an encoder in front of it, fitted to a table of raw columns.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        What learns from the columns, which are numbers and categories; it is cloned. None is a
        `CO2EnsembleClassifier` or a `CO2EnsembleRegressor` on all cores.
    target : str, default=None
        Name of the column to predict. None if ``fit`` gets it as ``y``.
    task : {"auto", "classification", "regression"}, default="auto"
        With "auto", text, categories and booleans are classes, and so are whole numbers if there
        are at most 30 different ones, with ten rows each on average, or just two. All other
        numbers are predicted as numbers.
    encoder : TableEncoder, default=None
        What becomes of the columns; it is cloned. None is a `TableEncoder` with its defaults.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator.

    Attributes
    ----------
    estimator_ : classifier or regressor
        The fitted estimator. Its features are those of ``encoder_.get_feature_names_out()``.
    encoder_ : TableEncoder
        The fitted encoder.
    target_ : str
        Name of the target.
    task_ : {"classification", "regression"}
        What kind of answers it predicts.
    task_reason_ : str
        Why, in words. A model from a file does not have it.
    n_dropped_rows_ : int
        Number of training rows without a target. A model from a file does not have it.
    classes_ : ndarray
        The class labels (classifiers only).
    feature_names_in_ : ndarray of str
        The columns that `predict` needs.

    See Also
    --------
    fit_table : The same in one call.

    Examples
    --------
    >>> import pandas as pd
    >>> from co2forest.tables import TableModel
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 4] * 5, "kind": [*"ssbb"] * 5})
    >>> model = TableModel(target="kind", random_state=0).fit(frame)
    >>> model.predict(pd.DataFrame({"size": [1.5, 3.5]})).tolist()
    ['s', 'b']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "target": [str, None],
        "task": [StrOptions(set(TASKS))],
        "encoder": [TableEncoder, None],
        "random_state": ["random_state"],
    }
    estimator_: Any
    encoder_: TableEncoder
    target_: str
    task_: str

    def __init__(
        self,
        estimator: Any = None,
        *,
        target: str | None = None,
        task: str = "auto",
        encoder: TableEncoder | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.task = task
        self.encoder = encoder
        self.random_state = random_state

    @at_once
    def fit(self, frame: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn how to encode the columns, then fit the estimator.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table; rows without a target are left out.
        y : array-like of shape (rows,), default=None
            The answers, if they are not the column ``target`` of the frame.
        sample_weight : str or array-like of shape (rows,), default=None
            Weights of the rows, or the column that has them, which is then not a feature.

        Returns
        -------
        TableModel
            The fitted model itself.
        """
        self._validate_params()
        check_frame(frame)
        features, column = self._separate(frame, y)
        if isinstance(sample_weight, str):
            weights = find_column(features, sample_weight, "sample_weight")
            features = features.drop(columns=[sample_weight])
            sample_weight = numbers_of(weights)
        target = read_target(column, self._wanted_task())
        if not target.known.all():  # it takes seconds if there are thousands of sparse columns
            features = features[target.known]
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        rows = encoder.fit_transform(features)
        weight = {}
        if sample_weight is not None:
            weight["sample_weight"] = np.asarray(sample_weight)[target.known]
        estimator = self._new_estimator(target.task)
        estimator.fit(rows, target.values, **weight)
        self.estimator_, self.encoder_ = estimator, encoder
        self.target_ = str(column.name) if column.name is not None else "target"
        self.task_, self.task_reason_ = target.task, target.reason
        self.n_dropped_rows_ = int(len(frame) - target.known.sum())
        return self

    def _separate(self, frame: Any, y: Any) -> tuple[Any, Any]:
        """The columns to learn from, and the one to predict."""
        if y is None:
            if self.target is None:
                raise ValueError("target must be the name of a column, or y the answers; got None")
            column = find_column(frame, self.target, "target")
        else:
            column = _answers(y, frame, self.target)
        features = frame.drop(columns=[column.name], errors="ignore")
        if features.shape[1] == 0:
            raise ValueError(f"the table has no column except the target {column.name!r}")
        return features, column

    def _wanted_task(self) -> str:
        """The task that is asked for, by name or by the kind of the estimator."""
        if self.estimator is None:
            return self.task
        kinds = {CLASSIFICATION: is_classifier, REGRESSION: is_regressor}
        task = next((task for task, is_one in kinds.items() if is_one(self.estimator)), None)
        if task is None or self.task not in ("auto", task):
            raise ValueError(
                f"estimator must be a {_NOUNS.get(self.task, 'classifier or regressor')}, "
                f"got {shown(self.estimator)}"
            )
        return task

    def _new_estimator(self, task: str) -> Any:
        if self.estimator is not None:
            return clone(self.estimator)
        kind = CO2EnsembleClassifier if task == CLASSIFICATION else CO2EnsembleRegressor
        return kind(n_jobs=-1, random_state=self.random_state)

    @of_one_fit
    def predict(self, frame: Any) -> npt.NDArray[Any]:
        """Predict labels, as the table has them, or numbers.

        Parameters
        ----------
        frame : pandas.DataFrame
            It must have all columns of ``feature_names_in_``, in any order; others are ignored.

        Returns
        -------
        ndarray of shape (rows,)
        """
        check_is_fitted(self)
        answers: npt.NDArray[Any] = self.estimator_.predict(self.encoder_.transform(frame))
        return answers

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @of_one_fit
    def predict_proba(self, frame: Any) -> npt.NDArray[np.float64]:
        """Predict the probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        frame : pandas.DataFrame
            As for `predict`.

        Returns
        -------
        ndarray of shape (rows, classes)
        """
        check_is_fitted(self)
        rows = self.encoder_.transform(frame)
        probabilities: npt.NDArray[np.float64] = self.estimator_.predict_proba(rows)
        return probabilities

    @of_one_fit
    def score(self, frame: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The fraction of right labels, or the coefficient of determination of numbers.

        Parameters
        ----------
        frame : pandas.DataFrame
            As for `predict`, with the target unless ``y`` has it. Rows without it do not count.
        y : array-like of shape (rows,), default=None
            The answers.
        sample_weight : array-like of shape (rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        answers, known = self.answers(frame, y)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        predicted = self.predict(frame[known])
        rate = accuracy_score if self.task_ == CLASSIFICATION else r2_score
        return float(rate(answers, predicted, sample_weight=weights))

    @of_one_fit
    def answers(self, frame: Any, y: Any = None) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """The right answers of a table, in the same terms as those of `predict`.

        Parameters
        ----------
        frame : pandas.DataFrame
            A table with the target, unless ``y`` has it.
        y : array-like of shape (rows,), default=None
            The answers.

        Returns
        -------
        answers : ndarray
            The answers of the rows that have one, also classes that were not in training.
        known : ndarray of bool of shape (rows,)
            Which rows these are.
        """
        check_is_fitted(self)
        check_frame(frame)
        column = (
            find_column(frame, self.target_, "target")
            if y is None
            else _answers(y, frame, self.target_)
        )
        return truth(column, getattr(self, "classes_", None))

    @of_one_fit
    def read(self, source: str | os.PathLike[str], **options: Any) -> Any:
        """Read a file of such a table: columns of words stay words, even if all are digits.

        Parameters
        ----------
        source : str or path-like
            The file, or "-" for standard input.
        **options
            Those of `read_table`.

        Returns
        -------
        pandas.DataFrame
        """
        check_is_fitted(self)
        known = {"text": self.encoder_.text_columns(), "columns": list(self.feature_names_in_)}
        return read_table(source, **known | options)

    @of_one_fit
    def describe(self) -> list[str]:
        """Describe the target and what becomes of each column, in a line for each.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        if self.task_ == CLASSIFICATION:
            labels = listed(map(str, self.classes_.tolist()))
            target = f"{self.target_}: the target, {len(self.classes_)} classes: {labels}"
        else:
            target = f"{self.target_}: the target, a number"
        return [target, *self.encoder_.describe()]

    @of_one_fit
    def notes(self, frame: Any) -> list[str]:
        """List columns and categories of a table that were not in training.

        Parameters
        ----------
        frame : pandas.DataFrame
            A table that `predict` takes, with or without the target.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        notes = self.encoder_.notes(frame.drop(columns=[self.target_], errors="ignore"))
        if not hasattr(self.estimator_, "unknown_categories"):  # not one of this library
            return notes
        unknown = self.estimator_.unknown_categories(self.encoder_.transform(frame))
        for column, counts in unknown.items():
            count = sum(counts.values())
            notes.append(
                f"{column}: in {count} row{'' if count == 1 else 's'}, categories that training "
                f"had at most once, taken for rare ones: {listed(counts)}"
            )
        return notes

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The class labels (classifiers only)."""
        classes: npt.NDArray[Any] = self.estimator_.classes_
        return classes

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The columns that `predict` needs."""
        return self.encoder_.feature_names_in_

    @property
    @of_one_fit
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Importance of each column of ``feature_names_in_``: the sum over its features."""
        check_is_fitted(self)
        of_features = self.estimator_.feature_importances_
        return np.bincount(self.encoder_.column_of_feature_, of_features).astype(np.float64)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        task = getattr(self, "task_", self.task)
        if self.estimator is not None and task == "auto":
            task = CLASSIFICATION if is_classifier(self.estimator) else REGRESSION
        tags.estimator_type = _NOUNS.get(task)
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # --- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model into one file, for `co2forest.load_model`.

        Parameters
        ----------
        path : str or path-like
            The file appears complete or not at all; see `co2forest.save_model`.
        """
        save_model(self, path)

    def report(self, X: Any, y: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML file about the fitted model.

        Parameters
        ----------
        X : data frame
            Rows that the model has not been trained on.
        y : array-like of shape (n_samples,) or None
            The true answers for these rows. None takes them from the target's column of X.
        path : str or path-like
            The file to write.
        **options
            Those of `co2forest.report.write_report`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from co2forest.report import write_report  # which knows all models

        return write_report(self, X, y, path, **options)

    def _stored_table(self) -> dict[str, Any]:
        """What a file keeps beside the estimator."""
        check_is_fitted(self)
        return {"target": self.target_, "task": self.task_, "encoder": self.encoder_.to_json()}

    @classmethod
    def _restored(cls, stored: Any, estimator: Any) -> Self:
        """The model that a file describes; raises ModelFormatError if anything is wrong."""
        if not isinstance(stored, dict) or stored.keys() != {"target", "task", "encoder"}:
            raise ModelFormatError(
                f"'table' must be an object with target, task and encoder, got {shown(stored)}"
            )
        encoder = TableEncoder.from_json(stored["encoder"])
        if not hasattr(estimator, "feature_names_in_"):  # an earlier file: it was fitted to arrays
            estimator.feature_names_in_ = encoder.get_feature_names_out()
        model = cls(
            clone(estimator), target=stored["target"], task=stored["task"], encoder=clone(encoder)
        )
        model.estimator_, model.encoder_ = estimator, encoder
        model.target_, model.task_ = stored["target"], stored["task"]
        model._check_consistency()
        return model

    def _check_consistency(self) -> None:
        check_name("target", self.target_)
        check_name("task", self.task_)
        is_one = {CLASSIFICATION: is_classifier, REGRESSION: is_regressor}.get(self.task_)
        if is_one is None or not is_one(self.estimator_):
            raise ModelFormatError(
                f"'task' does not agree with {type(self.estimator_).__name__}: {shown(self.task_)}"
            )
        encoder: Any = self.encoder_
        if not isinstance(encoder, TableEncoder):
            raise ModelFormatError(f"encoder_ must be a TableEncoder, got {shown(encoder)}")
        if encoder.n_features_out_ != self.estimator_.n_features_in_:
            raise ModelFormatError(
                f"the columns give {encoder.n_features_out_} features, but the estimator has "
                f"{self.estimator_.n_features_in_}"
            )
        names = getattr(self.estimator_, "feature_names_in_", None)
        if names is not None and list(names) != list(encoder.get_feature_names_out()):
            raise ModelFormatError("the estimator has features of other names than the columns")
        if self.target_ in encoder.feature_names_in_:
            raise ModelFormatError("the target is one of the columns to learn from")

    def __getstate__(self) -> dict[str, Any]:
        return sealed(self, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = unsealed(self, state)
        super().__setstate__(state)
        if "estimator_" not in state:
            return
        try:
            self._check_consistency()
        except AttributeError as error:
            raise ModelFormatError(f"not a fitted TableModel: {error}") from error


_NOUNS = {CLASSIFICATION: "classifier", REGRESSION: "regressor"}


def fit_table(
    frame: Any,
    target: str,
    *,
    task: str = "auto",
    estimator: Any = None,
    encoder: TableEncoder | None = None,
    sample_weight: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> TableModel:
    """Fit a model to a table of raw columns, one of which it learns to predict.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, such as `read_table` gives it.
    target : str
        Name of the column to predict.
    task, estimator, encoder, random_state
        As in `TableModel`.
    sample_weight : str or array-like of shape (rows,), default=None
        Weights of the rows, or the column that has them.

    Returns
    -------
    TableModel
        Fitted.

    Examples
    --------
    >>> import pandas as pd
    >>> from co2forest.tables import TableEncoder, fit_table
    >>> frame = pd.DataFrame({"x": range(40), "y": [0.5 * x for x in range(40)]})
    >>> model = fit_table(frame, "y", encoder=TableEncoder(keep=["x"]))
    >>> model.task_
    'regression'
    """
    model = TableModel(
        estimator, target=target, task=task, encoder=encoder, random_state=random_state
    )
    return model.fit(frame, sample_weight=sample_weight)


def unwrap(model: Any, frame: Any) -> tuple[Any, Any]:
    """Take the estimator out of a model of tables, and encode the rows for it.

    Parameters
    ----------
    model : TableModel or any other fitted estimator
        The model.
    frame : pandas.DataFrame or whatever the other estimator takes
        The rows.

    Returns
    -------
    estimator
        The estimator of a TableModel, or the model itself.
    rows
        Encoded for a TableModel, or as they were.
    """
    if isinstance(model, TableModel):
        check_is_fitted(model)
        return model.estimator_, model.encoder_.transform(frame)
    return model, frame


def _answers(y: Any, frame: Any, name: str | None) -> Any:
    """The separate answers as a column, which belongs beside those of the frame."""
    pandas = library("pandas")
    name = name if name is not None else getattr(y, "name", None)
    column = y.rename(name) if isinstance(y, pandas.Series) else pandas.Series(y, name=name)
    if len(column) != len(frame):
        raise ValueError(f"y has {len(column)} answers for {len(frame)} rows")
    return column
