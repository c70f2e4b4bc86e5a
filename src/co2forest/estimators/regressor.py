# SPDX-License-Identifier: BSD-3-Clause
"""The regressors: a forest of CO2 trees for one or several numbers, and a single one."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import of_one_fit
from co2forest.estimators.forest import Forest
from co2forest.estimators.regression import Regressor
from co2forest.estimators.tree import Tree
from co2forest.fitting.parameters import (
    CO2_REGRESSION_CONSTRAINTS,
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    MIXTURE_CONSTRAINTS,
    SCALE_CONSTRAINTS,
    Constraints,
)
from co2forest.fitting.plan import NativeParams
from co2forest.fitting.solvers import DEFAULT_SOLVER, regression_params


class CO2ForestRegressor(Regressor, Forest):
    """Random forest for one or several numbers whose splits are hyperplanes.

    Each inner node sends a row ``x`` to the right if ``w @ x >= c``. Use it like
    :class:`sklearn.ensemble.RandomForestRegressor`; parameters with the same name mean the same.
    Nothing depends on the unit of y, and predictions follow every ``a * y + b`` with ``a > 0``
    (with ``loss="poisson"`` every ``a * y``). Several outputs count equally, whatever their units.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    mixture : {"auto", None}, default="auto"
        "auto" lets a trial on some of the rows choose which kinds of trees the forest has, as in
        :class:`CO2ForestClassifier`; only with the squared loss. None grows hyperplanes alone.
    loss : {"squared", "huber", "quantile", "poisson"}, default="squared"
        What splits and leaves minimise. "squared": leaves are means. "huber" is linear for
        targets far from the leaf, so that outliers pull less. "quantile": leaves are quantiles of
        level ``alpha``. "poisson", half of the deviance, is for counts and rates: splits tell small
        means apart, leaves are means.
    alpha : float, default=0.5
        With ``loss="quantile"``: the level, between 0 and 1; 0.5 is the median.
    delta : float, default=1.35
        With ``loss="huber"``: the distance from the leaf beyond which the loss is linear, in robust
        standard deviations of y (1.4826 times the median absolute deviation from the median; the
        standard deviation if that is zero).
    solver : {"auto", "ridge", "warm", "cccp", "select"}, default="auto"
        How a node finds its hyperplane. "cccp" is the paper's algorithm in every node, from the
        best axis-aligned split of ``max_features`` random features. "ridge": the better one of
        that start and a ridge regression on a random subset of the features. "warm" begins with
        "ridge" and then minimises the paper's bound in nodes that are not small. "auto" is "warm".
        "select" fits a few trees with each of these solvers, and with other fractions of the
        features in the ridge regression, on four fifths of at most 8000 rows. It takes the one with
        the smallest loss on the others, which may be "cccp", which is slow.
    max_features : {"auto", "sqrt", "log2", None}, int or float, default="auto"
        Random features of the axis-aligned split; "auto" is ``n_features ** 0.8``, a float is a
        fraction of all features, and None means all of them.
    keep_targets : bool, default=False
        Whether to keep the training targets and the leaf of each training row in each tree, which
        `predict_quantiles` needs: two or four bytes per row and tree, also in files.
    nu, learning_rate, batch_size, momentum, cccp_period, max_iter, tol : optional
        The paper's algorithm, as in :class:`CO2ForestClassifier`.
    refine : int, default=0
        Passes that improve a grown tree as a whole, as in :class:`CO2ForestClassifier`.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`CO2ForestClassifier`.
    min_samples_leaf : "auto", int or float, default="auto"
        Fewest rows (or fraction of all rows) on each side of a split. "auto" is 1. With
        ``loss="quantile"`` it is so many that two are beyond the quantile: 4 for the median, 20
        for ``alpha=0.9``.
    max_depth, min_samples_split, min_weight_fraction_leaf : optional
        Limits of growth, as in :class:`CO2ForestClassifier`.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the mean loss, weighted by the node's fraction of all rows, in units of
        y (of its square for the squared loss and Huber's), averaged over outputs.
    max_leaf_nodes : int, default=None
        Grow at most this many leaves, the most useful splits first.
    bootstrap : bool, default=False
        Whether each tree draws its rows with replacement.
    max_samples, oob_score, warm_start : optional
        As in :class:`CO2ForestClassifier`; the score is R2, and a callable gets y and predictions.
    n_jobs, categorical_features, random_state, verbose : optional
        As in :class:`CO2ForestClassifier`.

    Attributes
    ----------
    n_outputs_ : int
        Number of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    estimators_ : list of CO2TreeRegressor
        The trees, made anew on each access.
    estimators_samples_ : list of ndarray
        For each tree, the rows that it drew, with repeats.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of the loss due to each feature.
    oob_score_ : float
        Score on the rows left out. There is none if every tree got every row.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Predictions from the trees that did not draw a row; zeros for rows that every tree drew.
        Only with ``oob_score=True`` or a callable.
    n_iter_ : ndarray of shape (n_estimators,)
        For each tree, the mean number of steps that a node took.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    solver_ : str
        The solver that was used; what "select" has chosen: "warm", "warm_all" (its
        regressions use all features), "warm_few" (they use few, or are left out), "ridge" or
        "cccp".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest import CO2ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = CO2ForestRegressor(50, random_state=0).fit(X[:300], y[:300])
    >>> bool(forest.score(X[300:], y[300:]) > 0.4)
    True
    """

    _chooses_solver = True
    _parameter_constraints: ClassVar[Constraints] = (
        SCALE_CONSTRAINTS
        | GROWTH_CONSTRAINTS
        | FOREST_CONSTRAINTS
        | MIXTURE_CONSTRAINTS
        | CO2_REGRESSION_CONSTRAINTS
        | LOSS_CONSTRAINTS
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        mixture: str | None = "auto",
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
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool | str | Callable[[Any, Any], float] = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.mixture = mixture
        self.loss = loss
        self.alpha = alpha
        self.delta = delta
        self.solver = solver
        self.max_features = max_features
        self.keep_targets = keep_targets
        self.nu = nu
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.batch_size = batch_size
        self.momentum = momentum
        self.cccp_period = cccp_period
        self.max_iter = max_iter
        self.tol = tol
        self.refine = refine
        self.scale = scale
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:
        return regression_params(self, n_features, solver or DEFAULT_SOLVER)

    @property
    @of_one_fit
    def estimators_(self) -> list["CO2TreeRegressor"]:
        """The trees as estimators of their own."""
        check_is_fitted(self, "_forest")
        shared = {name: getattr(self, name) for name in CO2TreeRegressor().get_params()}
        return [
            CO2TreeRegressor(**shared)._take_tree(self, i)  # noqa: SLF001
            for i in range(self._forest.n_trees)
        ]


class CO2TreeRegressor(Regressor, Tree):
    """One tree for one or several numbers whose splits are hyperplanes.

    It is the building block of :class:`CO2ForestRegressor`, where the parameters are explained. On
    its own it looks at all features for its axis-aligned splits, and is less accurate than even a
    small forest.

    Attributes
    ----------
    n_outputs_ : int
        Number of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of the loss due to each feature.
    n_iter_ : ndarray of shape (1,)
        Mean number of steps that a node took.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    solver_ : str
        The solver that was used; what "select" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest import CO2TreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(CO2TreeRegressor(max_depth=3, random_state=0).fit(X, y).score(X, y) > 0.4)
    True
    """

    _chooses_solver = True
    _parameter_constraints: ClassVar[Constraints] = (
        SCALE_CONSTRAINTS | GROWTH_CONSTRAINTS | CO2_REGRESSION_CONSTRAINTS | LOSS_CONSTRAINTS
    )

    def __init__(
        self,
        *,
        loss: str = "squared",
        alpha: float = 0.5,
        delta: float = 1.35,
        solver: str = "auto",
        max_features: float | str | None = None,
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
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.delta = delta
        self.solver = solver
        self.max_features = max_features
        self.keep_targets = keep_targets
        self.nu = nu
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.batch_size = batch_size
        self.momentum = momentum
        self.cccp_period = cccp_period
        self.max_iter = max_iter
        self.tol = tol
        self.refine = refine
        self.scale = scale
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:
        return regression_params(self, n_features, solver or DEFAULT_SOLVER)
