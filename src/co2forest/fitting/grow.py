# SPDX-License-Identifier: BSD-3-Clause
"""Grows the trees of a plan: on threads of this process, or in batches in other processes."""

import contextlib
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from co2forest.data.training_set import Progress, TrainingData, TrainingSet
from co2forest.fitting.plan import Plan
from co2forest.fitting.progress import ProgressBar
from co2forest.fitting.trees import Grown, TreeRange

_MOST_THREADS = 1024


def grow(plan: Plan, data: TrainingData, earlier: Grown | None = None) -> Grown:
    """Grow all trees of the plan, or those that are missing behind the earlier ones."""
    trees = TreeRange(0, plan.n_trees)
    if earlier is not None:
        mean = np.array(earlier.forest.arrays()["mean"])
        trees = TreeRange(earlier.n_trees, plan.n_trees - earlier.n_trees, mean)
    with ProgressBar(trees.n_trees) if plan.verbose else contextlib.nullcontext() as progress:
        # Windows of images stay here, where no tree needs a copy of them.
        if isinstance(data, TrainingSet) and trees.n_trees > 1 and _grows_elsewhere(plan.n_jobs):
            from co2forest.fitting.batches import grow_in_batches  # which imports this module

            grown = grow_in_batches(plan, data, trees, progress)
        else:
            grown = grow_here(plan, data, trees, progress)
    return grown if earlier is None else Grown.join([earlier, grown])


def grow_forest(forest: Any, plan: Plan, data: TrainingData) -> Grown | None:
    """Grow a forest, or the trees that a warm start adds; None if there are none to add."""
    if not (getattr(forest, "warm_start", False) and hasattr(forest, "_forest")):
        return grow(plan, data)
    earlier = Grown(forest._forest, forest.n_iter_)  # noqa: SLF001
    return None if earlier.n_trees == plan.n_trees else grow(plan, data, earlier)


def grow_here(plan: Plan, data: TrainingData, trees: TreeRange, progress: Progress = None) -> Grown:
    """Grow trees in one call of the native core."""
    params = plan.native(data, trees.first, trees.n_trees, n_threads(plan.n_jobs))
    forest, statistics = data.train(trees.mean, params, progress)
    return Grown(forest, np.array([steps / max(nodes, 1) for steps, nodes in statistics]))


def n_threads(n_jobs: int | None) -> int:
    """How many threads of this process ``n_jobs`` stands for.

    The jobs of a backend of other processes are not meant: they may be all cores of a cluster.
    """
    if _shares_memory():
        return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)
    with parallel_config("threading", n_jobs=1):
        return min(int(effective_n_jobs(n_jobs)), _MOST_THREADS)


def _shares_memory() -> bool:
    """Whether joblib works in this process, as it does unless the user has chosen a backend."""
    return bool(getattr(backend(), "supports_sharedmem", False))


def _grows_elsewhere(n_jobs: int | None) -> bool:
    """Whether joblib has several jobs in other processes; a single one is no better than here."""
    return not _shares_memory() and effective_n_jobs(n_jobs) > 1


def backend() -> Any:
    """The user's backend of joblib; without one, native threads serve better than processes."""
    return get_active_backend(prefer="threads")[0]
