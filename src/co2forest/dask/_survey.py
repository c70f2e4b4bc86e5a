"""The first pass over the data: what each partition has, and what all of them have in common."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import dask
import numpy as np
import numpy.typing as npt

from co2forest._digest import digest
from co2forest.dask._cluster import run_all
from co2forest.dask._collections import Partitions
from co2forest.dask._targets import Targets
from co2forest.dask._tasks import FindTargets, Source, Summary, survey


@dataclass(frozen=True)
class Data:
    """Partitions, and what is known of them."""

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
        return "uint8" if {part.dtype for part in self.summaries} == {"uint8"} else "float32"

    @property
    def n_bytes(self) -> int:
        """Of all partitions."""
        return sum(part.n_bytes for part in self.summaries)

    @property
    def row_bytes(self) -> int:
        """What a drawn row takes: its features, and its target, weight and count."""
        beside = 16
        if self.summaries[0].sparse:
            return beside + self.n_bytes // max(1, sum(part.n_rows for part in self.summaries))
        return beside + self.n_features * np.dtype(self.dtype).itemsize

    def mean(self) -> npt.NDArray[np.float32]:
        """Of each feature, over what is not missing; zero if all is."""
        sums = np.sum([part.sums for part in self.summaries], axis=0)
        weights = np.sum([part.sum_weights for part in self.summaries], axis=0)
        mean = np.divide(sums, weights, out=np.zeros(self.n_features), where=weights > 0)
        return np.asarray(mean, dtype=np.float32)

    def source(self, seed: int, *, bootstrap: bool) -> Source:
        """What a partition needs to know to draw."""
        n_all = [part.n_rows for part in self.summaries]
        return Source(self.dtype, self.targets, n_all, self.sizes.tolist(), seed, bootstrap)

    def digest(self) -> str:
        """Tells other data from these: all sums and counts are in it."""
        return digest(
            [
                [part.n_rows, part.n_features, part.sums, part.sum_weights, vars(part.targets)]
                for part in self.summaries
            ]
        )

    def persisted(self, client: Any) -> "Data":
        """The same with partitions that workers keep."""
        return replace(self, partitions=self.partitions.persisted(client))


def survey_data(
    client: Any,
    partitions: Partitions,
    find_targets: FindTargets,
    all_targets: Callable[[list[Any]], Targets],
) -> Data:
    """Read and check all partitions, each on a worker."""
    look = dask.delayed(survey, pure=False)
    numbers = range(len(partitions))
    summaries = run_all(
        client,
        [look(number, *partitions.part(number), find_targets) for number in numbers],
        [f"partition {number}" for number in numbers],
    )
    _check_alike(summaries)
    filled = [part for part in summaries if part.n_rows > 0]
    if not filled:
        raise ValueError(f"X has no rows: all of its {len(summaries)} partitions are empty")
    targets = all_targets([part.targets for part in summaries])
    sizes = np.array([targets.rows_that_count(part.targets) for part in summaries], dtype=np.int64)
    if not sizes.any():
        raise ValueError(
            "sample_weight, or class_weight, is zero for every row; at least one must be positive"
        )
    return Data(partitions, summaries, targets, sizes)


def _check_alike(summaries: list[Summary]) -> None:
    first = summaries[0]
    for number, part in enumerate(summaries):
        if part.n_features != first.n_features:
            raise ValueError(
                f"partition {number} has {part.n_features} features, but partition 0 has "
                f"{first.n_features}"
            )
        if part.columns != first.columns:
            raise ValueError(
                f"partition {number} has columns of other names, or in another order, than "
                "partition 0"
            )
        if part.sparse != first.sparse:
            raise ValueError(
                f"partition {number} is {'sparse' if part.sparse else 'dense'}, but partition 0 "
                "is not; all must be the same"
            )
