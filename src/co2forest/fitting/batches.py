# SPDX-License-Identifier: BSD-3-Clause
"""Grows trees where joblib's backends of other processes run: in batches, each on one thread."""

import traceback
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs

from co2forest import _native
from co2forest.data.training_set import Progress, TrainingSet
from co2forest.fitting.grow import backend, grow_here
from co2forest.fitting.plan import Plan
from co2forest.fitting.trees import Grown, TreeRange

# A batch begins with what a native call does for all its trees: duplicates, moments. That takes up
# to 0.4 of the time of a tree (0.04 s and 0.11 s with 50 000 rows of 50 floats), a tenth of that of
# four. Three batches for each job keep all busy until shortly before the end.
_BATCHES_PER_JOB = 3
_TREES_PER_BATCH = 4


class Batches(NamedTuple):
    """Where each batch begins, and how many trees it has."""

    first: list[int]
    size: list[int]


def grow_in_batches(plan: Plan, data: TrainingSet, trees: TreeRange, progress: Progress) -> Grown:
    """Grow in other processes what one native call would give."""
    batches = split(trees.n_trees, int(effective_n_jobs(plan.n_jobs)))
    gradually = progress is not None and getattr(backend(), "supports_return_generator", False)
    parallel = Parallel(
        n_jobs=plan.n_jobs, batch_size=1, return_as="generator" if gradually else "list"
    )
    sent, alone = data.to_send(), replace(plan, n_jobs=1, verbose=False)
    grown: list[Grown] = []
    failure: Exception | None = None
    for batch in parallel(
        delayed(_try_batch)(alone, sent, trees._replace(first=trees.first + first, n_trees=size))
        for first, size in zip(*batches, strict=True)
    ):
        if isinstance(batch, Exception):
            failure = failure or batch
            continue
        arrays, steps = batch
        grown.append(Grown(_native.Forest(*arrays), steps))
        if progress is not None:
            progress(sum(member.n_trees for member in grown))
    if failure is not None:
        raise failure
    return Grown.join(grown)


def split(n_trees: int, n_jobs: int) -> Batches:
    """Make batches of nearly equal size; some for every job, if there are enough trees."""
    count = min(_BATCHES_PER_JOB * n_jobs, n_trees // _TREES_PER_BATCH)
    count = min(max(count, n_jobs), n_trees)
    ends = [n_trees * (number + 1) // count for number in range(count)]
    first = [0, *ends[:-1]]
    return Batches(first, [end - begin for begin, end in zip(first, ends, strict=True)])


def _try_batch(plan: Plan, data: TrainingSet, trees: TreeRange) -> Any:
    """Grow trees in another process, or return the exception that kept them from growing.

    An exception that leaves a task makes joblib end its processes while they work, and then
    `multiprocessing.Pool.terminate` may wait for ever.
    """
    try:
        return _grow_batch(plan, data, trees)
    except Exception as error:  # noqa: BLE001 (raised again by grow_in_batches)
        error.add_note(f"In a process of joblib:\n{traceback.format_exc()}")
        return error


def _grow_batch(
    plan: Plan, data: TrainingSet, trees: TreeRange
) -> tuple[tuple[Any, ...], npt.NDArray[np.float64]]:
    """Return what `_native.Forest` is made of, and the steps of each tree."""
    grown = grow_here(plan, data, trees)
    return grown.forest.__reduce__()[1], grown.steps
