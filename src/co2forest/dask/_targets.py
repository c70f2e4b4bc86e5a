# SPDX-License-Identifier: BSD-3-Clause
"""What each partition finds out about y, and what all of them together say.

What outputs mean is known to `co2forest.data.outputs`; here it is found out from pieces of y. All
partitions encode y in the same way, so a class that a tree has not drawn keeps its code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import assert_all_finite, check_array, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from co2forest.data.losses import SQUARED
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.labels import indicators
from co2forest.data.outputs.numbers import NumberOutputs

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class FoundLabels:
    """The labels of a partition."""

    classes: npt.NDArray[Any]  # with several labels per row an empty array of their dtype
    counts: npt.NDArray[np.int64]  # rows of each class, or rows that have each label
    weighted: npt.NDArray[np.int64]  # rows with a weight: of each class, or in all
    n_rows: int
    several: bool


@dataclass(frozen=True)
class FoundNumbers:
    """The numbers of a partition: the extremes of those that have a weight."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    one_dimensional: bool
    weighted: int  # rows
    n_rows: int


@dataclass(frozen=True)
class Targets:
    """What y is in all partitions."""

    outline: Any  # Outputs; numbers get their units from a sample
    class_weights: Weights | None = None  # with several labels, those of absent and present ones
    extremes: npt.NDArray[np.float64] | None = None  # two rows, if y are numbers

    def outputs(self, encoded: npt.NDArray[Any], weights: Weights) -> Outputs:
        """What outputs mean, with the units of a sample."""
        outputs: Outputs = self.outline
        if self.extremes is not None:
            outputs = self.outline.with_units_of(encoded, weights, self.extremes)
        return outputs

    def n_counted(self, found: Any) -> int:
        """How many rows of a partition have a weight and are of a class that has one."""
        if self.class_weights is None or self.outline.task != "classes" or found.n_rows == 0:
            return int(np.sum(found.weighted))
        weights = self.class_weights[self.outline.encode(found.classes)]
        return int(found.weighted[weights > 0].sum())

    def values(self, y: Any) -> npt.NDArray[Any]:
        """The targets of a partition, checked."""
        if self.outline.task == "numbers":
            return _columns(y)
        return _column(_array(y)) if self.outline.task == "classes" else _array(y)

    def encode(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Checked targets as `Outputs.training_set` takes them."""
        encoded: npt.NDArray[Any] = self.outline.encode(values)
        if self.outline.task == "classes":
            classes = self.outline.classes
            if (classes[np.minimum(encoded, len(classes) - 1)] != values).any():
                raise ValueError("y has labels that it did not have when it was first read")
        return encoded

    def factors(self, encoded: npt.NDArray[Any]) -> Weights | None:
        """What ``class_weight`` gives each row; None if that is one."""
        if self.class_weights is None:
            return None
        if self.outline.task == "classes":
            return np.asarray(self.class_weights[encoded])
        absent, present = self.class_weights
        factors: Weights = np.where(encoded > 0, present, absent).prod(axis=1)
        return factors


def find_labels(y: Any, has_weight: npt.NDArray[np.bool_]) -> FoundLabels:
    """Check the labels of a partition, and count them."""
    values = _array(y)
    n_weighted = np.array([np.count_nonzero(has_weight)])
    if len(values) == 0:
        several = values.ndim == 2 and values.shape[1] > 1
        width = values.shape[1] if several else 0
        return FoundLabels(values.ravel(), np.zeros(width, dtype=np.int64), n_weighted, 0, several)
    matrix = indicators(values)
    if matrix is not None:
        counts = np.count_nonzero(matrix, axis=0)
        return FoundLabels(np.empty(0, matrix.dtype), counts, n_weighted, len(matrix), several=True)
    values = _column(values)
    assert_all_finite(values, input_name="y")
    classes, codes, counts = _unique(values)
    # Each class three times, because scikit-learn warns of many classes in few rows, which are
    # normal in a partition. The warning cannot be ignored for a moment: threads share its filters.
    check_classification_targets(np.repeat(classes, 3))
    weighted = np.bincount(codes[has_weight], minlength=len(classes))
    return FoundLabels(classes, counts, weighted, len(values), several=False)


def find_numbers(y: Any, has_weight: npt.NDArray[np.bool_]) -> FoundNumbers:
    """Check the numbers of a partition, and find their extremes."""
    columns = _columns(y)
    one_dimensional = np.ndim(y) == 1 or columns.shape[1] == 1
    counted = columns[has_weight] if len(has_weight) == len(columns) else columns
    if len(counted) == 0:
        return FoundNumbers(np.empty(0), np.empty(0), one_dimensional, 0, len(columns))
    low, high = counted.min(axis=0), counted.max(axis=0)
    return FoundNumbers(low, high, one_dimensional, len(counted), len(columns))


def all_targets(found: Sequence[Any], estimator: Any) -> Targets:
    """What all partitions say; raises if the parameters do not go together with it."""
    found = [each for each in found if each.n_rows > 0]
    counted = [each for each in found if np.sum(each.weighted) > 0]
    if not counted:
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    if is_classifier(estimator):
        return _all_labels(found, estimator)
    return _all_numbers(counted, estimator)


def _all_labels(found: Sequence[FoundLabels], estimator: Any) -> Targets:
    width = _one_width({len(each.counts) if each.several else 1 for each in found})
    several = found[0].several
    if several and not estimator._several_labels:  # noqa: SLF001
        raise ValueError(
            f"y must be a column of labels, because {type(estimator).__name__} takes one class "
            f"per row, got {width} columns"
        )
    estimator._check_class_weight(several=several)  # noqa: SLF001
    weights: npt.NDArray[Any] | None
    if several:
        y = np.empty((0, width), np.result_type(*(each.classes for each in found)))
        weights = _label_weights(found, estimator.class_weight)
    else:
        y, _, _ = _unique(np.concatenate([each.classes for each in found]))
        weights = _class_weights(found, y, estimator.class_weight)
    outputs = estimator._outputs_of(y, several=several)  # noqa: SLF001
    return Targets(outputs, None if weights is None else weights.astype(np.float32))


def _class_weights(
    found: Sequence[FoundLabels], classes: npt.NDArray[Any], class_weight: Any
) -> npt.NDArray[np.float64] | None:
    """The weight of each class; "balanced_subsample" depends on what a tree draws."""
    if class_weight in (None, "balanced_subsample"):
        return None
    if class_weight != "balanced":
        return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes))
    counts = np.zeros(len(classes))
    for each in found:
        counts[np.searchsorted(classes, each.classes)] += each.counts
    return np.asarray(counts.sum() / (len(classes) * counts))


def _label_weights(
    found: Sequence[FoundLabels], class_weight: Any
) -> npt.NDArray[np.float64] | None:
    """Weights of absent and present labels."""
    if class_weight is None:
        return None
    n_rows = sum(each.n_rows for each in found)
    present = np.sum([each.counts for each in found], axis=0).astype(np.float64)
    counts = np.stack([n_rows - present, present])
    n_values = np.count_nonzero(counts, axis=0)  # of a column: 1 if all rows are the same
    return np.asarray(n_rows / (n_values * np.maximum(counts, 1)))


def _all_numbers(found: Sequence[FoundNumbers], estimator: Any) -> Targets:
    _one_width({len(each.low) for each in found})
    low = np.min([each.low for each in found], axis=0)
    high = np.max([each.high for each in found], axis=0)
    loss = estimator._loss()  # noqa: SLF001
    traits = (loss or SQUARED).traits
    if (low < traits.lowest).any() or (traits.needs_positive and (high <= 0).any()):
        raise ValueError(
            f"loss={traits.name!r} is for counts and rates: y must not be negative, and each "
            "column must have a positive number, but they lie from "
            f"{low.tolist()} to {high.tolist()}"
        )
    extremes = np.stack([low, high])
    outline = NumberOutputs(extremes, found[0].one_dimensional, loss)
    return Targets(outline, extremes=extremes)


def _one_width(widths: set[int]) -> int:
    if len(widths) > 1:
        raise ValueError("y must have the same number of columns in all partitions")
    return widths.pop()


def _unique(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Classes, the class of each label, and how often it occurs."""
    try:
        return np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError(f"y has labels of kinds that cannot be compared: {error}") from error


def _array(y: Any) -> npt.NDArray[Any]:
    """Values of an array, a column or a data frame."""
    values = np.asarray(y)
    missing = y.isna() if hasattr(y, "isna") else False
    if values.dtype == object and not np.any(missing):
        missing = [value is None for value in values.flat]
    if np.any(missing):
        raise ValueError("y has missing values")
    return values


def _column(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y must be a column of labels, got shape {values.shape}")
    return values


def _columns(y: Any) -> npt.NDArray[np.float64]:
    columns: npt.NDArray[np.float64] = check_array(
        _array(y), ensure_2d=False, dtype=np.float64, ensure_min_samples=0, input_name="y"
    )
    return columns[:, None] if columns.ndim == 1 else columns
