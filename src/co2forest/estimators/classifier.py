# SPDX-License-Identifier: BSD-3-Clause
"""The classifiers: a forest of CO2 trees, and a single one."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import of_one_fit
from co2forest.estimators.classification import Classifier
from co2forest.estimators.forest import Forest
from co2forest.estimators.tree import Tree
from co2forest.fitting.parameters import (
    CLASS_SOLVERS,
    CO2_CONSTRAINTS,
    COST_CONSTRAINTS,
    FOREST_CLASS_WEIGHT,
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    MIXTURE_CONSTRAINTS,
    SCALE_CONSTRAINTS,
    TREE_CLASS_WEIGHT,
    Constraints,
    co2_params,
)
from co2forest.fitting.plan import NativeParams


class CO2ForestClassifier(Classifier, Forest):
    """Random forest of trees whose splits are continuously optimised hyperplanes.

    Each inner node sends a row ``x`` to the right if ``w @ x >= c``. The hyperplane starts as the
    best axis-aligned split among a few random features, as in a random forest, and is then moved to
    minimise a convex-concave upper bound of the log loss of the two leaves [1]_. Use it like
    :class:`sklearn.ensemble.RandomForestClassifier`; parameters with the same name mean the same.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. Ten are often better than a thousand axis-aligned ones.
    mixture : {"auto", None}, default="auto"
        "auto" lets a trial on some of the rows choose which kinds of trees the forest has: with
        hyperplanes over all or a few features, with thresholds of single features, or with
        differences of two, each with leaves of at least one row or ten (``mixture_`` tells what it
        found). Where hyperplanes are best alone, as for letters and pixels, the forest is that of
        None. Else each tree gets 90 % of the rows, unless ``bootstrap`` or ``max_samples`` say
        otherwise. None grows hyperplanes alone, as the paper does.
    calibrate : bool, default=True
        Whether `predict_proba` turns votes into honest probabilities, by what rows say that trees
        left out. `predict` does not change. With ``mixture=None`` probabilities are plain votes.
    nu : "auto" or float, default="auto"
        The paper's nu, the bound on ``||w||**2``: larger values follow the training loss more
        closely, smaller ones regularise. A number holds for features scaled by ``scale``, as in
        the paper. "auto" is 100 divided by the total variance of these features, so that it does
        not depend on their number or unit.
    learning_rate : "auto" or float, default="auto"
        The paper's eta, the initial step of the node optimiser. A number is used for both
        the hyperplane and the leaves. "auto" is 5 (8 with ``solver="cccp"``) divided by the total
        variance of the scaled features for the hyperplane, and 0.6 for the leaves.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        The paper's q, the number of random features whose best split starts a node; a float is a
        fraction of all features, and None means all of them.
    max_depth : int, default=None
        None grows until all leaves are pure.
    min_samples_split : int or float, default=2
        Fewest rows (or fraction of all rows) that a node must have to be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or fraction of all rows) on each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        Smallest fraction of the total weight on each side of a split.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the entropy, in bits and weighted by the node's fraction of all rows.
    max_leaf_nodes : int, default=None
        Grow at most this many leaves, the most useful splits first.
    batch_size : int, default=100
        Rows per step of the node optimiser.
    momentum : float, default=0.9
        Momentum of the node optimiser.
    cccp_period : int, default=None
        The paper's tau: steps between two updates of the signs in the concave part of the bound.
        None is half of all steps, and a sixth with ``solver="cccp"``.
    max_iter : int, default=None
        Most steps per node. None is three passes over its rows, but at least 30 (300 with
        ``solver="cccp"``).
    tol : float, default=1e-3
        With ``solver="cccp"``: relative decrease of the bound, from one period to the next, below
        which the rate is halved, and the optimisation ends the third time in a row.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable before ``||w||`` is bounded; X itself is never copied or
        changed. "standard" divides by the standard deviation; "soft" does too, but keeps features
        small that vary little for their range, like rare binary ones; "minmax" divides by the
        range; "global" divides all features by the same number, which suits features in one unit,
        like pixels; None leaves them as they are. "auto" is "global" if at least three
        quarters of the features have similar ranges, else the better one of "soft" and "global" in
        a trial on a subset of the rows.
    solver : {"auto", "cccp"}, default="auto"
        "cccp" is the paper's algorithm in every node. "auto" solves nodes with few rows by a ridge
        regression instead, and lets the step decay to zero: faster, and more accurate on average.
    refine : int, default=0
        Passes over each grown tree, from its leaves up, in which every hyperplane is fitted anew to
        the sides that are best for its rows given all other nodes. The training loss never rises;
        hyperplanes move away from the rows, and branches that no row needs disappear. Two passes
        make single trees and forests of about ten better, but not those of a hundred. A pass takes
        about as long as growing the tree.
    bootstrap : bool, default=False
        Whether each tree draws its rows with replacement, as the paper does. If not, the different
        starts give enough variety, and the error is lower on average.
    max_samples : int or float, default=None
        Rows drawn for each tree: a number, or a fraction of all rows. None draws as many as there
        are. Without ``bootstrap`` they are drawn without replacement.
    class_weight : dict, "balanced" or "balanced_subsample", default=None
        Weights of the classes; "balanced_subsample" balances each tree's drawn rows.
    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        ``cost_matrix[i][j]`` is what it costs to predict class ``j`` where ``i`` is true, in the
        order of the sorted classes; zero where both are the same. Splits then make the expected
        costs of the decisions certain, and `predict` takes the decision with the lowest one.
    oob_score : "auto", bool or callable, default="auto"
        Whether to estimate the score on the rows that each tree did not draw. "auto" does where
        trees leave rows out: in a mixture, with ``bootstrap``, or with ``max_samples``. True also
        keeps ``oob_decision_function_``, and makes sure that there are such rows: each tree of
        ``mixture="auto"`` then gets 80 % of the rows, and ``mixture=None`` needs ``bootstrap`` or
        ``max_samples``. A callable does the same, and is given the true and the predicted labels.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and adds the missing ones.
    n_jobs : int, default=None
        Threads for fitting and predicting: None is one, -1 all. The result does not depend on it.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are categories: names, indices or a mask. "from_dtype" takes those of
        data frames that hold words or have a categorical dtype. None takes all for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show a progress bar with the time left, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The labels, sorted; the order of columns in `predict_proba`. For a matrix of labels: a list
        with one array per column.
    n_classes_ : int or list of int
        Number of classes.
    n_outputs_ : int
        Number of columns of y.
    cost_matrix_ : ndarray of shape (n_classes, n_classes) or None
        The costs in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    estimators_ : list of CO2TreeClassifier
        The trees, made anew on each access.
    estimators_samples_ : list of ndarray
        For each tree, the rows that it drew, with repeats.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of impurity due to each feature.
    oob_score_ : float
        Score on the rows left out. There is none if every tree got every row.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes[, n_outputs])
        Probabilities from the trees that did not draw a row; zeros for rows that every tree drew.
        Only with ``oob_score=True`` or a callable.
    n_iter_ : ndarray of shape (n_estimators,)
        For each tree, the mean number of steps that a node took; a ridge regression counts as one.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    mixture_ : list of dict
        The kinds of trees that were tried: ``split``, ``min_samples_leaf``, the squared ``loss`` of
        probabilities on rows left out, and ``n_trees`` in the forest. Empty if none was tried.

    References
    ----------
    .. [1] M. Norouzi, M. D. Collins, D. J. Fleet, P. Kohli, "CO2 Forest: Improved Random Forest by
       Continuous Optimization of Oblique Splits", 2015, arXiv:1506.06155.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from co2forest import CO2ForestClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = CO2ForestClassifier(n_estimators=10, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(forest.score(X[1000:], y[1000:]) > 0.93)
    True
    """

    _several_labels = True
    _parameter_constraints: ClassVar[Constraints] = (
        CO2_CONSTRAINTS
        | SCALE_CONSTRAINTS
        | GROWTH_CONSTRAINTS
        | FOREST_CONSTRAINTS
        | MIXTURE_CONSTRAINTS
        | {"calibrate": ["boolean"]}
        | FOREST_CLASS_WEIGHT
        | COST_CONSTRAINTS
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        mixture: str | None = "auto",
        calibrate: bool = True,
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
        bootstrap: bool = False,
        max_samples: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: Any = None,
        oob_score: bool | str | Callable[[Any, Any], float] = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.mixture = mixture
        self.calibrate = calibrate
        self.nu = nu
        self.learning_rate = learning_rate
        self.max_features = max_features
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
        self.scale = scale
        self.solver = solver
        self.refine = refine
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:  # noqa: ARG002
        return co2_params(self, n_features, CLASS_SOLVERS[self.solver])

    @property
    @of_one_fit
    def estimators_(self) -> list["CO2TreeClassifier"]:
        """The trees as estimators of their own."""
        check_is_fitted(self, "classes_")
        shared = {name: getattr(self, name) for name in CO2TreeClassifier().get_params()}
        if self.class_weight == "balanced_subsample":
            shared["class_weight"] = None  # has done its work; a tree does not know it
        return [
            CO2TreeClassifier(**shared)._take_tree(self, i)  # noqa: SLF001
            for i in range(self._forest.n_trees)
        ]


class CO2TreeClassifier(Classifier, Tree):
    """One tree whose splits are continuously optimised hyperplanes.

    It is the building block of :class:`CO2ForestClassifier`, where the parameters are explained. On
    its own it looks at all features for its start and is less accurate than even a small forest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The labels, sorted; the order of columns in `predict_proba`. For a matrix of labels: a list
        with one array per column.
    n_classes_ : int or list of int
        Number of classes.
    n_outputs_ : int
        Number of columns of y.
    cost_matrix_ : ndarray of shape (n_classes, n_classes) or None
        The costs in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of impurity due to each feature.
    n_iter_ : ndarray of shape (1,)
        Mean number of steps that a node took; a ridge regression counts as one.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CO2TreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _several_labels = True
    _parameter_constraints: ClassVar[Constraints] = (
        CO2_CONSTRAINTS
        | SCALE_CONSTRAINTS
        | GROWTH_CONSTRAINTS
        | TREE_CLASS_WEIGHT
        | COST_CONSTRAINTS
    )

    def __init__(
        self,
        *,
        nu: float | str = "auto",
        learning_rate: float | str = "auto",
        max_features: float | str | None = None,
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
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.nu = nu
        self.learning_rate = learning_rate
        self.max_features = max_features
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
        self.scale = scale
        self.solver = solver
        self.refine = refine
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:  # noqa: ARG002
        return co2_params(self, n_features, CLASS_SOLVERS[self.solver])
