# SPDX-License-Identifier: BSD-3-Clause
"""What workers do: draw rows from a partition, and grow trees from what all partitions have drawn.

Every task is a function of its arguments, so that Dask may run it again, and anywhere.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask.sizeof import sizeof

from co2forest.dask._blocks import take, to_rows, to_weights
from co2forest.dask._draws import PILOT, draw_rows, draws_per_partition
from co2forest.dask._targets import Targets
from co2forest.dask._threads import threads_of_worker
from co2forest.data.outputs.base import Outputs
from co2forest.data.weights import in_range
from co2forest.fitting.decide import decide
from co2forest.fitting.grow import grow_here
from co2forest.fitting.plan import Draws, Plan
from co2forest.fitting.trees import Grown, TreeRange

_PILOT_ROWS = 20_000  # more than a trial takes


@dataclass(frozen=True)
class Source:
    """How all partitions are read, and what trees draw from them."""

    dtype: str
    targets: Targets
    n_all: list[int]  # rows of each partition
    n_counted: list[int]  # those with a weight, which can be drawn
    draws: Draws

    def replaces(self, tree: int) -> bool:
        """Whether a tree draws with replacement; a pilot never does."""
        return self.draws.bootstrap and tree != PILOT

    def draws_of(self, tree: int) -> list[int]:
        """How many rows a tree draws from each partition."""
        n_draws = min(_PILOT_ROWS, self.draws.n_rows) if tree == PILOT else self.draws.n_draws
        sizes, replaces = np.array(self.n_counted, dtype=np.int64), self.replaces(tree)
        counts = draws_per_partition(sizes, n_draws, self.draws.seed, tree, replace=replaces)
        found: list[int] = counts.tolist()
        return found

    def rows(
        self, tree: int, n_draws: int, partition: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Which rows with a weight a tree draws from a partition, and how often."""
        size, seed = self.n_counted[partition], self.draws.seed
        return draw_rows(size, n_draws, seed, tree, partition, replace=self.replaces(tree))


@dataclass(frozen=True)
class Drawn:
    """Rows that some trees have drawn from a partition, each once."""

    rows: Any
    encoded: npt.NDArray[Any]
    weights: npt.NDArray[np.float32] | None
    # For each tree, which of these rows it has, and how often.
    trees: dict[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]]


@sizeof.register(Drawn)  # type: ignore[untyped-decorator]
def _size_of_drawn(drawn: Drawn) -> int:
    trees = sum(rows.nbytes + counts.nbytes for rows, counts in drawn.trees.values())
    rest = 0 if drawn.weights is None else drawn.weights.nbytes
    return int(sizeof(drawn.rows)) + drawn.encoded.nbytes + rest + trees


@sizeof.register(Grown)  # type: ignore[untyped-decorator]
def _size_of_grown(grown: Grown) -> int:
    return sum(array.nbytes for array in grown.forest.arrays().values())


def counted_rows(
    number: int, values: npt.NDArray[Any], weight: Any, source: Source
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], npt.NDArray[np.float32] | None]:
    """The rows of a partition that have a weight, their encoded targets and their weights."""
    if len(values) != source.n_all[number]:
        raise ValueError(
            f"partition {number} has {len(values)} rows, but it had {source.n_all[number]} when it "
            "was first read; data that change must be persisted before fit"
        )
    encoded = source.targets.encode(values)
    weights = to_weights(weight, len(values))
    factors = source.targets.factors(encoded)
    if factors is not None:
        weights = factors if weights is None else weights * factors
    if weights is None:
        return np.arange(len(values)), encoded, None
    counted = np.flatnonzero(weights > 0)
    if len(counted) != source.n_counted[number]:
        raise ValueError(
            f"partition {number} has {len(counted)} rows with a weight, but it had "
            f"{source.n_counted[number]} when it was first read"
        )
    return counted, encoded[counted], weights[counted]


def draw(
    number: int, X: Any, y: Any, weight: Any, source: Source, batches: list[dict[int, int]]
) -> list[Drawn]:
    """Draw rows for batches of trees, which say how many each tree takes from this partition.

    One task draws for all batches of a wave: with several tasks, Dask might keep all partitions in
    memory until the last batch has been drawn.
    """
    counted, encoded, weights = counted_rows(number, source.targets.values(y), weight, source)

    def draw_batch(draws: dict[int, int]) -> Drawn:
        chosen = {tree: source.rows(tree, n, number) for tree, n in draws.items() if n > 0}
        # A row that several trees have drawn is sent once.
        together = np.zeros(len(counted), dtype=bool)
        for rows, _ in chosen.values():
            together[rows] = True
        kept = np.flatnonzero(together)
        trees = {
            tree: (np.searchsorted(kept, rows).astype(np.int32), counts.astype(np.int32))
            for tree, (rows, counts) in chosen.items()
        }
        return Drawn(
            to_rows(take(X, counted[kept]), source.dtype),
            encoded[kept],
            None if weights is None else weights[kept],
            trees,
        )

    return [draw_batch(draws) for draws in batches]


Groups = Sequence[Sequence[Drawn]]  # groups of partitions, with what each has drawn


def by_batch(drawn: list[list[Drawn]]) -> list[list[Drawn]]:
    """Sort what partitions have drawn by batches; nothing is copied."""
    return [[piece for piece in of_batch if piece.trees] for of_batch in zip(*drawn, strict=True)]


def gather(
    tree: int, groups: Groups, *, balance: bool
) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.float32]]:
    """Rows, encoded targets and weights that a tree has drawn, in the order of partitions.

    The weight of a row is how often it was drawn, times its weight in the data. ``balance`` makes
    all classes equally heavy.
    """
    pieces = [piece for group in groups for piece in group if tree in piece.trees]
    drawn = [(piece, *piece.trees[tree]) for piece in pieces]
    rows = [piece.rows[index] for piece, index, _ in drawn]
    encoded = np.concatenate([piece.encoded[index] for piece, index, _ in drawn])
    counts = np.concatenate([counts for _, _, counts in drawn])
    total = counts.astype(np.float64)
    weights = [piece.weights[index] for piece, index, _ in drawn if piece.weights is not None]
    if weights:
        total *= np.concatenate(weights)
    if balance:
        of_class = np.bincount(encoded, counts)
        factors = of_class.sum() / (np.count_nonzero(of_class) * np.maximum(of_class, 1))
        total *= factors[encoded]
    together = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return together, encoded, in_range(total.astype(np.float32))


def decide_by_pilot(
    estimator: Any, source: Source, n_trees: int, groups: Groups
) -> tuple[Outputs, Plan]:
    """Decide on a sample what parameters leave open."""
    rows, encoded, weights = gather(PILOT, groups, balance=source.draws.balance)
    outputs = source.targets.outputs(encoded, weights)
    with threads_of_worker(1):
        data = outputs.training_set(rows, encoded, weights)
        return outputs, decide(estimator, data, source.draws, n_trees)


@dataclass(frozen=True)
class Recipe:
    """How a tree is grown from what it has drawn."""

    plan: Plan
    outputs: Outputs
    mean: npt.NDArray[np.float32]  # of the features

    def tree(self, number: int, groups: Groups) -> Grown:
        """Grow one tree."""
        draws = self.plan.draws
        data = self.outputs.training_set(*gather(number, groups, balance=draws.balance))
        plan = replace(self.plan, draws=Draws.every_row(data.n_rows, draws.seed))
        return grow_here(plan, data, TreeRange(number, 1, self.mean))


def grow(recipe: Recipe, trees: list[int], groups: Groups) -> Grown:
    """Grow trees, as many at once as the worker has threads to spare."""
    with threads_of_worker(len(trees)) as n_threads, ThreadPoolExecutor(n_threads) as pool:
        return Grown.join(list(pool.map(lambda tree: recipe.tree(tree, groups), trees)))
