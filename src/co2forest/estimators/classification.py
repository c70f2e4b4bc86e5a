# SPDX-License-Identifier: BSD-3-Clause
"""What classifiers have in common: labels, class weights and probabilities."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from co2forest._one_fit import of_one_fit
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.costs import CostOutputs
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.estimators.model import Model
from co2forest.estimators.target_readers import LabelReader
from co2forest.files.fields import Fields


class Classifier(LabelReader, Model):
    """A model whose outputs are probabilities of classes or of several labels."""

    _kinds_of_outputs: ClassVar[tuple[type[Outputs], ...]] = (
        ClassOutputs,
        CostOutputs,
        LabelOutputs,
    )
    _oob_name: ClassVar[str] = "oob_decision_function_"

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
