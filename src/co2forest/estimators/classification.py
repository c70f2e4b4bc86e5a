# SPDX-License-Identifier: BSD-3-Clause
"""What classifiers have in common: labels, class weights and probabilities."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from co2forest._one_fit import of_one_fit
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.classes import ClassOutputs, checked_labels
from co2forest.data.outputs.costs import CostOutputs, checked_costs
from co2forest.data.outputs.labels import LabelOutputs, indicators
from co2forest.data.rows import rows_to_fit
from co2forest.data.training_set import TrainingSet
from co2forest.data.weights import ALL_ONE, check_class_weight, class_weighted
from co2forest.estimators.model import Model
from co2forest.files.fields import Fields


class Classifier(ClassifierMixin, Model):
    """A model whose outputs are probabilities of classes or of several labels."""

    # Several labels per row and costs are for CO2 forests and trees.
    _several_labels: ClassVar[bool] = False
    _kinds_of_outputs: ClassVar[tuple[type[Outputs], ...]] = (
        ClassOutputs,
        CostOutputs,
        LabelOutputs,
    )
    _oob_name: ClassVar[str] = "oob_decision_function_"
    class_weight: dict[Any, float] | str | None
    cost_matrix: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._several_labels:
            weight = self.class_weight  # not checked yet: anything
            plain = weight is None or (isinstance(weight, str) and weight == "balanced")
            tags.classifier_tags.multi_label = plain and self.cost_matrix is None
        return tags

    @property
    def classes_(self) -> Any:
        """The labels, sorted; with several labels per row a list of arrays."""
        return self._outputs.classes  # type: ignore[attr-defined]  # classifiers' outputs have it

    @property
    def n_classes_(self) -> Any:
        """Number of classes; with several labels per row a list of numbers."""
        classes = self.classes_
        return [len(values) for values in classes] if type(classes) is list else len(classes)

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        return len(self.classes_) if type(self.classes_) is list else 1

    @property
    def cost_matrix_(self) -> npt.NDArray[np.float64] | None:
        """The costs in use."""
        return getattr(self._outputs, "costs", None)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Outputs, TrainingSet]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        vector = type(y) is np.ndarray and y.ndim == 1  # the usual case
        labels = indicators(y) if self._several_labels and not vector else None
        if self.class_weight is not None or labels is not None:
            self._check_class_weight(several=labels is not None)
        X, columns = rows_to_fit(self, X)
        y = checked_labels(y) if labels is None else labels
        plain = labels is None and getattr(self, "cost_matrix", None) is None
        outputs = ClassOutputs.read(y) if plain else self._outputs_of(y, several=labels is not None)
        encoded = outputs.encode(y)
        if y.ndim == 1 and y.dtype.kind in "iu" and 2 * outputs.n_outputs > len(y):
            check_classification_targets(y)  # warns of many classes
        check_consistent_length(X, y)
        weights = ALL_ONE
        if sample_weight is not None or self.class_weight is not None:
            weights = class_weighted(X, y, sample_weight, self.class_weight)
        data = outputs.training_set(X, encoded, weights)
        return outputs, data.seen(columns, self._earlier_views)

    def _outputs_of(self, y: npt.NDArray[Any], *, several: bool) -> Outputs:
        """What checked labels say about the outputs."""
        if several:
            return LabelOutputs.read(y)
        outputs = ClassOutputs.read(y)
        if getattr(self, "cost_matrix", None) is None:
            return outputs
        return CostOutputs(outputs.classes, checked_costs(self.cost_matrix, outputs.classes))

    def _check_class_weight(self, *, several: bool) -> None:
        """Raise if parameters do not go together."""
        check_class_weight(self.class_weight)
        costs = getattr(self, "cost_matrix", None) is not None
        if several and costs:
            raise ValueError(
                "cost_matrix is for one class per row, but y has several columns; it must be None"
            )
        if several and isinstance(self.class_weight, dict):
            raise ValueError(
                f"class_weight={self.class_weight!r} is for one class per row, but y has several "
                "columns; it must be None or 'balanced'"
            )
        for present, name in ((several, "a y of several columns"), (costs, "cost_matrix")):
            if present and self.class_weight == "balanced_subsample":
                raise ValueError(
                    f"class_weight='balanced_subsample' does not go together with {name}; "
                    "class_weight='balanced' does"
                )

    def _restore_outputs(self, fields: Fields) -> Outputs:
        if self._several_labels and "n_labels" in fields:
            return LabelOutputs.restore(fields)
        if self._several_labels and "cost_matrix" in fields:
            return CostOutputs.restore(fields)
        return ClassOutputs.restore(fields)

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the highest probability.

        With ``cost_matrix`` it is the one with the least expected cost. With several labels, a row
        gets those whose probability is above one half.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        raw = self._raw(X)  # first, because it checks that there is a fit
        return self._outputs.decide(raw)

    @of_one_fit
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
        raw = self._raw(X)  # first, because it checks that there is a fit
        return self._outputs.proba(raw)

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
            return [np.log(p) for p in proba] if type(proba) is list else np.log(proba)
