"""What forests on Dask share: a fit from the first look at the data to the last tree."""

import contextlib
import copy
import secrets
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._base import draw_seed, unchanged_on_failure
from co2forest._digest import digest
from co2forest._forest import BaseForest
from co2forest._parameters import Constraints, whole_rows
from co2forest._progress import ProgressBar
from co2forest._sklearn_compat import Interval, StrOptions
from co2forest.dask._checkpoint import Checkpoint
from co2forest.dask._cluster import find_client, thread_given_back
from co2forest.dask._collections import check_features, is_dask, partitions_of, rows_collection
from co2forest.dask._evaluate import Kind, score_on_cluster, score_out_of_bag
from co2forest.dask._memory import Demand, cluster_of, plan
from co2forest.dask._predict import predict_lazily
from co2forest.dask._survey import Data, survey_data
from co2forest.dask._targets import Targets
from co2forest.dask._tasks import CHOSEN, FindTargets, Recipe, Source
from co2forest.dask._waves import Progress, Waves, decide_on_cluster

DASK_CONSTRAINTS: Constraints = {
    "trees_per_task": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "client": "no_validation",  # what finds it says what is wrong with it
    "checkpoint": [str, PathLike, None],
    "oob_score": ["boolean"],
}

# What a forest does not depend on, so that a fit may go on with another value.
_FREE = frozenset({"n_estimators", "oob_score", "warm_start", "n_jobs", "random_state", "verbose"})
_OWN = ("trees_per_task", "client", "checkpoint")
_NOT_LOCAL = ("_partition_sizes", "_model_key", "oob_score_")
Trees = tuple[_native.Forest, npt.NDArray[np.float64]]  # and their steps


class DaskForest(BaseForest):
    """A forest that is grown where its data lie; subclasses know the targets."""

    _local_class: ClassVar[type[BaseForest]]
    _score_kind: ClassVar[Kind]
    trees_per_task: int | str
    client: Any
    checkpoint: Any
    random_state: Any
    verbose: int
    _partition_sizes: list[int]  # rows with a weight
    _model_key: str  # of the model on clusters

    @abstractmethod
    def _find_targets(self) -> FindTargets:
        """How a partition's targets are looked at."""

    @abstractmethod
    def _all_targets(self, found: list[Any]) -> Targets:
        """What all of them are; raises if the parameters do not go together with them."""

    @abstractmethod
    def _note_targets(self, targets: Targets, meaning: Any) -> None:
        """Set the attributes that a fit has from its targets."""

    @property
    @abstractmethod
    def _meaning(self) -> Any:
        """What the outputs of the trees there are mean."""

    def _fit_on_dask(self, X: Any, y: Any, sample_weight: Any) -> Self:
        client = find_client(self.client)
        with unchanged_on_failure(self), thread_given_back():
            partitions = partitions_of(X, y, sample_weight)
            data = survey_data(client, partitions, self._find_targets(), self._all_targets)
            n_draws = self._sampling(data.n_rows).n_draws
            earlier = self._trees_to_keep(data)
            if earlier is not None and earlier.n_trees == self.n_estimators:
                return self
            dealt = plan(self._demand(data, n_draws), cluster_of(client), self.trees_per_task)
            if earlier is None:
                self._seed, self._first_tree = draw_seed(self.random_state), 0
            checkpoint = self._open_checkpoint(data, fixed_seed=earlier is not None)
            if dealt.persist:
                data = data.persisted(client)
            source = data.source(self._seed, bootstrap=bool(self.bootstrap))
            recipe = self._recipe(client, data, source, earlier, n_draws)
            self._sampling_used = (bool(self.bootstrap), n_draws)
            self._drawn_from, self._partition_sizes = data.n_rows, data.sizes.tolist()
            self._partitioned = True
            waves = Waves(client, data, source, recipe, dealt, n_draws)
            self._forest, self.n_iter_ = self._grow_missing(waves, earlier, checkpoint)
            self._model_key = f"co2forest-model-{secrets.token_hex(8)}"
            if hasattr(self, "oob_score_"):  # of an earlier fit
                del self.oob_score_
            if self.oob_score:
                self.oob_score_ = score_out_of_bag(
                    client, data, source, self.to_local(), self._score_kind, n_draws
                )
        return self

    def _demand(self, data: Data, n_draws: int) -> Demand:
        return Demand(
            self.n_estimators,
            len(data.partitions),
            data.n_rows,
            data.row_bytes,
            data.n_bytes,
            self.max_samples,
            n_draws,
            bool(self.bootstrap),
        )

    def _trees_to_keep(self, data: Data) -> _native.Forest | None:
        """Those that a warm start goes on from; sets the names of the features."""
        warm = self.warm_start and hasattr(self, "_forest")
        names = getattr(self, "feature_names_in_", None) if warm else None
        self.n_features_in_ = data.n_features
        if data.partitions.feature_names is not None:
            self.feature_names_in_ = data.partitions.feature_names
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_
        self._check_same_names(names)
        if not warm:
            return None
        self._check_goes_on(data.n_features, data.targets.outline())
        if self.oob_score and data.sizes.tolist() != self._partition_sizes:
            raise ValueError(
                "oob_score with warm_start=True needs the partitions of the first fit, but now "
                "they have other numbers of rows"
            )
        if self._forest.n_trees == self.n_estimators:
            warnings.warn(
                "warm_start=True and n_estimators has not grown, so fit added no trees",
                stacklevel=5,
            )
        return self._forest

    def _open_checkpoint(self, data: Data, *, fixed_seed: bool) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        parameters = self._local_parameters()
        kept = {name: value for name, value in parameters.items() if name not in _FREE}
        problem = {"X, y or sample_weight": data.digest(), "parameters": digest(kept)}
        fixed = fixed_seed or self.random_state is not None
        checkpoint = Checkpoint(self.checkpoint, problem, self._seed, fixed=fixed)
        self._seed = checkpoint.seed
        return checkpoint

    def _recipe(
        self,
        client: Any,
        data: Data,
        source: Source,
        earlier: _native.Forest | None,
        n_draws: int,
    ) -> Recipe:
        """How trees are grown; sets what the data mean and what a trial has chosen."""
        estimator = self._local_class(**self._local_parameters())
        estimator.set_params(n_jobs=1, verbose=0)
        # A part of all rows is one of the rows that a tree draws.
        whole_rows(estimator, n_draws)
        mean = data.mean()
        if earlier is None:
            decisions = decide_on_cluster(client, data, source, estimator)
            for name, value in decisions.chosen.items():
                setattr(self, name, value)
            self._note_targets(data.targets, decisions.meaning)
        else:
            mean = np.array(earlier.arrays()["mean"])
        for name in CHOSEN:
            if hasattr(self, name):
                setattr(estimator, name, getattr(self, name))
        return Recipe(estimator, self._meaning, mean, data.targets, self._seed)

    def _grow_missing(
        self, waves: Waves, earlier: _native.Forest | None, checkpoint: Checkpoint | None
    ) -> Trees:
        """All trees: those of an earlier fit and of the checkpoint, and those that are missing."""
        have: dict[int, Trees] = {}
        if earlier is not None:
            have |= _one_by_one(0, earlier, self.n_iter_)
        for first, trees in checkpoint.kept().items() if checkpoint else ():
            have = _one_by_one(first, trees._forest, trees.n_iter_) | have  # noqa: SLF001
        missing = [tree for tree in range(self.n_estimators) if tree not in have]
        with (
            self._progress(self.n_estimators, len(missing)) as show,
            contextlib.closing(waves.grow(missing, show)) as finished,
        ):
            for batch, grown in finished:
                have |= _one_by_one(batch[0], grown.forest, grown.steps)
                if checkpoint:
                    checkpoint.keep(batch[0], self._as_local(grown.forest, grown.steps))
        forests, steps = zip(*(have[tree] for tree in range(self.n_estimators)), strict=True)
        return _native.Forest.concatenate(list(forests)), np.concatenate(steps)

    @contextlib.contextmanager
    def _progress(self, n_trees: int, n_missing: int) -> Iterator[Callable[[Progress], None]]:
        """Shows trees, workers and the time left, if that is asked for."""
        if not self.verbose or not n_missing:
            yield lambda _: None
            return

        def show(progress: Progress) -> None:
            done = n_trees - n_missing + progress.trees
            workers = f"{progress.workers} worker{'' if progress.workers == 1 else 's'}"
            bar(progress.trees, f"{done}/{n_trees} trees, {workers}")

        with ProgressBar(n_missing) as bar:
            yield show

    def _local_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name not in _OWN}

    def _as_local(self, forest: _native.Forest, steps: npt.NDArray[np.float64]) -> Any:
        local = self._local_class(**self._local_parameters())
        not_local = {*self.get_params(deep=False), *_NOT_LOCAL}
        fitted = {name: value for name, value in vars(self).items() if name not in not_local}
        for name, value in (fitted | {"_forest": forest, "n_iter_": steps}).items():
            setattr(local, name, value)
        return local

    def to_local(self) -> Any:
        """The same forest as an estimator that needs no Dask.

        It predicts, is saved, exported and inspected like any other. Trees are shared, not copied.
        """
        check_is_fitted(self)
        return self._as_local(self._forest, self.n_iter_)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted forest into one file: the model file of the local estimator.

        Parameters
        ----------
        path : str or path-like
            For `co2forest.load_model`, which needs no Dask.
        """
        self.to_local().save(path)

    def __sklearn_clone__(self) -> Self:
        # A client is a connection: it cannot be copied, and a copy of the forest shares it.
        cloned: Self = BaseForest.__sklearn_clone__(copy.copy(self))
        cloned.client = self.client
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        # A client is a connection of this process.
        return {**super().__getstate__(), "client": None}

    def _validate_rows(self, X: Any, *, reset: bool) -> Any:
        if is_dask(X):  # or all of it would be computed into this process
            raise TypeError(
                "this method takes no Dask collection; predict, predict_proba, apply and score do"
            )
        return super()._validate_rows(X, reset=reset)

    def _predict_on_dask(
        self, X: Any, method: str, like: npt.NDArray[Any], columns: list[str] | None = None
    ) -> Any:
        X = rows_collection(X)
        check_features(X, self.n_features_in_, getattr(self, "feature_names_in_", None))
        key = self._model_key
        return predict_lazily(X, self.to_local(), key, self.client, method, like, columns)

    def apply(self, X: Any) -> Any:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array, dask.dataframe or ndarray of shape (n_samples, n_estimators)
        """
        if not is_dask(X):
            return super().apply(X)
        check_is_fitted(self)
        n_trees = self._forest.n_trees
        like = np.zeros((1, n_trees), dtype=np.int64)
        return self._predict_on_dask(X, "apply", like, [str(tree) for tree in range(n_trees)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the predictions: accuracy for classes, R squared for numbers.

        Parameters
        ----------
        X, y, sample_weight : Dask collections, or all in memory
            Partitions are scored where they lie.

        Returns
        -------
        float
        """
        if not is_dask(X):
            return float(super().score(X, y, sample_weight))
        check_is_fitted(self)
        client = find_client(self.client)
        partitions = partitions_of(X, y, sample_weight)
        with thread_given_back():
            return score_on_cluster(client, partitions, self.to_local(), self._score_kind)


def _one_by_one(
    first: int, forest: _native.Forest, steps: npt.NDArray[np.float64]
) -> dict[int, Trees]:
    """Trees by their numbers."""
    return {first + i: (forest.tree(i), steps[i : i + 1]) for i in range(forest.n_trees)}
