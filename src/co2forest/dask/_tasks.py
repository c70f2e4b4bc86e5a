"""What workers do: look at a partition, draw rows from it, grow trees from what all have drawn.

Every task is a function of its arguments, so that Dask may run it again, and anywhere.
"""

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask.sizeof import sizeof

from co2forest import _native
from co2forest._base import everything
from co2forest._digest import digest
from co2forest._forest import BaseForest
from co2forest._rows import TrainingSet
from co2forest._scaling import native_scaling
from co2forest.dask._blocks import feature_sums, take, to_rows, to_weights
from co2forest.dask._draws import PILOT, draw_rows, draws_per_partition
from co2forest.dask._targets import Targets, row_weights
from co2forest.dask._threads import threads_of_worker

FindTargets = Callable[[Any, npt.NDArray[np.bool_]], Any]


@dataclass(frozen=True)
class Summary:
    """What is known of a partition when it has been read once."""

    n_rows: int
    n_features: int
    dtype: str
    sparse: bool
    columns: str  # a digest of the names that a data frame has
    n_bytes: int  # as it lies in a worker's memory
    sums: npt.NDArray[np.float64]  # of each feature
    sum_weights: npt.NDArray[np.float64]
    targets: Any  # what FindTargets found


def survey(number: int, X: Any, y: Any, weight: Any, find_targets: FindTargets) -> Summary:
    """Read and check a partition."""
    try:
        rows = to_rows(X)
        if len(y) != rows.shape[0]:
            raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(y)}")  # noqa: TRY301
        weights = to_weights(weight, rows.shape[0])
        has_weight = np.ones(rows.shape[0], dtype=bool) if weights is None else weights > 0
        sums, sum_weights = feature_sums(rows, weights)
        found = find_targets(y, has_weight)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
    n_bytes = sizeof(X) + sizeof(y) + (0 if weight is None else sizeof(weight))
    return Summary(
        rows.shape[0],
        rows.shape[1],
        rows.dtype.name,
        sp.issparse(rows),
        digest(list(X.columns)) if hasattr(X, "columns") else "",
        n_bytes,
        sums,
        sum_weights,
        found,
    )


@dataclass(frozen=True)
class Source:
    """How all partitions are read, and what trees draw from them."""

    dtype: str
    targets: Targets
    n_all: list[int]  # rows of each partition
    n_counted: list[int]  # those with a weight, which can be drawn
    seed: int
    bootstrap: bool

    def replaces(self, tree: int) -> bool:
        """Whether a tree draws with replacement; a pilot never does."""
        return self.bootstrap and tree != PILOT

    def draws(self, tree: int, n_draws: int) -> npt.NDArray[np.int64]:
        """How many of a tree's draws fall on each partition."""
        sizes = np.array(self.n_counted, dtype=np.int64)
        return draws_per_partition(sizes, n_draws, self.seed, tree, replace=self.replaces(tree))

    def rows(
        self, tree: int, n_draws: int, partition: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Which rows with a weight a tree draws from a partition, and how often."""
        size = self.n_counted[partition]
        return draw_rows(size, n_draws, self.seed, tree, partition, replace=self.replaces(tree))


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


def counted_rows(
    number: int, y: Any, weight: Any, source: Source
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], npt.NDArray[np.float32] | None]:
    """The rows of a partition that have a weight, their targets and their weights."""
    if len(y) != source.n_all[number]:
        raise ValueError(
            f"partition {number} has {len(y)} rows, but it had {source.n_all[number]} when it was "
            "first read; data that change must be persisted before fit"
        )
    encoded = source.targets.encode(y)
    weights = to_weights(weight, len(y))
    factors = source.targets.factors(encoded)
    if factors is not None:
        weights = factors if weights is None else weights * factors
    if weights is None:
        return np.arange(len(y)), encoded, None
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
    """Rows for batches of trees; for each tree, how many it takes from this partition.

    One task for all batches of a wave: with several, Dask might keep all partitions in memory until
    the last batch has been drawn.
    """
    counted, encoded, weights = counted_rows(number, y, weight, source)

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


@dataclass(frozen=True)
class Sample:
    """The rows of one tree, from all partitions."""

    rows: Any
    encoded: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]


def gather(tree: int, pieces: Sequence[Drawn], targets: Targets) -> Sample:
    """What a tree has drawn from all partitions, in their order."""
    parts = [(piece, *piece.trees[tree]) for piece in pieces if tree in piece.trees]
    rows = [piece.rows[index] for piece, index, _ in parts]
    encoded = np.concatenate([piece.encoded[index] for piece, index, _ in parts])
    counts = np.concatenate([counts for _, _, counts in parts])
    weighted = [piece.weights[index] for piece, index, _ in parts if piece.weights is not None]
    weights = np.concatenate(weighted) if weighted else None
    together = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return Sample(together, encoded, row_weights(targets, encoded, counts, weights))


@dataclass(frozen=True)
class Decisions:
    """What a trial on a sample has left open no longer."""

    meaning: Any  # of the outputs
    chosen: dict[str, Any]  # attributes of the estimator: scale_, and solver_ of a regressor


def decide(estimator: BaseForest, source: Source, pilot: int, pieces: list[Drawn]) -> Decisions:
    """Try on a sample what the parameters leave open."""
    sample = gather(pilot, pieces, source.targets)
    meaning = source.targets.meaning(sample.encoded, sample.weights)
    with threads_of_worker(1):
        data = _training_set(estimator, sample, meaning)
        estimator = copy.copy(estimator)
        estimator._decide_by_trial(data, source.seed)  # noqa: SLF001
    chosen = {name: value for name, value in vars(estimator).items() if name in CHOSEN}
    return Decisions(meaning, chosen)


CHOSEN = ("scale_", "solver_")


@dataclass(frozen=True)
class Recipe:
    """How a tree is grown from its sample."""

    estimator: BaseForest  # with what a trial has chosen
    meaning: Any
    mean: npt.NDArray[np.float32]
    targets: Targets
    seed: int

    def tree(
        self, tree: int, pieces: Sequence[Drawn]
    ) -> tuple[_native.Forest, npt.NDArray[np.float64]]:
        """A tree, and its mean number of steps per node."""
        data = _training_set(self.estimator, gather(tree, pieces, self.targets), self.meaning)
        scaling = native_scaling(self.estimator.scale_)
        return self.estimator._train_native(  # noqa: SLF001
            data, everything(data), scaling, self.seed, 1, tree, self.mean
        )


@dataclass(frozen=True)
class Grown:
    """Some trees of a forest."""

    forest: _native.Forest
    steps: npt.NDArray[np.float64]


@sizeof.register(Grown)  # type: ignore[untyped-decorator]
def _size_of_grown(grown: Grown) -> int:
    return sum(array.nbytes for array in grown.forest.arrays().values())


def grow(recipe: Recipe, trees: list[int], pieces: list[Drawn]) -> Grown:
    """Grow trees, as many at once as the worker has threads to spare."""
    with threads_of_worker(len(trees)) as n_threads, ThreadPoolExecutor(n_threads) as pool:
        grown = list(pool.map(lambda tree: recipe.tree(tree, pieces), trees))
    forests, steps = zip(*grown, strict=True)
    return Grown(_native.Forest.concatenate(list(forests)), np.concatenate(steps))


def _training_set(estimator: BaseForest, sample: Sample, meaning: Any) -> TrainingSet:
    own: Any = copy.copy(estimator)  # others use it at the same time
    data: TrainingSet = own._training_set(  # noqa: SLF001
        sample.rows, sample.encoded, sample.weights, meaning
    )
    return data
