"""Grows trees where joblib's backends of other processes run: in batches, each on one thread."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from co2forest import _native
from co2forest._rows import TrainingSet, aligned
from co2forest._scaling import native_scaling

# A batch begins with what a native call does for all its trees: rows that are alike, moments. That
# takes up to 0.4 of the time of a tree (0.04 s and 0.11 s with 50 000 rows of 50 floats), a tenth
# of that of four. Three batches for each job keep all busy until shortly before the end.
_BATCHES_PER_JOB = 3
_TREES_PER_BATCH = 4

_CHOSEN = ("solver_",)  # what a fit has found out before it grows trees, if anything

Grown = tuple[_native.Forest, npt.NDArray[np.float64]]  # trees, and the steps of each


@dataclass(frozen=True, eq=False)
class Parcel:
    """Training data on their way, without native parts.

    These cannot be pickled; and joblib may keep what it was to send in a fit that is interrupted
    until the interpreter ends, when nanobind would complain of them.
    """

    X: Any
    targets: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]
    n_outputs: int
    impurity_unit: float
    loss: tuple[str, float, list[float]]  # kind, level, cost

    @classmethod
    def of(cls, data: TrainingSet) -> Self:
        """All that trees need of the data."""
        loss = (data.loss.kind.name, data.loss.level, data.loss.cost)
        return cls(data.X, data.targets, data.weights, data.n_outputs, data.impurity_unit, loss)

    @cached_property
    def data(self) -> TrainingSet:
        """The data again."""
        loss = _native.ValueLossParams()
        kind, loss.level, loss.cost = self.loss
        loss.kind = _native.ValueLossKind[kind]
        return TrainingSet(
            self.X, self.targets, self.weights, self.n_outputs, self.impurity_unit, loss
        )

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = (self.X, self.targets, self.weights)
        return _received, (*arrays, self.n_outputs, self.impurity_unit, self.loss)

    def __sizeof__(self) -> int:
        """Bytes with those of arrays: joblib sends to a Dask worker once what is large by this."""
        X = self.X
        parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
        arrays = (*parts, self.targets, self.weights)
        return object.__sizeof__(self) + sum(int(array.nbytes) for array in arrays)


def _received(X: Any, *rest: Any) -> Parcel:
    """A parcel from a network, where arrays lie in the middle of a buffer: free after a copy."""
    return Parcel(X if sp.issparse(X) else aligned(X), *rest)


class Batches(NamedTuple):
    """Where each batch begins, and how many trees it has."""

    first: list[int]
    size: list[int]


def shares_memory() -> bool:
    """Whether joblib works in this process, as it does unless the user has chosen a backend."""
    return bool(getattr(_backend(), "supports_sharedmem", False))


def grows_elsewhere(estimator: Any) -> bool:
    """Whether joblib has several jobs in other processes; a single one is no better than here."""
    return not shares_memory() and effective_n_jobs(estimator.n_jobs) > 1


def grow_in_batches(
    estimator: Any,
    data: TrainingSet,
    sampling: _native.SamplingParams,
    scale: str | None,
    seed: int,
    n_trees: int,
    first_tree: int,
    mean: npt.NDArray[np.float32],
    progress: Callable[[int], None] | None,
) -> Grown:
    """What one native call would give, from other processes."""
    batches = split(n_trees, int(effective_n_jobs(estimator.n_jobs)))
    gradually = progress is not None and getattr(_backend(), "supports_return_generator", False)
    parallel = Parallel(
        n_jobs=estimator.n_jobs, batch_size=1, return_as="generator" if gradually else "list"
    )
    sent = _without_fitted(estimator)
    parcel = Parcel.of(data)
    draws = (sampling.bootstrap, sampling.balance, sampling.n_draws)
    forests, steps, done = [], [], 0
    for arrays, steps_of_trees in parallel(
        delayed(_grow_batch)(sent, parcel, draws, scale, seed, size, first_tree + first, mean)
        for first, size in zip(*batches, strict=True)
    ):
        forests.append(_native.Forest(*arrays))
        steps.append(steps_of_trees)
        done += len(steps_of_trees)
        if progress is not None:
            progress(done)
    return _native.Forest.concatenate(forests), np.concatenate(steps)


def split(n_trees: int, n_jobs: int) -> Batches:
    """As equal batches as can be; some for every job, if there are as many trees."""
    count = min(_BATCHES_PER_JOB * n_jobs, n_trees // _TREES_PER_BATCH)
    count = min(max(count, n_jobs), n_trees)
    ends = [n_trees * (number + 1) // count for number in range(count)]
    first = [0, *ends[:-1]]
    return Batches(first, [end - begin for begin, end in zip(first, ends, strict=True)])


def _grow_batch(
    estimator: Any,
    parcel: Parcel,
    draws: tuple[bool, bool, int],
    scale: str | None,
    seed: int,
    n_trees: int,
    first_tree: int,
    mean: npt.NDArray[np.float32],
) -> tuple[tuple[Any, ...], npt.NDArray[np.float64]]:
    """Runs in another process; what `_native.Forest` is made of, and steps."""
    sampling = _native.SamplingParams()
    sampling.bootstrap, sampling.balance, sampling.n_draws = draws
    scaling = native_scaling(scale)
    forest, steps = estimator._train_native(  # noqa: SLF001
        parcel.data, sampling, scaling, seed, n_trees, first_tree, mean
    )
    return forest.__reduce__()[1], steps


def _without_fitted(estimator: Any) -> Any:
    """A copy with the parameters that shape trees; not with trees and arrays of an earlier fit."""
    light = copy.copy(estimator)
    needed = light.get_params(deep=False).keys() | set(_CHOSEN)
    for name in vars(light).keys() - needed:
        delattr(light, name)
    # A score of the user's need not be picklable.
    light.n_jobs, light.oob_score, light.random_state = 1, False, None
    return light


def _backend() -> Any:
    """The backend of the user's choice; without one, native threads serve better than processes."""
    return get_active_backend(prefer="threads")[0]
