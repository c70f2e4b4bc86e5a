"""The forests on Dask: a classifier and a regressor."""

from os import PathLike
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from co2forest._costs import checked_costs
from co2forest._parameters import Constraints
from co2forest._sklearn_compat import fit_context
from co2forest.classifier import CO2ForestClassifier
from co2forest.dask._collections import is_dask
from co2forest.dask._forest import DASK_CONSTRAINTS, DaskForest
from co2forest.dask._scores import Hits, Residuals
from co2forest.dask._targets import (
    Numbers,
    Targets,
    all_classes,
    all_numbers,
    find_labels,
    find_numbers,
)
from co2forest.dask._tasks import FindTargets
from co2forest.regressor import CO2ForestRegressor

__all__ = ["DaskCO2ForestClassifier", "DaskCO2ForestRegressor"]


class DaskCO2ForestClassifier(DaskForest, CO2ForestClassifier):
    """CO2 forest for classes on data that lie on the workers of a Dask cluster.

    Each tree draws its rows from all partitions, wherever these lie and however they are sorted,
    and is grown on one worker. The same seed and partitions give the same forest for any number of
    workers, and after the loss of any of them.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : int or float, default=None
        Rows that each tree draws; a float is a part of all rows, None as many as there are. They
        have to fit a worker, and a number that does not is refused with one that does.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement; unlike that of the local forest it is so by
        default. A tree then has at most 63 % of all rows.
    trees_per_task : "auto" or int, default="auto"
        Trees that are grown in one task. "auto" looks at workers, partitions and memory. It
        matters for the time alone.
    checkpoint : str or path-like, default=None
        A folder for finished trees. If it has some of the same fit, that is, of the same data,
        partitions and parameters, only the others are grown. It may ask for more trees than before.
    client : distributed.Client, default=None
        None is the current one.
    random_state : int, RandomState instance or None, default=None
        Seed of draws and trees.
    oob_score : bool, default=False
        Whether to compute ``oob_score_``.
    n_jobs : int, default=None
        Threads of predictions in this process, and of `to_local`. On a worker there are as many as
        it has for Dask.
    verbose : int, default=0
        1 shows trees, workers and the time left on standard error.
    nu, learning_rate, max_features, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, min_impurity_decrease, max_leaf_nodes, batch_size, momentum, \
cccp_period, max_iter, tol, scale, solver, refine, class_weight, cost_matrix, warm_start : optional
        As in :class:`co2forest.CO2ForestClassifier`. What is a part of all rows there is a part of
        the rows that a tree draws.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, feature_importances_, estimators_, \
n_iter_, scale_
        As in :class:`co2forest.CO2ForestClassifier`.
    oob_score_ : float
        Accuracy on rows by the trees that did not draw them; only with ``oob_score``.

    Notes
    -----
    A row of weight zero is never drawn. Missing values stand for the mean of all partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client, LocalCluster
    >>> from co2forest.dask import DaskCO2ForestClassifier
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
    ...     with Client(cluster):
    ...         X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...         y = (X[:, 0] + X[:, 1] > 0).astype(int)
    ...         forest = DaskCO2ForestClassifier(5, random_state=0).fit(X, y)
    ...         bool(forest.score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        CO2ForestClassifier._parameter_constraints | DASK_CONSTRAINTS  # noqa: SLF001
    )
    _local_class = CO2ForestClassifier
    _score_kind = Hits

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float | None = None,
        bootstrap: bool = True,
        trees_per_task: int | str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        client: Client | None = None,
        random_state: int | np.random.RandomState | None = None,
        oob_score: bool = False,
        nu: float | str = "auto",
        learning_rate: float | str = "auto",
        max_features: float | str | None = "sqrt",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        batch_size: int = 100,
        momentum: float = 0.9,
        cccp_period: int | None = None,
        max_iter: int | None = None,
        tol: float = 1e-3,
        scale: str | None = "auto",
        solver: str = "auto",
        refine: int = 0,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            nu=nu,
            learning_rate=learning_rate,
            max_features=max_features,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            min_impurity_decrease=min_impurity_decrease,
            max_leaf_nodes=max_leaf_nodes,
            batch_size=batch_size,
            momentum=momentum,
            cccp_period=cccp_period,
            max_iter=max_iter,
            tol=tol,
            scale=scale,
            solver=solver,
            refine=refine,
            bootstrap=bootstrap,
            max_samples=max_samples,
            class_weight=class_weight,
            cost_matrix=cost_matrix,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.trees_per_task = trees_per_task
        self.checkpoint = checkpoint
        self.client = client

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest on a Dask cluster.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : dask.array or dask.dataframe of shape (n_samples, n_features)
            Numbers; blocks may be sparse. NaN stands for the feature's mean. What fits the workers
            is kept there until the end, what does not is read again for each wave of trees.
        y : dask.array or column of a dask.dataframe of shape (n_samples,) or (n_samples, n_outputs)
            Labels, as for the local forest.
        sample_weight : dask.array or column of a dask.dataframe of shape (n_samples,), default=None

        Returns
        -------
        DaskCO2ForestClassifier
            The fitted forest itself.
        """
        return self._fit_on_dask(X, y, sample_weight)

    def _find_targets(self) -> FindTargets:
        self._check_class_weight()
        return find_labels

    def _all_targets(self, found: list[Any]) -> Targets:
        targets = all_classes(found, self.class_weight)
        self._check_balance(several=isinstance(targets.classes, list))
        return targets

    def _note_targets(self, targets: Targets, meaning: Any) -> None:
        del targets
        self._set_meaning(meaning)
        self.cost_matrix_ = None
        if self.cost_matrix is not None:
            self.cost_matrix_ = checked_costs(self.cost_matrix, meaning)

    @property
    def _meaning(self) -> Any:
        return self.classes_

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array or dask.dataframe.Series of shape (n_samples,), lazy; or ndarray
            For several labels, a column for each.
        """
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self)
        if not self._several_labels:
            return self._predict_on_dask(X, "predict", self.classes_[:1])
        labels = np.zeros((1, len(self.classes_)), self.classes_[0].dtype)
        return self._predict_on_dask(X, "predict", labels, self._label_names())

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

    def _proba(self, X: Any, method: str) -> Any:
        if not is_dask(X):
            return getattr(super(), method)(X)
        check_is_fitted(self)
        like = np.zeros((1, len(self.classes_)))
        if not self._several_labels:
            return self._predict_on_dask(X, method, like, [str(label) for label in self.classes_])
        present = self._predict_on_dask(X, "_outputs", like, self._label_names())
        present = present if isinstance(present, da.Array) else present.to_dask_array()
        pairs = [da.stack([1.0 - p, p], axis=1, allow_unknown_chunksizes=True) for p in present.T]
        return pairs if method == "predict_proba" else [da.log(pair) for pair in pairs]

    def _label_names(self) -> list[str]:
        return [str(label) for label in range(len(self.classes_))]


class DaskCO2ForestRegressor(DaskForest, CO2ForestRegressor):
    """CO2 forest for numbers on data that lie on the workers of a Dask cluster.

    Each tree draws its rows from all partitions, wherever these lie and however they are sorted,
    and is grown on one worker. The same seed and partitions give the same forest for any number of
    workers, and after the loss of any of them.

    Parameters
    ----------
    n_estimators, max_samples, bootstrap, trees_per_task, checkpoint, client, random_state, \
oob_score, n_jobs, verbose : optional
        As in :class:`DaskCO2ForestClassifier`.
    keep_targets : bool, default=False
        Must be False: every training target and the leaf of each row would be in the model. For
        intervals fit with ``loss="quantile"``.
    loss, alpha, delta, solver, max_features, nu, learning_rate, max_depth, min_samples_split, \
min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, max_leaf_nodes, batch_size, \
momentum, cccp_period, max_iter, tol, refine, scale, warm_start : optional
        As in :class:`co2forest.CO2ForestRegressor`. What is a part of all rows there is a part of
        the rows that a tree draws.

    Attributes
    ----------
    n_outputs_, n_features_in_, feature_names_in_, feature_importances_, estimators_, n_iter_, \
scale_, solver_
        As in :class:`co2forest.CO2ForestRegressor`.
    oob_score_ : float
        R squared on rows by the trees that did not draw them; only with ``oob_score``.

    Notes
    -----
    The unit in which the core sees y, and that of ``delta``, come from a sample of 20 000 rows.
    """

    _parameter_constraints: ClassVar[Constraints] = (
        CO2ForestRegressor._parameter_constraints | DASK_CONSTRAINTS  # noqa: SLF001
    )
    _local_class = CO2ForestRegressor
    _score_kind = Residuals

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float | None = None,
        bootstrap: bool = True,
        trees_per_task: int | str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        client: Client | None = None,
        random_state: int | np.random.RandomState | None = None,
        oob_score: bool = False,
        loss: str = "squared",
        alpha: float = 0.5,
        delta: float = 1.35,
        solver: str = "auto",
        max_features: float | str | None = "auto",
        keep_targets: bool = False,
        nu: float | str = "auto",
        learning_rate: float | str = "auto",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float | str = "auto",
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        batch_size: int = 100,
        momentum: float = 0.9,
        cccp_period: int | None = None,
        max_iter: int | None = None,
        tol: float = 1e-3,
        refine: int = 0,
        scale: str | None = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            loss=loss,
            alpha=alpha,
            delta=delta,
            solver=solver,
            max_features=max_features,
            keep_targets=keep_targets,
            nu=nu,
            learning_rate=learning_rate,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            min_impurity_decrease=min_impurity_decrease,
            max_leaf_nodes=max_leaf_nodes,
            batch_size=batch_size,
            momentum=momentum,
            cccp_period=cccp_period,
            max_iter=max_iter,
            tol=tol,
            refine=refine,
            scale=scale,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.trees_per_task = trees_per_task
        self.checkpoint = checkpoint
        self.client = client

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest on a Dask cluster.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : dask.array or dask.dataframe of shape (n_samples, n_features)
            Numbers; blocks may be sparse. NaN stands for the feature's mean. What fits the workers
            is kept there until the end, what does not is read again for each wave of trees.
        y : dask.array or columns of a dask.dataframe
            Of shape (n_samples,) or (n_samples, n_outputs); finite numbers.
        sample_weight : dask.array or column of a dask.dataframe of shape (n_samples,), default=None

        Returns
        -------
        DaskCO2ForestRegressor
            The fitted forest itself.
        """
        if self.keep_targets:
            raise ValueError(
                "keep_targets=True is for forests of one machine, because it keeps every training "
                "row's target and leaves; on Dask it must be False"
            )
        return self._fit_on_dask(X, y, sample_weight)

    def _find_targets(self) -> FindTargets:
        return find_numbers

    def _all_targets(self, found: list[Any]) -> Targets:
        return all_numbers(found, self._native_loss())

    def _note_targets(self, targets: Targets, meaning: Any) -> None:
        assert isinstance(targets, Numbers)  # noqa: S101 (what _all_targets gave)
        self._set_meaning(meaning)
        self._one_dimensional = targets.one_dimensional
        self._note_loss()

    @property
    def _meaning(self) -> Any:
        return self._target_map

    def predict(self, X: Any) -> Any:
        """Mean over the trees of the value of the leaf that a row reaches.

        Parameters
        ----------
        X : dask.array, dask.dataframe, or rows in memory

        Returns
        -------
        dask.array or dask.dataframe.Series of shape (n_samples,), lazy; or ndarray
            For several outputs, a column for each.
        """
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self)
        if self._one_dimensional:
            return self._predict_on_dask(X, "predict", np.zeros(1))
        names = [str(output) for output in range(self.n_outputs_)]
        return self._predict_on_dask(X, "predict", np.zeros((1, self.n_outputs_)), names)
