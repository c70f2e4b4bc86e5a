"""The classifiers: a forest of CO2 trees, and a single one."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._base import SEEDS, draw_seed, everything, unchanged_on_failure
from co2forest._classification import BaseCO2Classifier
from co2forest._parameters import TREE_CONSTRAINTS
from co2forest._rows import TrainingSet
from co2forest._sklearn_compat import Interval, RealNotInt, StrOptions, fit_context
from co2forest._stored import Fields, check_integer, shown
from co2forest.exceptions import ModelFormatError


class CO2ForestClassifier(BaseCO2Classifier):
    """Random forest of trees whose splits are continuously optimised hyperplanes.

    Each inner node sends a row ``x`` to the right if ``w @ x >= c``. The hyperplane starts as the
    best axis-aligned split among a few random features, as in a random forest, and is then moved to
    minimise a convex-concave upper bound of the log loss of the two leaves [1]_. Used like
    :class:`sklearn.ensemble.RandomForestClassifier`; parameters with the same name mean the same.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. Ten are often better than a thousand axis-aligned ones.
    nu : "auto" or float, default="auto"
        The paper's nu, the bound of ``||w||**2``: larger values follow the training loss more
        closely, smaller ones regularise. A number holds for features scaled by ``scale``, as in
        the paper. "auto" is 100 divided by the total variance of these features, so that it does
        not depend on their number or unit.
    learning_rate : "auto" or float, default="auto"
        The paper's eta, the initial step of the node optimiser. A number is used for the hyperplane
        and the leaves alike. "auto" is 5 (8 with ``solver="cccp"``) divided by the total variance
        of the scaled features for the hyperplane, and 0.6 for the leaves.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        The paper's q, the number of random features whose best split starts a node; a float is a
        part of all features, None all of them.
    max_depth : int, default=None
        None grows until all leaves are pure.
    min_samples_split : int or float, default=2
        Fewest rows (or part of all rows) that a node must have to be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or part of all rows) on each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        Least part of the weight of all rows on each side of a split.
    min_impurity_decrease : float, default=0.0
        Least decrease of the entropy, in bits and weighted by the node's part of all rows.
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
        quarters of the features have ranges that are alike, else the better one of "soft" and
        "global" in a trial on a part of the rows.
    solver : {"auto", "cccp"}, default="auto"
        "cccp" is the paper's algorithm in every node. "auto" solves nodes with few rows by a ridge
        regression instead, and lets the step decay to zero: faster, and more accurate on average.
    bootstrap : bool, default=False
        Whether each tree draws its rows with replacement, as the paper does. Without, the different
        starts give enough variety, and the error is lower on average.
    max_samples : int or float, default=None
        Rows drawn for each tree: their number or a part of all rows. None draws as many as there
        are. Without ``bootstrap`` they are drawn without replacement.
    class_weight : dict, "balanced" or "balanced_subsample", default=None
        Weights of the classes; "balanced_subsample" balances each tree's drawn rows.
    oob_score : bool or callable, default=False
        Whether to estimate the score on the rows that each tree did not draw. Needs ``bootstrap``
        or ``max_samples``. A callable is given the true and the predicted labels.
    warm_start : bool, default=False
        Whether `fit` keeps the trees there are and adds the missing ones.
    n_jobs : int, default=None
        Threads for fitting and predicting; None is one, -1 all. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show a progress bar with the time left, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; the order of columns in `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    estimators_ : list of CO2TreeClassifier
        The trees, made anew on each access.
    estimators_samples_ : list of ndarray
        For each tree the rows that it drew, with repeats.
    feature_importances_ : ndarray of shape (n_features,)
        Part of the decrease of impurity due to each feature.
    oob_score_ : float
        Score on the rows left out; only with ``oob_score``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities from the trees that did not draw a row; zeros for rows that every tree drew.
    n_iter_ : ndarray of shape (n_estimators,)
        For each tree the mean number of steps that a node took; a ridge regression counts as one.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "bootstrap": ["boolean"],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "class_weight": [StrOptions({"balanced", "balanced_subsample"}), dict, None],
        "oob_score": ["boolean", callable],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
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
        bootstrap: bool = False,
        max_samples: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        An interrupted or failed fit leaves a fitted forest as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,)
            Labels: strings, whole numbers, booleans or dates.
        sample_weight : array-like of shape (n_samples,), default=None
            Without ``bootstrap``, an integer weight is the same as as many repeats of the row.

        Returns
        -------
        CO2ForestClassifier
            The fitted forest itself.
        """
        with unchanged_on_failure(self):
            names = getattr(self, "feature_names_in_", None) if self.warm_start else None
            data, classes = self._validate_training(X, y, sample_weight)
            self._check_same_names(names)
            sampling = self._sampling(data.rows.count)
            earlier = self._earlier_trees(data, classes) if self.warm_start else None
            n_new = self.n_estimators - (0 if earlier is None else earlier.n_trees)
            if n_new == 0:
                warnings.warn(
                    "warm_start=True and n_estimators has not grown, so fit added no trees",
                    stacklevel=2,
                )
                return self
            if earlier is None:
                self._seed = draw_seed(self.random_state)
            self._train(data, sampling, self._seed, n_new, earlier)
            self._drawn_from = data.rows.count
            self._sampling_used = (sampling.bootstrap, sampling.n_draws)
            self._set_classes(classes)
            for name in ("oob_score_", "oob_decision_function_"):  # of an earlier fit
                if hasattr(self, name):
                    delattr(self, name)
            if self.oob_score:
                self._score_out_of_bag(data, sampling)
        return self

    def _sampling(self, n_rows: int) -> _native.SamplingParams:
        sampling = _native.SamplingParams()
        sampling.bootstrap = bool(self.bootstrap)
        sampling.balance = self.class_weight == "balanced_subsample"
        if self.max_samples is None:
            sampling.n_draws = n_rows
        elif isinstance(self.max_samples, Integral):
            if self.max_samples > n_rows:
                raise ValueError(
                    f"max_samples={self.max_samples} is more than the {n_rows} rows of X; "
                    "it must be at most their number"
                )
            sampling.n_draws = int(self.max_samples)
        else:
            sampling.n_draws = max(1, round(n_rows * self.max_samples))
        if self.oob_score and not self.bootstrap and sampling.n_draws == n_rows:
            raise ValueError(
                "oob_score needs rows that a tree does not draw: set bootstrap=True, or "
                f"max_samples below the number of rows (max_samples={self.max_samples})"
            )
        return sampling

    def _earlier_trees(self, data: TrainingSet, classes: npt.NDArray[Any]) -> _native.Forest | None:
        """The trees that a warm start keeps."""
        if not hasattr(self, "_forest"):
            return None
        if self._forest.n_trees > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {self._forest.n_trees} "
                "trees there are, because warm_start=True"
            )
        same_classes = np.array_equal(self.classes_, classes)
        if self._forest.n_features != data.rows.features or not same_classes:
            raise ValueError(
                "warm_start=True, but X has another number of features or y other classes than in "
                f"the first fit: {data.rows.features} features and classes {classes}, "
                f"not {self._forest.n_features} features and classes {self.classes_}"
            )
        if self.oob_score and data.rows.count != self._drawn_from:
            raise ValueError(
                f"oob_score with warm_start=True needs the rows of the first fit: X has "
                f"{data.rows.count}, but the trees there are were drawn from {self._drawn_from}"
            )
        return self._forest

    def _check_same_names(self, names: npt.NDArray[Any] | None) -> None:
        """Trees that a warm start keeps must go on to see the same features."""
        new = getattr(self, "feature_names_in_", None)
        if names is not None and new is not None and not np.array_equal(names, new):
            raise ValueError(
                "warm_start=True, but the features have other names or another order than in the "
                f"first fit: {list(new)}, not {list(names)}"
            )

    def _score_out_of_bag(self, data: TrainingSet, sampling: _native.SamplingParams) -> None:
        proba, used = _native.out_of_bag(
            self._forest, data.rows, sampling, self._seed, self._n_threads()
        )
        left_out = used > 0
        if not left_out.all():
            warnings.warn(
                f"{np.count_nonzero(~left_out)} of {len(left_out)} rows were drawn by every tree "
                "and have no out-of-bag estimate; more trees would help",
                stacklevel=3,
            )
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_decision_function_ = proba
        self.oob_score_ = float("nan")
        if left_out.any():
            truth = self.classes_[data.labels[left_out]]
            self.oob_score_ = score(truth, self.classes_[proba[left_out].argmax(axis=1)])

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        bootstrap, n_draws = self._sampling_used
        fields |= {
            "seed": self._seed,
            "n_rows": self._drawn_from,
            "bootstrap": bootstrap,
            "n_draws": n_draws,
        }
        if hasattr(self, "oob_score_"):
            score = self.oob_score_
            finite = isinstance(score, Real) and np.isfinite(score)
            if not finite and not (isinstance(score, Real) and np.isnan(score)):
                warnings.warn(
                    f"oob_score_={score!r} is no finite number and is stored as NaN", stacklevel=4
                )
            fields["oob_score"] = float(score) if finite else None
            arrays["oob_decision_function"] = self.oob_decision_function_
        return fields, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._seed = fields.value("seed")
        self._drawn_from = fields.value("n_rows")
        self._sampling_used = (fields.value("bootstrap"), fields.value("n_draws"))
        if "oob_score" in fields:
            self.oob_score_ = fields.number("oob_score")
            shape = (self._drawn_from, self.n_classes_)
            self.oob_decision_function_ = fields.array("oob_decision_function", shape)

    def _check_consistency(self) -> None:
        super()._check_consistency()
        bootstrap, n_draws = self._sampling_used
        if type(bootstrap) is not bool:
            raise ModelFormatError(f"bootstrap must be true or false, got {shown(bootstrap)}")
        check_integer("seed", self._seed, 0, SEEDS - 1)
        check_integer("n_rows", self._drawn_from, 1, 2**31 - 1)
        check_integer("n_draws", n_draws, 1, self._drawn_from)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        return self._leaves(X)

    def decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        indicator : csr_array of shape (n_samples, n_nodes)
            1 where the row passes the node; the trees' nodes side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` are those of tree ``i``.
        """
        return self._decision_path(X)

    @property
    def estimators_(self) -> list["CO2TreeClassifier"]:
        """The trees as estimators of their own."""
        check_is_fitted(self, "classes_")
        shared = {name: getattr(self, name) for name in CO2TreeClassifier().get_params()}
        if self.class_weight == "balanced_subsample":
            shared["class_weight"] = None  # has done its work; a tree does not know it
        return [self._tree(i, shared) for i in range(self._forest.n_trees)]

    def _tree(self, i: int, params: dict[str, Any]) -> "CO2TreeClassifier":
        tree = CO2TreeClassifier(**params)
        for name in ("classes_", "n_classes_", "n_features_in_", "feature_names_in_", "scale_"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree._forest = self._forest.tree(i)  # noqa: SLF001
        tree.n_iter_ = self.n_iter_[i : i + 1]
        return tree

    @property
    def estimators_samples_(self) -> list[npt.NDArray[np.intp]]:
        """Rows that each tree drew, derived again from the seed."""
        check_is_fitted(self, "classes_")
        sampling = _native.SamplingParams()
        sampling.bootstrap, sampling.n_draws = self._sampling_used
        rows = np.arange(self._drawn_from)
        return [
            np.repeat(rows, _native.draw_counts(self._drawn_from, sampling, self._seed, tree))
            for tree in range(self._forest.n_trees)
        ]


class CO2TreeClassifier(BaseCO2Classifier):
    """One tree whose splits are continuously optimised hyperplanes.

    The building block of :class:`CO2ForestClassifier`, where the parameters are explained. On its
    own it looks at all features for its start and is less accurate than even a small forest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; the order of columns in `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Part of the decrease of impurity due to each feature.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

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
        class_weight: dict[Any, float] | str | None = None,
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
        self.class_weight = class_weight
        self.random_state = random_state

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,)
            Labels: strings, whole numbers, booleans or dates.
        sample_weight : array-like of shape (n_samples,), default=None
            An integer weight is the same as as many repeats of the row.

        Returns
        -------
        CO2TreeClassifier
            The fitted tree itself.
        """
        with unchanged_on_failure(self):
            data, classes = self._validate_training(X, y, sample_weight)
            self._train(data, everything(data), draw_seed(self.random_state), n_trees=1)
            self._set_classes(classes)
        return self

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._leaves(X)[:, 0]

    def decision_path(self, X: Any) -> sp.csr_array:
        """Nodes that each row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        csr_array of shape (n_samples, n_nodes)
            1 where the row passes the node.
        """
        return self._decision_path(X)[0]

    def _check_consistency(self) -> None:
        super()._check_consistency()
        if self._forest.n_trees != 1:
            raise ModelFormatError(f"one tree is needed, got {self._forest.n_trees}")

    def get_depth(self) -> int:
        """Length of the longest path from the root to a leaf."""
        check_is_fitted(self)
        left = self._forest.arrays()["left"]
        depth, level = 0, np.array([0])
        while len(children := left[level[left[level] >= 0]]):
            depth, level = depth + 1, np.concatenate([children, children + 1])
        return depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(np.count_nonzero(self._forest.arrays()["left"] < 0))
