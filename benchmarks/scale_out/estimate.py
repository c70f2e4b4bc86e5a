# SPDX-License-Identifier: BSD-3-Clause
"""Estimate a large forest: measured costs, multiplied by what the code would do."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from co2forest.dask._memory import Cluster, Demand, make_schedule


@dataclass(frozen=True)
class Costs:
    """Measured medians: CPU seconds, each on one thread."""

    per_task: float  # of client and scheduler
    per_task_on_worker: float  # includes the work of the measurement's small tasks
    survey_per_row: float
    draw_per_partition: float  # for one batch of trees
    tree_seconds: tuple  # factor and exponent of a power of the rows
    tree_bytes: tuple  # the same


class Step(NamedTuple):
    """A step of a fit, and its time."""

    name: str
    seconds: float
    how: str


class Estimate(NamedTuple):
    """The steps, and the numbers that they come from."""

    trees_per_task: int
    n_waves: int
    n_tasks: int
    model_bytes: float
    steps: list


def power_law(x, y):
    """Factor and exponent of the power law that fits best in logarithms."""
    exponent, logarithm = np.polyfit(np.log(x), np.log(y), 1)
    return math.exp(logarithm), float(exponent)


def at(law, x):
    factor, exponent = law
    return factor * x**exponent


def tasks_of_fit(n_partitions, n_groups, n_batches, n_waves, read_tasks):
    """The number of tasks of a fit whose trees draw from every partition."""
    read = 2 * read_tasks  # to survey it, and to keep it
    draws = n_partitions * (read + 1 + 1 + n_waves)  # survey, trial, waves
    pieces = n_groups * (2 + n_waves + n_batches)  # collected and sent; two for the trial
    constants = 4  # source and estimator of the trial, source and recipe of the trees
    return draws + pieces + n_batches + constants + 1  # the trial


def estimate(assumed, costs, trees_per_task="auto"):
    """Seconds of each step of a fit of the large forest."""
    n_threads = assumed.n_workers * assumed.threads
    n_partitions = math.ceil(assumed.n_rows / assumed.partition_rows)
    row_bytes = 4 * assumed.n_features + 16
    demand = Demand(
        n_trees=assumed.n_trees,
        n_partitions=n_partitions,
        n_rows=assumed.n_rows,
        row_bytes=row_bytes,
        data_bytes=assumed.n_rows * row_bytes,
        max_samples=assumed.max_samples,
        n_draws=assumed.max_samples,
        replace=True,
    )
    cluster = Cluster(
        n_workers=assumed.n_workers,
        n_threads=n_threads,
        memory=assumed.n_workers * assumed.memory,
        memory_per_thread=assumed.memory / assumed.threads,
    )
    schedule = make_schedule(demand, cluster, trees_per_task)
    n_batches = math.ceil(assumed.n_trees / schedule.trees_per_task)
    n_waves = math.ceil(assumed.n_trees / schedule.trees_per_wave)
    n_tasks = tasks_of_fit(n_partitions, schedule.n_groups, n_batches, n_waves, assumed.read_tasks)
    reads = 2 if schedule.persist else 2 + n_waves
    model = assumed.n_trees * at(costs.tree_bytes, demand.distinct)
    on_worker = schedule.trees_per_task * math.ceil(n_batches / assumed.n_workers)
    rounds = math.ceil(on_worker / assumed.threads)
    tree = at(costs.tree_seconds, demand.distinct)
    moves = 2  # to where a group is collected, and to the tree
    sent = moves * assumed.n_trees * demand.tree_bytes * (1 - 1 / assumed.n_workers)
    steps = [
        Step(
            "read the data",
            reads * demand.data_bytes / (assumed.storage * assumed.n_workers),
            f"{reads} times {demand.data_bytes / 1e9:.0f} GB",
        ),
        Step(
            "survey it",
            assumed.n_rows * costs.survey_per_row / n_threads,
            f"{1e9 * costs.survey_per_row:.0f} ns of CPU per row",
        ),
        Step(
            "draw rows",
            n_partitions * n_batches * costs.draw_per_partition / n_threads,
            f"{n_partitions} partitions, {n_batches} batches of trees, "
            f"{1e3 * costs.draw_per_partition:.2g} ms of CPU for each pair",
        ),
        Step(
            "send drawn rows",
            sent / (assumed.network * assumed.n_workers),
            f"{moves} times {demand.tree_bytes / 1e6:.0f} MB for a tree",
        ),
        Step(
            "grow trees",
            rounds * tree,
            f"{tree:.0f} s of CPU for a tree, {rounds} in turn on a thread",
        ),
        Step(
            "schedule tasks",
            n_tasks * costs.per_task,
            f"{n_tasks} tasks of {1e3 * costs.per_task:.2g} ms, on one thread",
        ),
        Step(
            "receive and start tasks",
            n_tasks * costs.per_task_on_worker / n_threads,
            f"{1e3 * costs.per_task_on_worker:.2g} ms of CPU of a worker for each",
        ),
        Step(
            "fetch trees",
            model / assumed.network,
            f"{model / 1e9:.1f} GB into the client",
        ),
    ]
    return Estimate(schedule.trees_per_task, n_waves, n_tasks, model, steps)
