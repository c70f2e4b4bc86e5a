"""Trees go out in waves and come back as they are finished."""

import secrets
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from operator import getitem
from typing import Any

import dask
import numpy as np

from co2forest._forest import BaseForest
from co2forest.dask._cluster import Running, run_all
from co2forest.dask._draws import PILOT
from co2forest.dask._memory import Plan
from co2forest.dask._survey import Data
from co2forest.dask._tasks import Decisions, Grown, Recipe, Source, by_batch, decide, draw, grow

_PILOT_ROWS = 20_000  # more than a trial takes


@dataclass(frozen=True)
class Progress:
    """How far the work is."""

    trees: int  # that came back
    workers: int


class Draws:
    """Draws from all partitions, as tasks that are not sent yet."""

    def __init__(self, data: Data, source: Source, n_groups: int) -> None:
        self._data = data
        self._source = source
        self._n_groups = n_groups
        self._token = secrets.token_hex(8)
        self.source = self.constant("source", source)

    def key(self, kind: str, *numbers: int) -> str:
        """The name of a task, by which a dashboard groups it."""
        return "-".join(["co2forest", kind, self._token, *map(str, numbers)])

    def constant(self, kind: str, value: Any) -> Any:
        """A value that tasks share, sent to a worker once."""
        return dask.delayed(value, name=self.key(kind), traverse=False)

    def of(self, batches: list[list[int]], n_draws: int) -> list[list[Any]]:
        """For each batch of trees what it draws from each group of partitions.

        Without groups there would be a task for every pair of a batch and a partition, and the
        scheduler takes 2 ms for each: half a million of them for 1000 trees on a billion rows
        (docs/benchmarks/scale_out.md).
        """
        counts = {
            tree: self._source.draws(tree, n_draws).tolist() for batch in batches for tree in batch
        }
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
                part = self._data.partitions.part(number)
                key = self.key("draw", wave, number)
                drawn.append(draw_all(number, *part, self.source, draws, dask_key_name=key))
            collected = collect(drawn, dask_key_name=self.key("collect", wave, group))
            for i, batch in enumerate(batches):
                key = self.key("drawn", batch[0] + 1, group)
                pieces[i].append(pick(collected, i, dask_key_name=key))
        return pieces


def decide_on_cluster(
    client: Any, data: Data, source: Source, estimator: BaseForest, dealt: Plan
) -> Decisions:
    """What parameters leave open, tried on a sample of all partitions."""
    draws = Draws(data, source, dealt.n_groups)
    (pieces,) = draws.of([[PILOT]], min(_PILOT_ROWS, data.n_rows))
    task = dask.delayed(decide, pure=False)(
        draws.constant("estimator", estimator),
        draws.source,
        PILOT,
        pieces,
        dask_key_name=draws.key("decide"),
    )
    decisions: Decisions = run_all(client, [task], ["a trial on a sample of all partitions"])[0]
    return decisions


class Waves:
    """Grows trees on a cluster."""

    def __init__(
        self, client: Any, data: Data, source: Source, recipe: Recipe, dealt: Plan, n_draws: int
    ) -> None:
        self._client = client
        self._draws = Draws(data, source, dealt.n_groups)
        self._recipe = self._draws.constant("recipe", recipe)
        self._dealt = dealt
        self._n_draws = n_draws

    def grow(
        self, trees: list[int], on_wait: Callable[[Progress], None]
    ) -> Generator[tuple[list[int], Grown]]:
        """Trees with their numbers, in the order in which they are finished."""
        waves = self._waves(trees)
        batches: dict[Any, list[int]] = {}
        done = 0
        running = Running(self._client, lambda: on_wait(Progress(done, running.n_workers)))

        def send_wave(number: int) -> None:
            for wave in waves[number : number + 1]:
                futures = running.send(
                    self._tasks(wave),
                    [f"trees {batch[0]} to {batch[-1]}" for batch in wave],
                    priority=-number,
                )
                batches.update(zip(futures, wave, strict=True))

        send_wave(0)
        sent = 1
        with closing(running.results()) as results:
            for future, grown in results:
                batch = batches.pop(future)
                done += len(batch)
                on_wait(Progress(done, running.n_workers))
                yield batch, grown
                if len(running) <= self._dealt.n_threads:  # soon somebody has nothing to do
                    send_wave(sent)
                    sent += 1

    def _waves(self, trees: list[int]) -> list[list[list[int]]]:
        """Waves of batches of neighbouring trees."""
        per_task = self._dealt.trees_per_task
        batches: list[list[int]] = []
        for tree in trees:
            full = not batches or len(batches[-1]) == per_task
            if full or batches[-1][-1] + 1 != tree:
                batches.append([])
            batches[-1].append(tree)
        per_wave = max(1, self._dealt.trees_per_wave // per_task)
        return [batches[i : i + per_wave] for i in range(0, len(batches), per_wave)]

    def _tasks(self, wave: list[list[int]]) -> list[Any]:
        drawn = self._draws.of(wave, self._n_draws)
        grow_batch = dask.delayed(grow, pure=False)
        return [
            grow_batch(self._recipe, batch, pieces, dask_key_name=self._draws.key("grow", batch[0]))
            for batch, pieces in zip(wave, drawn, strict=True)
        ]
