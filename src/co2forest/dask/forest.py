# SPDX-License-Identifier: BSD-3-Clause
"""A forest of this library, grown where its data are: on the workers of a Dask cluster."""

# ruff: noqa: SLF001 (the forest inside belongs to this library)

import copy
import secrets
from collections.abc import Callable
from functools import wraps
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import at_once, of_one_fit
from co2forest._sklearn_compat import Interval, StrOptions, fit_context
from co2forest.dask._cluster import find_client, thread_given_back
from co2forest.dask._collections import check_features, is_dask, partitions_of, rows_collection
from co2forest.dask._fit import Job, check_parameters
from co2forest.dask._predict import predict_lazily, score_on_cluster, score_out_of_bag
from co2forest.dask._survey import Data, survey_data
from co2forest.data.rows import check_same_names
from co2forest.estimators.classifier import CO2ForestClassifier
from co2forest.estimators.forest import Forest, warn_nothing_to_grow
from co2forest.estimators.regressor import CO2ForestRegressor
from co2forest.files.seals import sealed, unsealed
from co2forest.fitting.decide import insists_on_score
from co2forest.fitting.parameters import Constraints

__all__ = ["DaskCO2ForestClassifier", "DaskCO2ForestRegressor", "DaskForest"]


def _has_probabilities(forest: "DaskForest") -> bool:
    return hasattr(forest.estimator, "predict_proba")


class DaskForest(MetaEstimatorMixin, BaseEstimator):
    """Any forest of this library on data that are on the workers of a Dask cluster.

    Each tree draws its rows from all partitions, wherever these are and however they are sorted,
    and is grown on one worker. The same seed and partitions give the same forest for any number of
    workers, and after the loss of any of them.

    Parameters
    ----------
    estimator : forest of co2forest or co2forest.baselines
        The forest to grow, with all its parameters; it is not changed. Fractions of all rows, such
        as ``min_samples_leaf``, refer to the rows that a tree draws. A tree's ``max_samples`` rows
        must fit on a worker; if not, the message names a number that does. ``n_jobs`` is the number
        of threads for predictions in this process. ``verbose=1`` shows trees, workers and the time
        left. ``oob_score`` cannot be a function, and ``keep_targets`` must be False.
    trees_per_task : "auto" or int, default="auto"
        Trees that are grown in one task. "auto" looks at workers, partitions and memory. It changes
        only the time.
    client : distributed.Client, default=None
        None means the current one.
    checkpoint : str or path-like, default=None
        A folder for finished trees. If it has trees of the same fit, that is, of the same data,
        partitions and parameters, only the missing ones are grown. ``n_estimators`` may change.

    Attributes
    ----------
    estimator_ : forest
        The fitted forest, which needs no Dask. All its attributes are attributes of this object,
        too: ``classes_``, ``n_features_in_``, ``feature_importances_`` and so on.
    oob_score_ : float
        Accuracy or R squared, where each row is predicted by the trees that did not draw it; only
        with the estimator's ``oob_score=True``, because it takes another pass over the data.

    Notes
    -----
    A row of weight zero is never drawn. Missing values stand for the mean of all partitions. The
    unit in which the core sees numbers comes from a sample of 20 000 rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client, LocalCluster
    >>> from co2forest import CO2ForestClassifier
    >>> from co2forest.dask import DaskForest
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
    ...     with Client(cluster):
    ...         X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...         y = (X[:, 0] + X[:, 1] > 0).astype(int)
    ...         forest = CO2ForestClassifier(5, bootstrap=True, random_state=0)
    ...         bool(DaskForest(forest).fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": [Forest],
        "trees_per_task": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "client": "no_validation",  # find_client says what is wrong with it
        "checkpoint": [str, PathLike, None],
    }
    estimator_: Any
    _partition_sizes: list[int]  # rows with a weight
    _model_key: str  # of the fitted forest on clusters

    def __init__(
        self,
        estimator: Any,
        *,
        trees_per_task: int | str = "auto",
        client: Client | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.trees_per_task = trees_per_task
        self.client = client
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __sklearn_clone__(self) -> Self:
        # A client is a connection: it cannot be copied, and a clone shares it.
        cloned: Self = super(DaskForest, copy.copy(self)).__sklearn_clone__()
        cloned.client = self.client
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        # A client is a connection of this process.
        return sealed(self, {**super().__getstate__(), "client": None})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unsealed(self, state))

    def __getattr__(self, name: str) -> Any:
        """Everything else that the fitted forest has; its methods take rows in memory."""
        if name.startswith("_") or "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self.estimator_, name)
        return _in_memory(found) if callable(found) else found

    @fit_context
    @at_once
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest on a Dask cluster.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : dask.array or dask.dataframe of shape (n_samples, n_features)
            Numbers; blocks may be sparse. NaN stands for the feature's mean. Data that fit on
            the workers are kept there until the end; others are read again for each wave of trees.
        y : dask.array, or columns of a dask.dataframe
            The targets that the estimator takes, (n_samples,) or (n_samples, n_outputs).
        sample_weight : dask.array or column of a dask.dataframe of shape (n_samples,), default=None

        Returns
        -------
        DaskForest
            The fitted forest itself.
        """
        check_parameters(self.estimator)
        client = find_client(self.client)
        with thread_given_back():
            data = survey_data(client, partitions_of(X, y, sample_weight), self.estimator)
            local = self._start(data)
            if hasattr(local, "_forest") and local._forest.n_trees == local.n_estimators:
                warn_nothing_to_grow()
                return self
            job = Job.prepare(local, client, data, self.trees_per_task, self.checkpoint)
            outputs, plan = job.decide()
            grown = job.grow(outputs, plan)
            local._keep(outputs, job.data, plan, grown)
            score = score_out_of_bag(client, job.data, local) if insists_on_score(local) else None
        self.estimator_, self._partition_sizes = local, data.sizes.tolist()
        self._model_key = f"co2forest-model-{secrets.token_hex(8)}"
        self.__dict__.pop("oob_score_", None)  # from an earlier fit
        if score is not None:
            self.oob_score_ = score
        return self

    def _start(self, data: Data) -> Any:
        """The forest to fit: a new one, or a copy of the one that a warm start adds trees to."""
        goes_on = self.estimator.warm_start and hasattr(self, "estimator_")
        local = copy.copy(self.estimator_) if goes_on else clone(self.estimator)
        local.set_params(**self.estimator.get_params(deep=False))
        earlier_names = vars(local).pop("feature_names_in_", None)
        local.n_features_in_ = data.n_features
        if data.partitions.feature_names is not None:
            local.feature_names_in_ = data.partitions.feature_names
        if goes_on:
            if earlier_names is not None:
                check_same_names(earlier_names, data.partitions.feature_names)
            local._check_same_problem(data.targets.outline, data.n_features)
            if insists_on_score(local) and data.sizes.tolist() != self._partition_sizes:
                raise ValueError(
                    "oob_score with warm_start=True needs the partitions of the first fit, but "
                    "their numbers of rows have changed"
                )
        return local

    def to_local(self) -> Any:
        """The fitted forest, which needs no Dask.

        It predicts, is saved, exported and inspected like any other.
        """
        check_is_fitted(self)
        return self.estimator_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted forest into one file.

        Parameters
        ----------
        path : str or path-like
            For `co2forest.load_model`, which needs no Dask.
        """
        self.to_local().save(path)

    def _lazily(
        self, X: Any, method: str, like: npt.NDArray[Any], columns: list[str] | None = None
    ) -> Any:
        """`predict_lazily` with the fitted forest, if it takes the features of X."""
        X = rows_collection(X)
        check_features(X, self.n_features_in_, getattr(self, "feature_names_in_", None))
        if columns is None and like.ndim == 2:
            columns = [str(column) for column in range(like.shape[1])]
        return predict_lazily(
            X, self.estimator_, self._model_key, self.client, method, like, columns
        )

    def _one_row(self) -> npt.NDArray[np.float64]:
        """Raw outputs of one row, for its types and shapes."""
        return np.zeros((1, self.to_local()._outputs.n_outputs))

    @of_one_fit
    def predict(self, X: Any) -> Any:
        """Predict as the estimator does.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array or dask.dataframe.Series of shape (n_samples,), lazy; or ndarray
            For several labels or outputs, a column for each.
        """
        local = self.to_local()
        if not is_dask(X):
            return local.predict(X)
        return self._lazily(X, "predict", local._outputs.decide(self._one_row()))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Mean over the trees of the class distribution in the leaf that a row reaches.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array or dask.dataframe of shape (n_samples, n_classes), lazy; or ndarray
            Columns in the order of ``classes_``. For several labels a list with one for each.
        """
        return self._proba(X, "predict_proba")

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`; minus infinity where that is zero.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array or dask.dataframe of shape (n_samples, n_classes), lazy; or ndarray
        """
        return self._proba(X, "predict_log_proba")

    @of_one_fit
    def _proba(self, X: Any, method: str) -> Any:
        local = self.to_local()
        if not is_dask(X):
            return getattr(local, method)(X)
        if local._outputs.task != "labels":
            return self._lazily(X, method, self._one_row(), [str(name) for name in local.classes_])
        present = self._lazily(X, "_raw", self._one_row())
        present = present if isinstance(present, da.Array) else present.to_dask_array()
        pairs = [da.stack([1.0 - p, p], axis=1, allow_unknown_chunksizes=True) for p in present.T]
        return pairs if method == "predict_proba" else [da.log(pair) for pair in pairs]

    @of_one_fit
    def apply(self, X: Any) -> Any:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array, dask.dataframe or ndarray of shape (n_samples, n_estimators)
        """
        local = self.to_local()
        if not is_dask(X):
            return local.apply(X)
        return self._lazily(X, "apply", np.zeros((1, local._forest.n_trees), dtype=np.int64))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the predictions: accuracy for classes, R squared for numbers.

        Parameters
        ----------
        X, y, sample_weight : Dask collections, or all in memory
            Partitions are scored where they are.

        Returns
        -------
        float
        """
        local = self.to_local()
        if not is_dask(X):
            return float(local.score(X, y, sample_weight))
        client = find_client(self.client)
        partitions = partitions_of(X, y, sample_weight)
        with thread_given_back():
            return score_on_cluster(client, partitions, local)


def _in_memory(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that refuses collections, all of which would be computed into this process."""

    @wraps(method)
    def checked(*args: Any, **options: Any) -> Any:
        if any(map(is_dask, (*args, *options.values()))):
            raise TypeError(
                f"{method.__name__} takes no Dask collection; predict, predict_proba, apply and "
                "score do"
            )
        return method(*args, **options)

    return checked


def DaskCO2ForestClassifier(  # noqa: N802 (the name of a class, which it builds)
    n_estimators: int = 100, *, bootstrap: bool = True, **parameters: Any
) -> DaskForest:
    """Build a `DaskForest` around a :class:`co2forest.CO2ForestClassifier`.

    ``parameters`` are those of both. Unlike in the inner forest, ``bootstrap`` is True by default:
    a tree then has at most 63 % of all rows.
    """
    parameters |= {"n_estimators": n_estimators, "bootstrap": bootstrap}
    return _around(CO2ForestClassifier, parameters)


def DaskCO2ForestRegressor(  # noqa: N802
    n_estimators: int = 100, *, bootstrap: bool = True, **parameters: Any
) -> DaskForest:
    """Build a `DaskForest` around a :class:`co2forest.CO2ForestRegressor`.

    ``parameters`` are as in `DaskCO2ForestClassifier`.
    """
    parameters |= {"n_estimators": n_estimators, "bootstrap": bootstrap}
    return _around(CO2ForestRegressor, parameters)


def _around(forest: type[Forest], parameters: dict[str, Any]) -> DaskForest:
    names = ("trees_per_task", "client", "checkpoint")
    own = {name: parameters.pop(name) for name in names if name in parameters}
    return DaskForest(forest(**parameters), **own)
