# SPDX-License-Identifier: BSD-3-Clause
"""Grows trees on a cluster: they go out in waves and come back as they are finished.

A wave is a pass over the data in which every partition draws for many trees at once.
"""

import secrets
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from operator import getitem
from typing import Any

import dask
import numpy as np

from co2forest.dask._cluster import Running, run_all
from co2forest.dask._draws import PILOT
from co2forest.dask._memory import Schedule
from co2forest.dask._survey import Data
from co2forest.dask._tasks import Recipe, by_batch, decide_by_pilot, draw, grow
from co2forest.data.outputs.base import Outputs
from co2forest.fitting.plan import Draws, Plan
from co2forest.fitting.trees import Grown, TreeRange

Progress = Callable[[int, str], None]  # told how many trees are finished, and the same in words
Batch = list[int]  # trees of one task


class DrawTasks:
    """Draws from all partitions, as tasks that are not sent yet."""

    def __init__(self, data: Data, draws: Draws, n_groups: int) -> None:
        self._data = data
        self._source = data.source(draws)
        self._n_groups = n_groups
        self._token = secrets.token_hex(8)
        self.source = self.constant("source", self._source)

    def key(self, kind: str, *numbers: int) -> str:
        """The name of a task, by which a dashboard groups it."""
        return "-".join(["co2forest", kind, self._token, *map(str, numbers)])

    def constant(self, kind: str, value: Any) -> Any:
        """A value that tasks share, sent to a worker once."""
        return dask.delayed(value, name=self.key(kind), traverse=False)

    def of(self, batches: list[Batch]) -> list[list[Any]]:
        """What each batch of trees draws from each group of partitions.

        Without groups there would be a task for every pair of a batch and a partition, and the
        scheduler takes 2 ms for each: half a million of them for 1000 trees on a billion rows
        (docs/benchmarks/scale_out.md).
        """
        counts = {tree: self._source.draws_of(tree) for batch in batches for tree in batch}
        wave = batches[0][0] + 1
        filled = np.flatnonzero(self._data.sizes)
        groups = np.array_split(filled, min(self._n_groups, len(filled)))
        draw_all, collect = dask.delayed(draw, pure=False), dask.delayed(by_batch, pure=False)
        pick = dask.delayed(getitem, pure=False)
        pieces: list[list[Any]] = [[] for _ in batches]
        for group, numbers in enumerate(groups):
            drawn = []
            for number in numbers.tolist():
                draws = [{tree: counts[tree][number] for tree in batch} for batch in batches]
                blocks = self._data.partitions.blocks(number)
                key = self.key("draw", wave, number)
                drawn.append(draw_all(number, *blocks, self.source, draws, dask_key_name=key))
            collected = collect(drawn, dask_key_name=self.key("collect", wave, group))
            for i, batch in enumerate(batches):
                key = self.key("drawn", batch[0] + 1, group)
                pieces[i].append(pick(collected, i, dask_key_name=key))
        return pieces


def decide_on_cluster(
    client: Any, data: Data, draws: Draws, estimator: Any, schedule: Schedule
) -> tuple[Outputs, Plan]:
    """Decide on a sample of all partitions what parameters leave open."""
    tasks = DrawTasks(data, draws, schedule.n_groups)
    (pieces,) = tasks.of([[PILOT]])
    task = dask.delayed(decide_by_pilot, pure=False)(
        tasks.constant("estimator", estimator),
        tasks.source,
        estimator.n_estimators,
        pieces,
        dask_key_name=tasks.key("decide"),
    )
    found: list[tuple[Outputs, Plan]]
    found = run_all(client, [task], ["a trial on a sample of all partitions"])
    return found[0]


@dataclass(frozen=True)
class ClusterGrower:
    """Grows trees on a cluster: a `co2forest.fitting.trees.Grower` whose data are partitions."""

    client: Any
    schedule: Schedule
    outputs: Outputs
    have: dict[int, Grown]  # single trees that need not be grown
    keep: Callable[[int, Grown], None]  # told of finished trees, and the number of the first

    def __call__(
        self, plan: Plan, data: Data, trees: TreeRange, progress: Progress | None = None
    ) -> Grown:
        """Grow the trees of a range."""
        numbers = range(trees.first, trees.first + trees.n_trees)
        have = {number: self.have[number] for number in numbers if number in self.have}
        missing = [number for number in numbers if number not in have]

        def show(n_workers: int) -> None:
            if progress is not None:
                workers = f"{n_workers} worker{'' if n_workers == 1 else 's'}"
                done = len(have) - (trees.n_trees - len(missing))
                progress(done, f"{len(have)}/{trees.n_trees} trees, {workers}")

        recipe = Recipe(plan, self.outputs, trees.mean)
        draws = DrawTasks(data, plan.draws, self.schedule.n_groups)
        with closing(self._grow(recipe, draws, self._waves(missing), show)) as finished:
            for first, grown in finished:
                have |= single_trees(first, grown)
                self.keep(first, grown)
        return Grown.join([have[number] for number in numbers])

    def _grow(
        self,
        recipe: Recipe,
        draws: DrawTasks,
        waves: list[list[Batch]],
        show: Callable[[int], None],
    ) -> Generator[tuple[int, Grown]]:
        """Trees with the number of the first, in the order in which they are finished."""
        running = Running(self.client, lambda: show(running.n_workers))
        shared, grow_batch = draws.constant("recipe", recipe), dask.delayed(grow, pure=False)
        first: dict[Any, int] = {}

        def send(number: int) -> None:
            for wave in waves[number : number + 1]:
                tasks = [
                    grow_batch(shared, batch, pieces, dask_key_name=draws.key("grow", batch[0]))
                    for batch, pieces in zip(wave, draws.of(wave), strict=True)
                ]
                names = [f"trees {batch[0]} to {batch[-1]}" for batch in wave]
                futures = running.send(tasks, names, priority=-number)
                first.update(zip(futures, (batch[0] for batch in wave), strict=True))

        send(0)
        sent = 1
        with closing(running.results()) as results:
            for future, grown in results:
                yield first.pop(future), grown
                show(running.n_workers)
                if len(running) <= self.schedule.n_threads:  # soon a thread will be idle
                    send(sent)
                    sent += 1

    def _waves(self, trees: list[int]) -> list[list[Batch]]:
        """Waves of batches of neighbouring trees."""
        per_task = self.schedule.trees_per_task
        batches: list[Batch] = []
        for tree in trees:
            full = not batches or len(batches[-1]) == per_task
            if full or batches[-1][-1] + 1 != tree:
                batches.append([])
            batches[-1].append(tree)
        per_wave = max(1, self.schedule.trees_per_wave // per_task)
        return [batches[i : i + per_wave] for i in range(0, len(batches), per_wave)]


def single_trees(first: int, grown: Grown) -> dict[int, Grown]:
    """Trees one by one, by their numbers."""
    return {
        first + i: Grown(grown.forest.tree(i), grown.steps[i : i + 1]) for i in range(grown.n_trees)
    }
