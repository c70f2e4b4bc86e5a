# SPDX-License-Identifier: BSD-3-Clause
"""A node's hyperplane in standardised units, and where the given rows lie beside it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest.data.outputs.base import Codes, Floats
from co2forest.models.evaluation import Evaluation
from co2forest.models.trees import TreeView
from co2forest.report._rows import Order

_BARS = 10  # weights that are listed
_BINS = 24  # of a histogram
_SERIES = 6  # classes that a histogram shows one by one
_OUTLIERS = 0.005  # part of the rows at either end that goes to the last bin
_LEAST = 1e-12  # the distance of a row on the plane that goes left: its sign tells the side
_BLOCK = 2**24  # numbers that a product copies at a time


@dataclass(frozen=True)
class Plane:
    """A hyperplane of unit length: distances are in standard deviations of the features."""

    features: npt.NDArray[np.int64]
    weights: Floats  # of standardised features
    raw: npt.NDArray[np.float32]  # of all features as they are
    threshold: float
    length: float  # what projections are divided by

    @classmethod
    def of(cls, tree: TreeView, node: int, spread: Floats) -> Self:
        """That of an inner node."""
        features, weights = tree.hyperplane(node)
        standardised = weights * spread[features]
        length = float(np.linalg.norm(standardised))
        length = length if 0 < length < np.inf else 1.0
        raw = np.zeros(tree.n_features, dtype=np.float32)
        raw[features] = weights
        return cls(features, standardised / length, raw, float(tree.threshold[node]), length)

    def distances(
        self, filled: Any, mean: Floats, rows: Order, goes_right: npt.NDArray[np.bool_]
    ) -> Floats:
        """Of rows from the plane; the side is the core's, which rounds sums in its own way.

        In float32, a fifth of the time of float64; without the mean, which could be so large that
        nothing else is left of a sum.
        """
        step = max(1, _BLOCK // len(self.raw))
        parts = [
            self._projected(filled[rows[begin : begin + step]], mean)
            for begin in range(0, len(rows), step)
        ]
        distance = np.concatenate([np.empty(0), *parts]) / self.length
        return np.where(goes_right, np.maximum(distance, 0), np.minimum(distance, -_LEAST))

    def _projected(self, rows: Any, mean: Floats) -> Floats:
        if sp.issparse(rows):
            return np.asarray(rows @ self.raw.astype(np.float64) - self.threshold)
        rows -= mean.astype(np.float32)  # a copy, because rows were chosen by their numbers
        offset = float(mean @ self.raw) - self.threshold
        return np.asarray(rows @ self.raw, dtype=np.float64) + offset

    def strongest(self) -> list[list[float]]:
        """Features with the largest weights, and these weights."""
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_BARS]
        return [[int(self.features[i]), float(self.weights[i])] for i in order]

    def as_bytes(self, n_features: int) -> npt.NDArray[np.uint8]:
        """A byte for every feature: 128 is no weight, 1 and 255 are the largest."""
        largest = float(np.abs(self.weights).max(initial=0)) or 1.0
        picture = np.full(n_features, 128, dtype=np.uint8)
        picture[self.features] = np.round(128 + 127 * self.weights / largest)
        return picture


def histogram(
    evaluation: Evaluation, rows: Order, distance: Floats, goes_right: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Rows by their distance; the plane is the border between the bins ``zero - 1`` and ``zero``.

    A series is a class, the first bin that has rows of it, and their counts from there on. -1 is
    all other classes, or all rows where there are no classes; numbers have the mean of y in a bin.
    """
    ends = np.quantile(distance, [_OUTLIERS, 1 - _OUTLIERS]) if len(rows) else np.zeros(2)
    low, high = min(0.0, float(ends[0])), max(0.0, float(ends[1]))
    width = (high - low) / _BINS or 1.0
    zero = max(round(np.ceil(-low / width)), int((~goes_right).any()))
    n_bins = zero + max(round(np.ceil(high / width)), int(goes_right.any()))
    steps = np.minimum(np.abs(distance) / width, _BINS + 2).astype(np.int64)  # from the plane
    bins = np.where(goes_right, zero + steps, zero - 1 - steps).clip(0, max(n_bins - 1, 0))
    described: dict[str, Any] = {"width": width, "zero": zero, "bins": n_bins}
    if evaluation.task == "numbers":
        truth = evaluation.truth[rows, 0]
        described["means"] = _means(bins, truth, n_bins)
    groups = [(-1, bins)]
    if evaluation.task == "classes":
        groups = _by_class(evaluation.truth[rows], bins)
    return described | {"series": [_series(k, some, n_bins) for k, some in groups if len(some)]}


def _by_class(truth: Codes, bins: Codes) -> list[tuple[int, Codes]]:
    """The bins of the rows of each frequent class, then those of all others."""
    counts = np.bincount(truth)
    frequent = np.argsort(-counts, kind="stable")[:_SERIES]
    if np.count_nonzero(counts) == _SERIES + 1:  # one class is as short as "others"
        frequent = np.argsort(-counts, kind="stable")[: _SERIES + 1]
    others = bins[~np.isin(truth, frequent)]
    return [(int(k), bins[truth == k]) for k in frequent] + [(-1, others)]


def _series(group: int, bins: Codes, n_bins: int) -> list[Any]:
    counts = np.bincount(bins, minlength=n_bins)
    some = np.flatnonzero(counts)
    return [group, int(some[0]), counts[some[0] : some[-1] + 1].tolist()]


def _means(bins: Codes, truth: Floats, n_bins: int) -> list[float | None]:
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, truth, minlength=n_bins)
    return [float(s / c) if c else None for s, c in zip(sums, counts, strict=True)]
