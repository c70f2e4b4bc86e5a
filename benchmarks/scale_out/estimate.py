"""A large forest on paper: measured costs, multiplied by what the code would do."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from co2forest.dask._memory import Cluster, Demand, plan


@dataclass(frozen=True)
class Costs:
    """CPU seconds, each on one thread; medians of what was measured."""

    per_task: float  # of client and scheduler
    per_task_on_worker: float  # with what the small tasks of the measurement do
    survey_per_row: float
    draw_per_partition: float  # of one batch of trees
    tree_seconds: tuple  # factor and exponent of a power of the rows
    tree_bytes: tuple  # the same


class Part(NamedTuple):
    """A part of the time of a fit."""

    name: str
    seconds: float
    how: str


class Estimate(NamedTuple):
    """Parts, and numbers that they come from."""

    trees_per_task: int
    n_waves: int
    n_tasks: int
    model_bytes: float
    parts: list


def power_law(x, y):
    """Factor and exponent of the line through logarithms."""
    exponent, logarithm = np.polyfit(np.log(x), np.log(y), 1)
    return math.exp(logarithm), float(exponent)


def at(law, x):
    factor, exponent = law
    return factor * x**exponent


def tasks_of_fit(n_partitions, n_batches, n_waves, read_tasks):
    """How many tasks a fit has whose trees draw from every partition."""
    read = 2 * read_tasks  # to look at it, and to keep it
    once = read + 1 + 2  # the survey; a draw of the trial, and its rows
    constants = 4  # source and estimator of the trial, source and recipe of the trees
    pieces = n_partitions * (once + n_waves + n_batches)
    return pieces + n_batches + constants + 1  # the trial


def estimate(assumed, costs, trees_per_task="auto"):
    """Seconds of each part of a fit of the large forest."""
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
    dealt = plan(demand, cluster, trees_per_task)
    n_batches = math.ceil(assumed.n_trees / dealt.trees_per_task)
    n_waves = math.ceil(assumed.n_trees / dealt.trees_per_wave)
    n_tasks = tasks_of_fit(n_partitions, n_batches, n_waves, assumed.read_tasks)
    reads = 2 if dealt.persist else 2 + n_waves
    model = assumed.n_trees * at(costs.tree_bytes, demand.distinct)
    on_worker = dealt.trees_per_task * math.ceil(n_batches / assumed.n_workers)
    rounds = math.ceil(on_worker / assumed.threads)
    tree = at(costs.tree_seconds, demand.distinct)
    sent = assumed.n_trees * demand.tree_bytes * (1 - 1 / assumed.n_workers)
    parts = [
        Part(
            "read the data",
            reads * demand.data_bytes / (assumed.storage * assumed.n_workers),
            f"{reads} times {demand.data_bytes / 1e9:.0f} GB",
        ),
        Part(
            "survey it",
            assumed.n_rows * costs.survey_per_row / n_threads,
            f"{1e9 * costs.survey_per_row:.0f} ns of CPU per row",
        ),
        Part(
            "draw rows",
            n_partitions * n_batches * costs.draw_per_partition / n_threads,
            f"{n_partitions} partitions, {n_batches} batches of trees, "
            f"{1e3 * costs.draw_per_partition:.2g} ms of CPU for each pair",
        ),
        Part(
            "send drawn rows",
            sent / (assumed.network * assumed.n_workers),
            f"{demand.tree_bytes / 1e6:.0f} MB for a tree",
        ),
        Part(
            "grow trees",
            rounds * tree,
            f"{tree:.0f} s of CPU for a tree, {rounds} after each other on a thread",
        ),
        Part(
            "schedule tasks",
            n_tasks * costs.per_task,
            f"{n_tasks} tasks of {1e3 * costs.per_task:.2g} ms, on one thread",
        ),
        Part(
            "receive and start tasks",
            n_tasks * costs.per_task_on_worker / n_threads,
            f"{1e3 * costs.per_task_on_worker:.2g} ms of CPU of a worker for each",
        ),
        Part(
            "fetch trees",
            model / assumed.network,
            f"{model / 1e9:.1f} GB into the client",
        ),
    ]
    return Estimate(dealt.trees_per_task, n_waves, n_tasks, model, parts)
