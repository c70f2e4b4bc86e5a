# SPDX-License-Identifier: BSD-3-Clause
"""One or several numbers per row, which the core sees in units of its own (`units.py`)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils import check_array

from co2forest.data.losses import SQUARED, Loss
from co2forest.data.outputs.base import Floats, Impurity, Outputs, Stored, Truth
from co2forest.data.outputs.units import impurity_unit, standardised, units_of, widened
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields, check_integer


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Numbers, with the offset and unit in which the core sees each."""

    task: ClassVar[str] = "numbers"
    distributions: ClassVar[bool] = False
    units: npt.NDArray[np.float64]  # two rows: offset and unit of each output
    one_dimensional: bool  # whether y, and so every prediction, is a vector
    loss: Loss | None = None  # None: the squared error of estimators that offer no choice

    def with_units_of(
        self,
        sample: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float32],
        extremes: npt.NDArray[np.float64],
    ) -> Self:
        """Take the units from a sample of y, wide enough for the extremes of all its rows."""
        units = units_of(sample, weights, self.loss or SQUARED)
        return replace(self, units=widened(units, sample, extremes))

    @property
    def n_outputs(self) -> int:
        """The number of columns of y."""
        return int(self.units.shape[1])

    @property
    def offset(self) -> Floats:
        """What zero stands for, for each output."""
        offset: Floats = self.units[0]
        return offset

    @property
    def unit(self) -> Floats:
        """What one stands for, for each output."""
        unit: Floats = self.units[1]
        return unit

    @property
    def logarithmic(self) -> bool:
        """Whether raw outputs are logarithms of what is predicted."""
        return False

    def encode(self, y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Columns of numbers, still in the units of y."""
        return y[:, None] if y.ndim == 1 else y

    def training_set(
        self, X: Any, encoded: npt.NDArray[np.float64], weights: npt.NDArray[np.float32]
    ) -> TrainingSet:
        """Rows with targets in the core's units; the original ones stay beside them."""
        loss = self.loss or SQUARED
        targets = standardised(encoded, weights, self.units)
        unit = impurity_unit(self.units, loss)
        return TrainingSet(X, targets, weights, self.n_outputs, unit, loss, encoded)

    def in_units_of_y(self, values: Floats) -> Floats:
        """Turn the core's numbers into those of y."""
        offset, unit = self.units
        numbers: Floats = values * unit + offset
        return numbers[:, 0] if self.one_dimensional else numbers

    def truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Targets in the units of y."""
        return self.in_units_of_y(targets.astype(np.float64))

    def decide(self, raw: Floats) -> npt.NDArray[Any]:
        """Predictions in the units of y."""
        return self.in_units_of_y(raw)

    def proba(self, raw: Floats) -> Any:
        """Numbers have no probabilities."""
        del raw
        raise TypeError("numbers have no probabilities")

    def score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        """R squared."""
        return float(r2_score(truth, prediction))

    @property
    def impurity(self) -> Impurity:
        """The loss of the best constant, in units of y."""
        loss = self.loss or SQUARED
        return Impurity(loss.traits.impurity_name, impurity_unit(self.units, loss))

    def names(self, target: str) -> list[str]:
        """The name of y, with a number if there are several outputs."""
        return [target] if self.one_dimensional else [f"{target}{k}" for k in range(self.n_outputs)]

    def read_truth(self, y: Any) -> Truth:
        """Columns of numbers in units of y."""
        return Truth(number_columns(y, self.n_outputs), [])

    def check_same(self, outputs: Any) -> None:
        """Raise unless a warm start has as many outputs and the loss of the first fit."""
        if outputs.n_outputs != self.n_outputs:
            raise ValueError(
                "warm_start=True, but y has another number of outputs than in the first fit: "
                f"{outputs.n_outputs}, not {self.n_outputs}"
            )
        before, now = (o.loss.text if o.loss else "" for o in (self, outputs))
        if now != before:
            raise ValueError(
                f"warm_start=True, but the loss differs from the first fit: {now}, not {before}"
            )

    def out_of_bag(self, raw: Floats, left_out: npt.NDArray[np.bool_]) -> Floats:
        """Predictions in the units of y."""
        values = self.in_units_of_y(raw)
        values[~left_out] = 0.0
        return values

    def out_of_bag_shape(self, n_rows: int) -> tuple[int, ...]:
        """The shape of y."""
        return (n_rows,) if self.one_dimensional else (n_rows, self.n_outputs)

    def stored(self) -> Stored:
        """The shape of y, its units, and the loss if it was a choice."""
        fields: dict[str, Any] = {
            "n_outputs": self.n_outputs,
            "one_dimensional": self.one_dimensional,
        }
        if self.loss is not None:
            fields["loss"] = self.loss.text
        return fields, {"target_map": self.units}

    @classmethod
    def restore(cls, fields: Fields, *, chooses_loss: bool) -> Self:
        """Read what a file says about numbers."""
        one_dimensional = fields.value("one_dimensional")
        n_outputs = fields.value("n_outputs")
        check_integer("n_outputs", n_outputs, 1, 2**31 - 1)
        units = fields.array("target_map", (2, n_outputs))
        loss = Loss.parse(fields.value("loss")) if chooses_loss else None
        return cls(units, one_dimensional, loss)

    def check(self) -> None:
        """Raise unless shape and units are sound."""
        shape = np.shape(self.units)
        if len(shape) != 2 or shape[0] != 2 or not np.isfinite(self.units).all():
            raise ModelFormatError(f"target_map must be two rows of finite numbers, not {shape}")
        if not (self.unit > 0.0).all():
            raise ModelFormatError("target_map must have units above zero in its second row")
        vector: Any = self.one_dimensional  # from a file it may be anything
        if type(vector) is not bool or (vector and self.n_outputs != 1):
            raise ModelFormatError(
                f"one_dimensional={vector!r} does not fit {self.n_outputs} outputs"
            )
        if self.loss is None:
            return
        if not isinstance(self.loss, Loss):
            raise ModelFormatError(f"the loss must be a Loss, got {type(self.loss).__name__}")
        self.loss.check()


def number_columns(y: Any, n_outputs: int) -> Floats:
    """Numbers with a column for each output of a model."""
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    columns: Floats = values.reshape(len(values), -1)
    if columns.shape[1] != n_outputs:
        raise ValueError(
            f"y has {columns.shape[1]} columns, but the model predicts {n_outputs} outputs"
        )
    return columns
