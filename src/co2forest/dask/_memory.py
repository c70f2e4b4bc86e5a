# SPDX-License-Identifier: BSD-3-Clause
"""How much a worker can hold, and so how trees are divided among tasks and waves of tasks.

What a wave has drawn stays in the workers' memory until its trees are grown.
"""

import math
from dataclasses import dataclass
from typing import Any

from co2forest.dask._draws import expected_distinct

# The fraction of a worker's memory that the tasks running there at once may need. Dask spills to
# disk from 60 % on and ends the worker at 95 %, and Python with its libraries needs some, too.
_FOR_TASKS = 0.5
# Fractions of the memory of all workers.
_FOR_WAVE = 0.2  # what a wave has drawn: while it is grown, the next one is drawn
_FOR_DATA = 0.4  # partitions that are kept from wave to wave; more are read again
_WITHOUT_LIMIT = 4 * 2**30  # the memory that is assumed of a worker without a limit
_COPIES = 2  # of a tree's rows while it grows: gathered, and what the core makes of them
_TASKS_PER_THREAD = 4  # for balance; a lost worker then costs only some of its trees
_MOST_PIECES = 20_000  # tasks of the scheduler, which takes 1 to 2 ms for each


@dataclass(frozen=True)
class Cluster:
    """What the workers have."""

    n_workers: int
    n_threads: int  # of all
    memory: float  # of all
    memory_per_thread: float  # of the worker that has least
    limited: bool = True  # whether every worker has a limit; if not, its memory is assumed


def cluster_of(client: Any) -> Cluster:
    """The workers there are now."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] or _WITHOUT_LIMIT for worker in workers]
    threads = [worker["nthreads"] for worker in workers]
    return Cluster(
        len(threads),
        max(1, sum(threads)),  # if the last one has just been lost, another will come
        sum(limits),
        min((limit / n for limit, n in zip(limits, threads, strict=True)), default=_WITHOUT_LIMIT),
        all(worker["memory_limit"] for worker in workers),
    )


@dataclass(frozen=True)
class Demand:
    """What a fit asks for."""

    n_trees: int
    n_partitions: int
    n_rows: int
    row_bytes: int
    data_bytes: int
    max_samples: Any  # as the user says
    n_draws: int
    replace: bool

    @property
    def distinct(self) -> int:
        """About how many different rows a tree has."""
        return expected_distinct(self.n_rows, self.n_draws, replace=self.replace)

    @property
    def tree_bytes(self) -> int:
        """Their size."""
        return self.distinct * self.row_bytes


@dataclass(frozen=True)
class Schedule:
    """How trees are divided among tasks and waves."""

    trees_per_task: int
    trees_per_wave: int
    n_threads: int  # of all workers
    n_groups: int  # of partitions, whose draws are collected before they go on to the trees
    persist: bool


def make_schedule(demand: Demand, cluster: Cluster, trees_per_task: int | str) -> Schedule:
    """Divide trees so that no worker needs more than it has; raise if that is impossible."""
    # A worker runs as many tasks at once as it has threads.
    most = min(demand.n_trees, int(_room(cluster) / demand.tree_bytes) - _COPIES)
    if most < 1 and cluster.limited:
        raise ValueError(_too_large(demand, cluster))
    if trees_per_task == "auto":
        per_task = _balanced(demand, cluster, most)
    else:
        per_task = int(trees_per_task)
        if per_task > most and cluster.limited:
            raise ValueError(
                f"trees_per_task={per_task} trees of about {_megabytes(demand.tree_bytes)} each do "
                f"not fit on the smallest worker, which may use {_megabytes(_room(cluster))} per "
                f"thread; at most {most} would, or a smaller max_samples"
            )
    in_memory = int(_FOR_WAVE * cluster.memory / (per_task * demand.tree_bytes))
    tasks = max(cluster.n_threads, in_memory)
    persist = demand.data_bytes <= _FOR_DATA * cluster.memory
    n_groups = _groups(demand, cluster)
    return Schedule(per_task, per_task * tasks, cluster.n_threads, n_groups, persist)


def _room(cluster: Cluster) -> float:
    return _FOR_TASKS * cluster.memory_per_thread


def _groups(demand: Demand, cluster: Cluster) -> int:
    """One for each worker, which then holds what its partitions have drawn for a wave."""
    return max(1, min(demand.n_partitions, cluster.n_workers))


def _balanced(demand: Demand, cluster: Cluster, most: int) -> int:
    for_balance = math.ceil(demand.n_trees / (_TASKS_PER_THREAD * cluster.n_threads))
    for_scheduler = math.ceil(demand.n_trees * _groups(demand, cluster) / _MOST_PIECES)
    for_all = math.ceil(demand.n_trees / cluster.n_threads)  # more would leave threads idle
    return max(1, min(max(for_balance, for_scheduler), for_all, most))


def _too_large(demand: Demand, cluster: Cluster) -> str:
    needed = (1 + _COPIES) * demand.tree_bytes
    distinct = int(_room(cluster) / ((1 + _COPIES) * demand.row_bytes))
    draws = distinct
    if demand.replace:  # the inverse of expected_distinct
        draws = int(-demand.n_rows * math.log1p(-distinct / demand.n_rows))
    fits = "no number of rows would fit, only"
    if draws >= 1:
        fits = f"max_samples={_rounded_down(draws)} would fit, or"
    return (
        f"max_samples={demand.max_samples!r}: a tree gets about {demand.distinct} different rows "
        f"of {demand.row_bytes} bytes and needs {_megabytes(needed)} on a worker, but the smallest "
        f"one may use {_megabytes(_room(cluster))} per thread (half of its memory limit); {fits} "
        f"workers with {_megabytes(needed / _FOR_TASKS)} per thread"
    )


def _rounded_down(number: int) -> int:
    """Round down to two digits."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return number // unit * unit


def _megabytes(size: float) -> str:
    megabytes = size / 1e6
    return f"{megabytes:.0f} MB" if megabytes >= 10 else f"{megabytes:.2g} MB"
