"""What only CO2 classifiers do: several labels per row, and costs of confusions."""

from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length

from co2forest import _native
from co2forest._classification import BaseCO2Classifier
from co2forest._costs import checked_costs, least_cost, relative
from co2forest._rows import TrainingSet
from co2forest._stored import Fields, check_integer, encode_labels
from co2forest.exceptions import ModelFormatError

_MOST_LABELS = 2**20  # a list of classes is made for each, so a file must not ask for any number
_BITS = 1 / log(2)  # in a nat, the core's unit of the losses of numbers


class CO2Classes(BaseCO2Classifier):
    """A classifier whose y may be a matrix of labels, and whose mistakes may have costs.

    With several labels the outputs are the probabilities of each label, and ``classes_`` and
    ``n_classes_`` are lists, as those of scikit-learn's forests.
    """

    cost_matrix: Any
    cost_matrix_: npt.NDArray[np.float64] | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        alone = self.cost_matrix is None and self.class_weight != "balanced_subsample"
        tags.classifier_tags.multi_label = alone and not isinstance(self.class_weight, dict)
        return tags

    @property
    def _several_labels(self) -> bool:
        return isinstance(self.classes_, list)

    @property
    def _distributions(self) -> bool:
        return not self._several_labels

    @property
    def n_outputs_(self) -> int:
        """Number of labels that a row may have; one if y was a vector of classes."""
        return len(self.classes_) if self._several_labels else 1

    def _validate_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingSet, Any]:
        labels = indicators(y)
        self._check_balance(several=labels is not None)
        if labels is not None:
            return self._validate_labels(X, labels, sample_weight)
        return super()._validate_training(X, y, sample_weight)

    def _validate_labels(
        self, X: Any, labels: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[TrainingSet, Any]:
        X = self._validate_rows(X, reset=True)
        check_consistent_length(X, labels)
        weights = self._class_weighted(X, labels, sample_weight)
        classes = classes_of_labels(labels)
        return self._training_set(X, labels, weights, classes), classes

    def _training_set(
        self, X: Any, codes: npt.NDArray[Any], weights: npt.NDArray[np.float32], classes: Any
    ) -> TrainingSet:
        self.cost_matrix_ = None
        loss = _native.ValueLossParams()
        if isinstance(classes, list):
            loss.kind = _native.ValueLossKind.multilabel
            targets = np.ascontiguousarray(codes, dtype=np.float32)
            # scikit-learn's impurity is the mean over labels, the core's their sum.
            return TrainingSet(X, targets, weights, len(classes), _BITS / len(classes), loss)
        if self.cost_matrix is None:
            return super()._training_set(X, codes, weights, classes)
        self.cost_matrix_ = checked_costs(self.cost_matrix, classes)
        loss.kind = _native.ValueLossKind.cost
        loss.cost = relative(self.cost_matrix_).ravel().tolist()
        ones = (codes[:, None] == np.arange(len(classes))).astype(np.float32)
        return TrainingSet(X, ones, weights, len(classes), _BITS, loss)

    def _check_balance(self, *, several: bool) -> None:
        """Raise if parameters do not go together."""
        if several and self.cost_matrix is not None:
            raise ValueError(
                "cost_matrix is for one class per row, but y has several columns; it must be None"
            )
        if several and isinstance(self.class_weight, dict):
            raise ValueError(
                f"class_weight={self.class_weight!r} is for one class per row, but y has several "
                "columns; it must be None or 'balanced'"
            )
        for present, name in (
            (several, "a y of several columns"),
            (self.cost_matrix is not None, "cost_matrix"),
        ):
            if present and self.class_weight == "balanced_subsample":
                raise ValueError(
                    f"class_weight='balanced_subsample' does not go together with {name}; "
                    "class_weight='balanced' does"
                )

    def _set_meaning(self, meaning: Any) -> None:
        if not isinstance(meaning, list):
            super()._set_meaning(meaning)
            return
        self.classes_ = meaning
        self.n_classes_ = [len(classes) for classes in meaning]

    def _truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._several_labels:
            return targets.astype(self.classes_[0].dtype)
        return super()._truth(targets.argmax(axis=1) if targets.ndim == 2 else targets)

    def _decide(self, outputs: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        if self._several_labels:
            return (outputs > 0.5).astype(self.classes_[0].dtype)
        costs = getattr(self, "cost_matrix_", None)
        if costs is None:
            return super()._decide(outputs)
        labels: npt.NDArray[Any] = self.classes_.take(least_cost(outputs, costs))
        return labels

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the highest mean probability.

        With ``cost_matrix`` it is the one with the least expected cost. With several labels, a row
        gets those whose mean probability is above one half.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return super().predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Mean over the trees of the class distribution in the leaf that a row reaches.

        Trees are added in a fixed order: the same bits for every ``n_jobs``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or list of ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``; a list with an array for each of several labels.
        """
        outputs = self._outputs(X)
        if not self._several_labels:
            return outputs
        return [np.stack([1.0 - p, p], axis=1) for p in outputs.T]

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`; minus infinity where that is zero.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or list of ndarray of shape (n_samples, 2)
        """
        with np.errstate(divide="ignore"):
            proba = self.predict_proba(X)
            return [np.log(p) for p in proba] if self._several_labels else np.log(proba)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        costs = getattr(self, "cost_matrix_", None)
        if costs is not None:
            arrays["cost_matrix"] = costs
        return fields, arrays

    def _stored_classes(self) -> dict[str, Any]:
        if not self._several_labels:
            return super()._stored_classes()
        return {"classes": encode_labels(self.classes_[0]), "n_labels": len(self.classes_)}

    def _restore_outputs(self, fields: Fields) -> int:
        if "n_labels" in fields:
            n_labels = fields.value("n_labels")
            check_integer("n_labels", n_labels, 2, _MOST_LABELS)
            values = fields.labels("classes")
            self._set_meaning([values] * n_labels)
            self.cost_matrix_ = None
            return int(n_labels)
        n_classes = super()._restore_outputs(fields)
        self.cost_matrix_ = None
        if "cost_matrix" in fields:
            self.cost_matrix_ = fields.array("cost_matrix", (n_classes, n_classes))
        return n_classes

    def _check_classes(self) -> None:
        if self._several_labels:
            sizes = [np.shape(classes) for classes in self.classes_]
            if sizes != [(2,)] * self._forest.n_outputs or self.n_classes_ != [2] * len(sizes):
                raise ModelFormatError(
                    f"classes_ must hold two values for each of {self._forest.n_outputs} labels"
                )
            return
        super()._check_classes()
        costs = getattr(self, "cost_matrix_", None)
        if costs is not None:
            try:
                checked_costs(costs, self.classes_)
            except ValueError as error:
                raise ModelFormatError(str(error)) from error


def classes_of_labels(labels: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The classes of each column of a matrix of labels."""
    return [np.array([0, 1], dtype=labels.dtype) for _ in range(labels.shape[1])]


def indicators(y: Any) -> npt.NDArray[Any] | None:
    """A matrix of zeros and ones, a column for each label; None if y is none of several columns."""
    if type(y) is np.ndarray and y.ndim == 1:  # what it mostly is
        return None
    if sp.issparse(y):
        raise ValueError("y must be a dense array, got a sparse one; y.toarray() makes it dense")
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different length, which scikit-learn refuses
        return None
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    if values.dtype.kind == "O":  # a data frame with columns of several dtypes
        values = values.astype(np.float64)
    if values.shape[1] > _MOST_LABELS:
        raise ValueError(f"y has {values.shape[1]} columns; it must have at most {_MOST_LABELS}")
    assert_all_finite(values, input_name="y")
    wrong = np.argwhere((values != 0) & (values != 1))
    if values.dtype.kind not in "biuf" or len(wrong):
        got = f"y[{wrong[0][0]}][{wrong[0][1]}]={values[tuple(wrong[0])]!r}"
        raise ValueError(
            f"y has {values.shape[1]} columns, so each must be a label: 1 where a row has it and 0 "
            f"elsewhere, got {got}. For several outputs with more classes fit a forest to each; "
            "numbers are for CO2ForestRegressor"
        )
    return values
