# SPDX-License-Identifier: BSD-3-Clause
"""Several labels per row: each output is the probability of one label."""

from dataclasses import dataclass
from math import log
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite

from co2forest import _native
from co2forest.data.losses import Loss
from co2forest.data.outputs.base import Codes, Floats, Impurity, Outputs, Stored, Truth
from co2forest.data.outputs.classes import check_same_classes
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields, check_integer, encode_labels

_MOST_LABELS = 2**20  # `classes` makes an array for each, so a file must not ask for any number
BITS = 1 / log(2)  # in a nat, the core's unit of the losses of numbers


@dataclass(frozen=True, eq=False)
class LabelOutputs(Outputs):
    """A probability for each label; ``values`` are those of an absent and a present one."""

    task: ClassVar[str] = "labels"
    distributions: ClassVar[bool] = False
    values: npt.NDArray[Any]
    n_labels: int

    @classmethod
    def read(cls, labels: npt.NDArray[Any]) -> Self:
        """Read a checked matrix of labels."""
        return cls(np.array([0, 1], dtype=labels.dtype), labels.shape[1])

    @property
    def n_outputs(self) -> int:
        """The number of labels."""
        return self.n_labels

    @property
    def classes(self) -> list[npt.NDArray[Any]]:
        """The classes of each label, as scikit-learn's forests show them."""
        return [self.values] * self.n_labels

    def encode(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Zeros and ones."""
        return np.ascontiguousarray(y, dtype=np.float32)

    def training_set(
        self, X: Any, encoded: npt.NDArray[Any], weights: npt.NDArray[np.float32]
    ) -> TrainingSet:
        """Rows with zeros and ones as numbers to predict."""
        # scikit-learn's impurity is the mean over labels, the core's their sum.
        unit = BITS / self.n_labels
        return TrainingSet(X, encoded, weights, self.n_labels, unit, Loss("multilabel"))

    def truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The matrix of labels."""
        return targets.astype(self.values.dtype)

    def codes(self, raw: Floats) -> Codes:
        """One for each label that a row gets, zero elsewhere."""
        return (raw > 0.5).astype(np.int64)

    def decide(self, raw: Floats) -> npt.NDArray[Any]:
        """Give a row the labels whose probability is above one half."""
        return (raw > 0.5).astype(self.values.dtype)

    def proba(self, raw: Floats) -> list[Floats]:
        """Probabilities that each label is absent and present."""
        return [np.stack([1.0 - p, p], axis=1) for p in raw.T]

    def score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        """The fraction of rows whose labels are all right."""
        return float(accuracy_score(truth, prediction))

    @property
    def impurity(self) -> Impurity:
        """The mean entropy of the labels, in bits."""
        return Impurity("entropy", BITS / self.n_labels)

    def names(self, target: str) -> list[str]:
        """Labels have no names, only numbers."""
        del target
        return [f"label {k}" for k in range(self.n_labels)]

    def read_truth(self, y: Any) -> Truth:
        """One for each label that a row has, zero elsewhere."""
        labels = indicators(y)
        if labels is None or labels.shape[1] != self.n_labels:
            raise ValueError(
                f"y must have a column for each of the model's {self.n_labels} labels, "
                f"got shape {np.shape(y)}"
            )
        return Truth((labels != 0).astype(np.int64), [])

    def check_same(self, outputs: Any) -> None:
        """Raise unless there are as many labels."""
        check_same_classes(self.classes, outputs.classes)

    def out_of_bag(self, raw: Floats, left_out: npt.NDArray[np.bool_]) -> Floats:
        """Probabilities of absence and presence: rows, two values, labels."""
        both = np.stack([1.0 - raw, raw], axis=1)
        both[~left_out] = 0.0
        return both

    def out_of_bag_shape(self, n_rows: int) -> tuple[int, ...]:
        """Rows, two values, labels."""
        return n_rows, 2, self.n_labels

    def stored(self) -> Stored:
        """The two values and the number of labels."""
        return {"classes": encode_labels(self.values), "n_labels": self.n_labels}, {}

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read the labels of a file."""
        n_labels = fields.value("n_labels")
        check_integer("n_labels", n_labels, 2, _MOST_LABELS)
        return cls(fields.labels("classes"), n_labels)

    def check(self) -> None:
        """Raise unless there are two values."""
        check_integer("n_labels", self.n_labels, 2, _MOST_LABELS)
        values: Any = self.values  # from a pickle it may be anything
        if not isinstance(values, np.ndarray) or values.shape != (2,):
            raise ModelFormatError(
                f"classes_ must hold two values for each of {self.n_labels} labels"
            )

    def check_forest(self, forest: _native.Forest) -> None:
        """Raise unless the leaves hold probabilities, which the forest takes for numbers."""
        super().check_forest(forest)
        values = forest.arrays()["value"]
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise ModelFormatError("a leaf's probabilities of labels must be in [0, 1]")


def indicators(y: Any) -> npt.NDArray[Any] | None:
    """Check a matrix of labels, one column each; None unless y has several columns."""
    if type(y) is np.ndarray and y.ndim == 1:  # the usual case
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
