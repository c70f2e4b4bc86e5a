# SPDX-License-Identifier: BSD-3-Clause
"""How well predicted label maps agree with true ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.segmentation.images import (
    LabelMap,
    as_list,
    checked_map,
    codes_of,
    labels_in,
    row_blocks,
)


@dataclass(frozen=True, eq=False)
class JaccardTable:
    """What `jaccard_table` returns; printed, it is a table.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    true_positives, false_positives, false_negatives : ndarray of shape (n_classes,)
        Pixels of all maps together: rightly given the label, wrongly given it, and missed.
    jaccard : ndarray of shape (n_classes,)
        ``100 * tp / (tp + fp + fn)``; NaN for a class in neither truth nor prediction.
    mean : float
        Mean over the classes that are in truth or prediction; NaN if there is none.
    """

    classes: npt.NDArray[Any]
    true_positives: npt.NDArray[np.int64]
    false_positives: npt.NDArray[np.int64]
    false_negatives: npt.NDArray[np.int64]

    @property
    def jaccard(self) -> npt.NDArray[np.float64]:
        """Agreement for each class, in percent."""
        union = self.true_positives + self.false_positives + self.false_negatives
        with np.errstate(invalid="ignore"):
            return 100.0 * self.true_positives / union

    @property
    def mean(self) -> float:
        """Class-average agreement, in percent."""
        jaccard = self.jaccard
        present = ~np.isnan(jaccard)
        return float(jaccard[present].mean()) if present.any() else float("nan")

    def __str__(self) -> str:
        header = ("class", "true positives", "false positives", "false negatives", "Jaccard")
        columns = (self.classes, self.true_positives, self.false_positives, self.false_negatives)
        rows = [
            (*map(str, counts), _percent(jaccard))
            for *counts, jaccard in zip(*columns, self.jaccard, strict=True)
        ]
        rows.append(("mean", "", "", "", _percent(self.mean)))
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in (header, *rows)
        )


def jaccard_table(
    truth_maps: Any, predicted_maps: Any, *, classes: Any = None, ignore: Iterable[int] | int = ()
) -> JaccardTable:
    """Jaccard score of each class, the pixels of all maps pooled.

    Parameters
    ----------
    truth_maps, predicted_maps : list of array of shape (height, width)
        Maps of whole numbers, or arrays with a leading axis; sizes may differ from map to map.
    classes : array-like of int, default=None
        Labels to report; other labels only count as mistakes. None means all that occur.
    ignore : int or iterable of int, default=()
        A pixel with one of these labels, in truth or prediction, does not count.

    Returns
    -------
    JaccardTable

    Examples
    --------
    >>> from co2forest.segmentation import jaccard_table
    >>> print(jaccard_table([[[0, 0, 1, 1]]], [[[0, 1, 1, 1]]]))
    class  true positives  false positives  false negatives  Jaccard
        0               1                0                1    50.00
        1               2                1                0    66.67
     mean                                                      58.33
    """
    truth, predicted = (
        [checked_map(labels, f"{name}[{i}]") for i, labels in enumerate(as_list(maps, name))]
        for name, maps in (("truth_maps", truth_maps), ("predicted_maps", predicted_maps))
    )
    if len(truth) != len(predicted):
        raise ValueError(
            f"truth_maps has {len(truth)} and predicted_maps {len(predicted)} entries; they must "
            "have the same number"
        )
    for number, (one, other) in enumerate(zip(truth, predicted, strict=True)):
        if one.shape != other.shape:
            raise ValueError(
                f"truth_maps[{number}] has shape {one.shape}, but predicted_maps[{number}] has "
                f"shape {other.shape}; both must be the same"
            )
    listed = list(ignore) if isinstance(ignore, Iterable) else [ignore]
    ignored = checked_map([listed], "ignore").ravel()
    if classes is None:
        labels = np.setdiff1d(labels_in([*truth, *predicted]), ignored)
    else:
        labels = np.unique(checked_map([classes], "classes"))
    counts = [
        count_pixels(one, other, labels, ignored)
        for one, other in zip(truth, predicted, strict=True)
    ]
    return JaccardTable(labels, *np.sum(counts, axis=0))


def count_pixels(
    truth: LabelMap,
    predicted: LabelMap,
    classes: npt.NDArray[Any],
    ignored: npt.NDArray[Any],
) -> npt.NDArray[np.int64]:
    """True positives, false positives and false negatives of each class, as three rows."""
    counts = np.zeros((3, len(classes) + 1), dtype=np.int64)  # behind all: those of no class
    for rows in row_blocks(*truth.shape):
        one, other = truth[rows], predicted[rows]
        if len(ignored):
            counted = ~(np.isin(one, ignored) | np.isin(other, ignored))
            one, other = one[counted][np.newaxis], other[counted][np.newaxis]
        one, other = (codes_of(each, classes, np.intp, len(classes)) for each in (one, other))
        right = one == other
        for row, codes in enumerate((one[right], other[~right], one[~right])):
            counts[row] += np.bincount(codes, minlength=counts.shape[1])
    return counts[:, :-1]


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"
