"""What classifiers do alike: labels, weights and probabilities."""

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from co2forest._base import BaseCO2
from co2forest._forest import BaseForest
from co2forest._rows import TrainingSet, aligned
from co2forest._sklearn_compat import fit_context
from co2forest._stored import Fields, encode_labels
from co2forest._weights import checked_weights, in_range
from co2forest.exceptions import ModelFormatError

_BLOCK = 2**14  # rows


class BaseCO2Classifier(ClassifierMixin, BaseCO2):
    """A forest whose outputs are the probabilities of classes."""

    class_weight: dict[Any, float] | str | None
    classes_: Any  # an array
    n_classes_: Any  # an integer

    @property
    def _distributions(self) -> bool:
        return True

    def _validate_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingSet, Any]:
        """Checked data, with class weights applied to the weights, and the classes."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = self._validate_rows(X, reset=True)
        y, classes, codes = _encode_labels(y)
        check_consistent_length(X, y)
        self._check_class_weight()
        weights = self._class_weighted(X, y, sample_weight)
        return self._training_set(X, codes, weights, classes), classes

    def _training_set(
        self, X: Any, codes: npt.NDArray[Any], weights: npt.NDArray[np.float32], classes: Any
    ) -> TrainingSet:
        """Checked data as the core takes them; not every class need occur."""
        return TrainingSet(X, codes, weights, len(classes))

    def _class_weighted(
        self, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> npt.NDArray[np.float32]:
        by_class = self.class_weight not in (None, "balanced_subsample")
        if not by_class:
            return checked_weights(X, sample_weight)
        weights = checked_weights(X, np.ones(len(y)) if sample_weight is None else sample_weight)
        weights = weights * compute_sample_weight(self.class_weight, y).astype(np.float32)
        if not weights.any():
            raise ValueError(
                f"class_weight={self.class_weight!r} gives every row with a positive "
                "sample_weight the weight zero"
            )
        return in_range(weights)

    def _check_class_weight(self) -> None:
        if not isinstance(self.class_weight, dict):
            return
        for label, weight in self.class_weight.items():
            if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
                raise ValueError(
                    f"class_weight[{label!r}] must be a finite number that is not negative, "
                    f"got {weight!r}"
                )

    def _set_meaning(self, meaning: Any) -> None:
        self.classes_ = meaning
        self.n_classes_ = len(meaning)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        return fields | self._stored_classes(), arrays

    def _stored_classes(self) -> dict[str, Any]:
        return {"classes": encode_labels(self.classes_)}

    def _restore_outputs(self, fields: Fields) -> int:
        self._set_meaning(fields.labels("classes"))
        return int(self.n_classes_)

    def _check_consistency(self) -> None:
        super()._check_consistency()
        self._check_classes()

    def _check_classes(self) -> None:
        """Raise if the classes do not agree with the forest."""
        n_outputs = self._forest.n_outputs
        if np.shape(self.classes_) != (n_outputs,) or self.n_classes_ != n_outputs:
            raise ModelFormatError(
                f"classes_ has shape {np.shape(self.classes_)} and n_classes_={self.n_classes_!r}, "
                f"but the forest has {n_outputs} outputs"
            )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the highest mean probability.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._decide(self._outputs(X))

    def _outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities as the forest gives them."""
        rows = self._rows_to_predict(X)
        return self._forest.predict(rows, self._n_threads(rows))

    def _decide(self, outputs: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Labels to predict."""
        labels: npt.NDArray[Any] = self.classes_.take(outputs.argmax(axis=1))
        return labels

    def _truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Labels from targets of the core."""
        labels: npt.NDArray[Any] = self.classes_[targets]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Mean over the trees of the class distribution in the leaf that a row reaches.

        Trees are added in a fixed order: the same bits for every ``n_jobs``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._outputs(X)

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`; minus infinity where that is zero.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class BaseForestClassifier(BaseCO2Classifier, BaseForest):
    """A forest of many trees for classes."""

    _oob_name = "oob_decision_function_"

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,)
            Labels: strings, whole numbers, booleans or dates.
        sample_weight : array-like of shape (n_samples,), default=None
            Without ``bootstrap``, an integer weight is the same as as many repeats of the row.

        Returns
        -------
        object
            The fitted forest itself.
        """
        return self._fit_forest(X, y, sample_weight)

    def _check_same_meaning(self, meaning: Any) -> None:
        if not np.array_equal(self.classes_, meaning):
            raise ValueError(
                "warm_start=True, but y has other classes than in the first fit: "
                f"{meaning}, not {self.classes_}"
            )

    def _oob_truth_and_prediction(
        self, data: TrainingSet, outputs: npt.NDArray[np.float64], rows: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return self._truth(data.targets[rows]), self._decide(outputs[rows])

    def _default_score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        return float(accuracy_score(truth, prediction))


def _encode_labels(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Checked labels, their classes, and the number of each label's class."""
    # Whole numbers can be nothing but classes, so that only a warning of too many is left to
    # scikit-learn; see plain_rows for the time that this saves.
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu"
    if not plain:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
    classes, codes = _encode(y)
    if plain and 2 * len(classes) > len(y):
        check_classification_targets(y)
    return y, classes, codes


def _encode(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The sorted classes, and for each row the number of its own.

    In blocks: ``np.unique(y, return_inverse=True)`` would take 30 bytes per row on the way.
    """
    classes = np.unique(y)
    dtype = np.uint8 if len(classes) <= 256 else np.int32
    numbers = y.dtype == dtype and y.flags.c_contiguous and len(classes) > 0
    if numbers and classes[0] == 0 and classes[-1] < len(classes):
        return classes, aligned(y)
    codes = np.empty(len(y), dtype=dtype)
    for begin in range(0, len(y), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        codes[block] = np.searchsorted(classes, y[block])
    return classes, codes
