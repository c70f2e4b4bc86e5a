# SPDX-License-Identifier: BSD-3-Clause
"""The first pass over the data: what each partition has, and what all of them have in common."""

from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask.sizeof import sizeof
from sklearn.base import is_classifier

from co2forest.dask._blocks import feature_sums, to_rows, to_weights
from co2forest.dask._cluster import run_all
from co2forest.dask._collections import Partitions
from co2forest.dask._targets import Targets, all_targets, find_labels, find_numbers
from co2forest.dask._tasks import Source
from co2forest.files.problem_digest import digest
from co2forest.fitting.plan import Draws


@dataclass(frozen=True)
class Summary:
    """What is known of a partition when it has been read once."""

    n_rows: int
    n_features: int
    dtype: str
    sparse: bool
    columns: str  # a digest of the names that a data frame has
    n_bytes: int  # in a worker's memory
    sums: npt.NDArray[np.float64]  # of each feature
    sum_weights: npt.NDArray[np.float64]
    targets: Any  # FoundLabels or FoundNumbers


def survey(number: int, X: Any, y: Any, weight: Any, *, labels: bool) -> Summary:
    """Read and check a partition."""
    try:
        rows = to_rows(X)
        if len(y) != rows.shape[0]:
            raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(y)}")  # noqa: TRY301
        weights = to_weights(weight, rows.shape[0])
        has_weight = np.ones(rows.shape[0], dtype=bool) if weights is None else weights > 0
        sums, sum_weights = feature_sums(rows, weights)
        found = (find_labels if labels else find_numbers)(y, has_weight)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
    return Summary(
        rows.shape[0],
        rows.shape[1],
        rows.dtype.name,
        sp.issparse(rows),
        digest(list(X.columns)) if hasattr(X, "columns") else "",
        sizeof(X) + sizeof(y) + (0 if weight is None else sizeof(weight)),
        sums,
        sum_weights,
        found,
    )


@dataclass(frozen=True)
class Data:
    """Partitions, and what is known about them."""

    partitions: Partitions
    summaries: list[Summary]
    targets: Targets
    sizes: npt.NDArray[np.int64]  # rows of each partition that have a weight

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.summaries[0].n_features

    @property
    def n_rows(self) -> int:
        """Rows with a weight."""
        return int(self.sizes.sum())

    @property
    def dtype(self) -> str:
        """What rows are read as: bytes only if all are."""
        return "uint8" if {each.dtype for each in self.summaries} == {"uint8"} else "float32"

    @property
    def n_bytes(self) -> int:
        """The size of all partitions."""
        return sum(each.n_bytes for each in self.summaries)

    @property
    def row_bytes(self) -> int:
        """What a drawn row takes: its features, and its target, weight and count."""
        beside = 16
        if self.summaries[0].sparse:
            return beside + self.n_bytes // max(1, sum(each.n_rows for each in self.summaries))
        return beside + self.n_features * np.dtype(self.dtype).itemsize

    def mean(self) -> npt.NDArray[np.float32]:
        """The mean of each feature over what is not missing; zero if all is."""
        sums = np.sum([each.sums for each in self.summaries], axis=0)
        weights = np.sum([each.sum_weights for each in self.summaries], axis=0)
        mean = np.divide(sums, weights, out=np.zeros(self.n_features), where=weights > 0)
        return np.asarray(mean, dtype=np.float32)

    def source(self, draws: Draws) -> Source:
        """What a partition needs to know to draw."""
        n_all = [each.n_rows for each in self.summaries]
        return Source(self.dtype, self.targets, n_all, self.sizes.tolist(), draws)

    def digest(self) -> str:
        """A digest of all sums and counts, which tells other data from these."""
        return digest(
            [
                [each.n_rows, each.n_features, each.sums, each.sum_weights, vars(each.targets)]
                for each in self.summaries
            ]
        )


def survey_data(client: Any, partitions: Partitions, estimator: Any) -> Data:
    """Read and check all partitions, each on a worker."""
    look = dask.delayed(survey, pure=False)
    labels, numbers = is_classifier(estimator), range(len(partitions))
    summaries = run_all(
        client,
        [look(number, *partitions.blocks(number), labels=labels) for number in numbers],
        [f"partition {number}" for number in numbers],
    )
    for number, each in enumerate(summaries):
        _check_same_columns(number, each, summaries[0])
    if not any(each.n_rows for each in summaries):
        raise ValueError(f"X has no rows: all of its {len(summaries)} partitions are empty")
    targets = all_targets([each.targets for each in summaries], estimator)
    sizes = np.array([targets.n_counted(each.targets) for each in summaries], dtype=np.int64)
    if not sizes.any():
        raise ValueError(
            f"class_weight={estimator.class_weight!r} makes the weight zero for every row; at "
            "least one must be positive"
        )
    return Data(partitions, summaries, targets, sizes)


def _check_same_columns(number: int, summary: Summary, first: Summary) -> None:
    if summary.n_features != first.n_features:
        raise ValueError(
            f"partition {number} has {summary.n_features} features, but partition 0 has "
            f"{first.n_features}"
        )
    if summary.columns != first.columns:
        raise ValueError(
            f"the columns of partition {number} differ from partition 0 in their names or order"
        )
    if summary.sparse != first.sparse:
        raise ValueError(
            f"partition {number} is {'sparse' if summary.sparse else 'dense'}, but partition 0 is "
            "not; all must be the same"
        )
