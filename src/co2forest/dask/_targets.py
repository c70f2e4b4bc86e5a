"""What partitions say about y, put together, and how y becomes what the core is trained on.

Each kind of target is a pair: what is found in one partition, and what all of them make of it,
which then encodes every partition alike. A subsample that misses a class has its code all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_array, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from co2forest import _native
from co2forest._co2_classification import classes_of_labels, indicators
from co2forest._targets import FARTHEST, map_of
from co2forest._weights import in_range

Weights = npt.NDArray[np.float32]


class Targets(Protocol):
    """How y is encoded, in every partition alike."""

    def rows_that_count(self, found: Any) -> int:
        """How many rows of a partition have a weight."""

    def encode(self, y: Any) -> npt.NDArray[Any]:
        """Codes or columns of numbers, as the estimator's `_training_set` takes them."""

    def decode(self, encoded: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The way back."""

    def outline(self) -> Any:
        """Like `meaning`, as far as it does not depend on a sample."""

    def factors(self, encoded: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None:
        """What the weight of each row is multiplied with; None: one."""

    def drawn_factors(
        self, encoded: npt.NDArray[Any], counts: npt.NDArray[Any]
    ) -> npt.NDArray[np.float64] | None:
        """The same, as far as it depends on what a tree has drawn, and how often."""

    def meaning(self, encoded: npt.NDArray[Any], weights: Weights) -> Any:
        """What the outputs mean; may depend on a sample."""


# --- classes ---


@dataclass(frozen=True)
class FoundLabels:
    """The labels of a partition."""

    classes: npt.NDArray[Any]  # of several labels per row: just their dtype, without entries
    counts: npt.NDArray[np.int64]  # rows of each class; or rows that have each label
    weighted: npt.NDArray[np.int64]  # rows of each class that have a weight; or of all
    n_rows: int
    several: bool


def find_labels(y: Any, has_weight: npt.NDArray[np.bool_]) -> FoundLabels:
    """Checked labels of a partition, and how often each occurs."""
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
    try:
        classes, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise _incomparable(error) from error
    # Each thrice, because it warns of many classes for few rows, no wonder in a partition. Filters
    # of warnings are shared by threads: one that is set for a moment may stay for ever.
    check_classification_targets(np.repeat(classes, 3))
    weighted = np.bincount(codes[has_weight], minlength=len(classes))
    return FoundLabels(classes, counts, weighted, len(values), several=False)


@dataclass(frozen=True)
class Classes:
    """Labels of all partitions."""

    classes: Any  # an array, or a list of arrays for several labels
    class_factors: npt.NDArray[np.float32] | None  # of classes; or of labels, absent and present
    balance_drawn: bool

    def rows_that_count(self, found: FoundLabels) -> int:
        """How many rows of a partition have a weight, those of their classes included."""
        if found.several or found.n_rows == 0 or self.class_factors is None:
            return int(found.weighted.sum())
        factors = self.class_factors[np.searchsorted(self.classes, found.classes)]
        return int(found.weighted[factors > 0].sum())

    def encode(self, y: Any) -> npt.NDArray[Any]:
        """Numbers of classes; or zeros and ones."""
        values = _array(y)
        if isinstance(self.classes, list):
            return values.astype(np.float32)
        values = _column(values)
        codes = np.searchsorted(self.classes, values)
        if (self.classes[np.minimum(codes, len(self.classes) - 1)] != values).any():
            raise ValueError("y has labels that it did not have when it was first read")
        return codes.astype(np.uint8 if len(self.classes) <= 256 else np.int32)

    def decode(self, encoded: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Labels."""
        if isinstance(self.classes, list):
            return encoded.astype(self.classes[0].dtype)
        labels: npt.NDArray[Any] = self.classes[encoded]
        return labels

    def outline(self) -> Any:
        """The classes."""
        return self.classes

    def factors(self, encoded: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None:
        """Class weights."""
        if self.class_factors is None:
            return None
        if not isinstance(self.classes, list):
            return np.asarray(self.class_factors[encoded])
        absent, present = self.class_factors
        factors: npt.NDArray[np.float32] = np.where(encoded > 0, present, absent).prod(axis=1)
        return factors

    def drawn_factors(
        self, encoded: npt.NDArray[Any], counts: npt.NDArray[Any]
    ) -> npt.NDArray[np.float64] | None:
        """``class_weight="balanced_subsample"``."""
        if not self.balance_drawn:
            return None
        drawn = np.bincount(encoded, counts, len(self.classes))
        factors = drawn.sum() / (np.count_nonzero(drawn) * np.maximum(drawn, 1))
        return np.asarray(factors[encoded], dtype=np.float64)

    def meaning(self, encoded: npt.NDArray[Any], weights: Weights) -> Any:
        """The classes."""
        del encoded, weights
        return self.classes


def all_classes(found: Sequence[FoundLabels], class_weight: Any) -> Classes:
    """What the labels of all partitions are."""
    found = [part for part in found if part.n_rows > 0]
    kinds = {part.several for part in found}
    widths = {len(part.counts) for part in found if part.several}
    if len(kinds) > 1 or len(widths) > 1:
        raise ValueError("y must have the same number of columns in all partitions")
    if kinds == {True}:
        return _all_labels(found, class_weight)
    try:
        classes = np.unique(np.concatenate([part.classes for part in found]))
    except TypeError as error:
        raise _incomparable(error) from error
    balance_drawn = class_weight == "balanced_subsample"
    if class_weight is None or balance_drawn:
        return Classes(classes, None, balance_drawn)
    if class_weight == "balanced":
        counts = np.zeros(len(classes))
        for part in found:
            counts[np.searchsorted(classes, part.classes)] += part.counts
        factors = counts.sum() / (len(classes) * counts)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes)
    return Classes(classes, factors.astype(np.float32), balance_drawn)


def _all_labels(found: Sequence[FoundLabels], class_weight: Any) -> Classes:
    present = np.sum([part.counts for part in found], axis=0).astype(np.float64)
    n_rows = sum(part.n_rows for part in found)
    labels = np.empty((0, len(present)), np.result_type(*(part.classes for part in found)))
    factors = None
    if class_weight == "balanced":
        counts = np.stack([n_rows - present, present])
        values = np.count_nonzero(counts, axis=0)  # that occur in the column
        factors = (n_rows / (values * np.maximum(counts, 1))).astype(np.float32)
    return Classes(classes_of_labels(labels), factors, balance_drawn=False)


# --- numbers ---


@dataclass(frozen=True)
class FoundNumbers:
    """The targets of a partition."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    one_dimensional: bool
    n_weighted: int  # rows
    n_rows: int


def find_numbers(y: Any, has_weight: npt.NDArray[np.bool_]) -> FoundNumbers:
    """Checked numbers of a partition: the least and the greatest of those that count."""
    columns = _columns(y)
    one_dimensional = np.ndim(y) == 1 or columns.shape[1] == 1
    counted = columns[has_weight] if len(has_weight) == len(columns) else columns
    if len(counted) == 0:
        return FoundNumbers(np.empty(0), np.empty(0), one_dimensional, 0, len(columns))
    low, high = counted.min(axis=0), counted.max(axis=0)
    return FoundNumbers(low, high, one_dimensional, len(counted), len(columns))


@dataclass(frozen=True)
class Numbers:
    """Targets of all partitions."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    one_dimensional: bool
    loss: str  # a name of ValueLossKind

    def rows_that_count(self, found: FoundNumbers) -> int:
        """How many rows of a partition have a weight."""
        return found.n_weighted

    def encode(self, y: Any) -> npt.NDArray[Any]:
        """Numbers in columns."""
        return _columns(y)

    def decode(self, encoded: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers as they were."""
        return encoded

    def outline(self) -> Any:
        """Two numbers for each output."""
        return np.stack([self.low, self.high])

    def factors(self, encoded: npt.NDArray[Any]) -> npt.NDArray[np.float32] | None:
        """None: numbers have no classes."""
        del encoded
        return None

    def drawn_factors(
        self, encoded: npt.NDArray[Any], counts: npt.NDArray[Any]
    ) -> npt.NDArray[np.float64] | None:
        """None: numbers have no classes."""
        del encoded, counts
        return None

    def meaning(self, encoded: npt.NDArray[Any], weights: Weights) -> Any:
        """Offset and unit of each output, from a sample; wide enough for all partitions."""
        offset, unit = map_of(encoded, weights, _native.ValueLossKind[self.loss])
        farthest = np.maximum(self.high / 2 - offset / 2, offset / 2 - self.low / 2)
        constant = encoded.min(axis=0) == encoded.max(axis=0)  # in the sample
        unit = np.where(constant & (farthest > 0), np.minimum(2 * farthest, 1e308), unit)
        return np.stack([offset, np.maximum(unit, farthest / (FARTHEST / 2000))])


def all_numbers(found: Sequence[FoundNumbers], loss: _native.ValueLossParams) -> Numbers:
    """What the targets of all partitions are."""
    found = [part for part in found if part.n_weighted > 0]
    if len({len(part.low) for part in found}) > 1:
        raise ValueError("y must have the same number of columns in all partitions")
    low = np.min([part.low for part in found], axis=0)
    high = np.max([part.high for part in found], axis=0)
    if loss.kind == _native.ValueLossKind.poisson and ((low < 0).any() or (high <= 0).any()):
        raise ValueError(
            f"loss='poisson' is for counts and rates: y must not be negative, and each column must "
            f"have a positive number, but they lie from {low.tolist()} to {high.tolist()}"
        )
    return Numbers(low, high, found[0].one_dimensional, loss.kind.name)


# --- both ---


def row_weights(
    targets: Targets,
    encoded: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    weights: Weights | None,
) -> Weights:
    """Weights of drawn rows: how often each was drawn, times all that the user asks for."""
    total = counts.astype(np.float64)
    if weights is not None:
        total *= weights
    drawn = targets.drawn_factors(encoded, counts)
    if drawn is not None:
        total *= drawn
    return in_range(total.astype(np.float32))


def _incomparable(error: TypeError) -> ValueError:
    return ValueError(f"y has labels of kinds that cannot be compared: {error}")


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
