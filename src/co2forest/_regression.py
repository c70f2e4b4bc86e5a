"""What regressors do alike: targets, weights and predictions."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, column_or_1d

from co2forest import _native
from co2forest._base import BaseCO2
from co2forest._forest import BaseForest
from co2forest._rows import TrainingSet
from co2forest._sklearn_compat import fit_context
from co2forest._stored import Fields, check_integer
from co2forest._targets import check_counts, impurity_unit, map_of, standardised
from co2forest._weights import checked_weights
from co2forest.exceptions import ModelFormatError


class BaseCO2Regressor(RegressorMixin, BaseCO2):
    """A forest whose outputs are numbers, which the core sees in other units (`_targets.py`)."""

    _distributions = False
    n_outputs_: int
    _target_map: npt.NDArray[np.float64]  # two rows: offset and unit of each output
    _one_dimensional: bool  # whether y, and so every prediction, is a vector

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _validate_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingSet, npt.NDArray[Any]]:
        """Checked data with standardised targets, and the map from these to the targets."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = self._validate_rows(X, reset=True)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        check_consistent_length(X, y)
        self._one_dimensional = y.ndim == 1 or y.shape[1] == 1
        columns = column_or_1d(y, warn=True)[:, None] if self._one_dimensional else y
        weights = checked_weights(X, sample_weight)
        loss = self._native_loss()
        known = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        # With another number of outputs the forest will say that it cannot go on.
        known = known and self._target_map.shape[1] == columns.shape[1]
        if loss.kind == _native.ValueLossKind.poisson:
            check_counts(columns, weights)
        target_map = self._target_map if known else map_of(columns, weights, loss.kind)
        return self._training_set(X, columns, weights, target_map), target_map

    def _training_set(
        self,
        X: Any,
        columns: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float32],
        target_map: npt.NDArray[np.float64],
    ) -> TrainingSet:
        """Checked data as the core takes them."""
        loss = self._native_loss()
        return TrainingSet(
            X,
            standardised(columns, weights, target_map),
            weights,
            columns.shape[1],
            impurity_unit(target_map, loss.kind),
            loss,
            columns if getattr(self, "keep_targets", False) else None,
        )

    def _native_loss(self) -> _native.ValueLossParams:
        """The squared error, if nobody says something else."""
        return _native.ValueLossParams()

    def _set_meaning(self, meaning: Any) -> None:
        self._target_map = meaning
        self.n_outputs_ = meaning.shape[1]

    def _in_units_of_y(self, outputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        offset, unit = self._target_map
        values: npt.NDArray[np.float64] = outputs * unit + offset
        return values[:, 0] if self._one_dimensional else values

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Mean over the trees of the value of the leaf that a row reaches.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        rows = self._rows_to_predict(X)
        return self._in_units_of_y(self._forest.predict(rows, self._n_threads(rows)))

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        fields |= {"n_outputs": self.n_outputs_, "one_dimensional": self._one_dimensional}
        return fields, arrays | {"target_map": self._target_map}

    def _restore_outputs(self, fields: Fields) -> int:
        self._one_dimensional = fields.value("one_dimensional")
        n_outputs = fields.value("n_outputs")
        check_integer("n_outputs", n_outputs, 1, 2**31 - 1)
        self._set_meaning(fields.array("target_map", (2, n_outputs)))
        return self.n_outputs_

    def _check_consistency(self) -> None:
        super()._check_consistency()
        n_outputs = self._forest.n_outputs
        shape = np.shape(self._target_map)
        if shape != (2, n_outputs) or self.n_outputs_ != n_outputs:
            raise ModelFormatError(
                f"target_map has shape {shape} and n_outputs_={self.n_outputs_!r}, "
                f"but the forest has {n_outputs} outputs"
            )
        if not np.isfinite(self._target_map).all():
            raise ModelFormatError("target_map must be finite")
        vector: Any = self._one_dimensional  # of a file it may be anything
        if type(vector) is not bool or (vector and n_outputs != 1):
            raise ModelFormatError(f"one_dimensional={vector!r} does not fit {n_outputs} outputs")


class BaseForestRegressor(BaseCO2Regressor, BaseForest):
    """A forest of many trees for numbers."""

    _oob_name = "oob_prediction_"

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Without ``bootstrap`` and with ``min_samples_leaf=1``, an integer weight is the same as
            as many repeats of the row.

        Returns
        -------
        object
            The fitted forest itself.
        """
        return self._fit_forest(X, y, sample_weight)

    def _check_same_meaning(self, meaning: Any) -> None:
        if meaning.shape[1] != self.n_outputs_:
            raise ValueError(
                "warm_start=True, but y has another number of outputs than in the first fit: "
                f"{meaning.shape[1]}, not {self.n_outputs_}"
            )

    def _oob_outputs(
        self, outputs: npt.NDArray[np.float64], left_out: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        values = self._in_units_of_y(outputs)
        values[~left_out] = 0.0
        return values

    def _oob_shape(self, n_rows: int) -> tuple[int, ...]:
        return (n_rows,) if self._one_dimensional else (n_rows, self.n_outputs_)

    def _oob_truth_and_prediction(
        self, data: TrainingSet, outputs: npt.NDArray[np.float64], rows: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        truth = data.targets[rows].astype(np.float64)
        return self._in_units_of_y(truth), self._in_units_of_y(outputs[rows])

    def _default_score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        return float(r2_score(truth, prediction))
