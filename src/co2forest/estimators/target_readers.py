# SPDX-License-Identifier: BSD-3-Clause
"""How estimators read the rows and targets of a fit: classes, several labels per row, numbers."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from co2forest.data.losses import SQUARED, Loss, chosen_by_users, traits_of
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.classes import ClassOutputs, checked_labels
from co2forest.data.outputs.costs import CostOutputs, checked_costs
from co2forest.data.outputs.labels import LabelOutputs, indicators
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.outputs.units import check_range, units_of
from co2forest.data.rows import rows_to_fit
from co2forest.data.training_set import TrainingSet
from co2forest.data.weights import ALL_ONE, check_class_weight, checked_weights, class_weighted
from co2forest.estimators.row_reader import RowReader


class LabelReader(ClassifierMixin, RowReader):
    """An estimator that is fitted to labels."""

    # Several labels per row and costs are for CO2 forests and trees.
    _several_labels: ClassVar[bool] = False
    class_weight: dict[Any, float] | str | None
    cost_matrix: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._several_labels:
            weight = self.class_weight  # not checked yet: anything
            plain = weight is None or (isinstance(weight, str) and weight == "balanced")
            tags.classifier_tags.multi_label = plain and self.cost_matrix is None
        return tags

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


class NumberReader(RegressorMixin, RowReader):
    """An estimator that is fitted to numbers."""

    _outputs: Any  # NumberOutputs, of an earlier fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        loss: Any = getattr(self, "loss", None)  # not checked yet
        known = isinstance(loss, str) and loss in chosen_by_users()
        tags.target_tags.positive_only = known and traits_of(loss).lowest == 0
        return tags

    def _loss(self) -> Loss | None:
        """The loss of the parameters; None where an estimator offers no choice."""
        return Loss.of(self) if hasattr(self, "loss") else None

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Outputs, TrainingSet]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, read = rows_to_fit(self, X)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        check_consistent_length(X, y)
        one_dimensional = y.ndim == 1 or y.shape[1] == 1
        columns = column_or_1d(y, warn=True)[:, None] if one_dimensional else y
        weights = checked_weights(X, sample_weight)
        chosen = self._loss()
        loss = chosen or SQUARED
        check_range(columns, weights, loss)
        # With another number of outputs the warm start will say that it cannot go on.
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        if goes_on and self._outputs.n_outputs == columns.shape[1]:
            units = self._outputs.units
        else:
            units = units_of(columns, weights, loss)
        outputs = NumberOutputs(units, one_dimensional, chosen)
        data = outputs.training_set(X, columns, weights)
        return outputs, data.seen(read, self._earlier_views)
