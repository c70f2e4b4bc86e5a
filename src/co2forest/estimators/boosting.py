"""Gradient boosting with trees that split obliquely."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest._boosting import BOOSTING_CONSTRAINTS, BaseBoosting
from co2forest._classification import BaseCO2Classifier
from co2forest._loss_choice import LOSS_CONSTRAINTS, ChoosesLoss
from co2forest._parameters import TREE_CLASS_WEIGHT, Constraints, resolve_max_features
from co2forest._rows import TrainingSet, native_rows
from co2forest._sklearn_compat import fit_context
from co2forest._stored import Fields
from co2forest.exceptions import ModelFormatError


class CO2BoostingRegressor(ChoosesLoss, BaseBoosting):
    """Gradient boosting for one or several numbers, with trees that split obliquely.

    Every round grows one tree on what the rounds before have left of the targets, whatever the
    number of outputs. Its splits are the better ones of a ridge regression's direction and a
    threshold of one feature; its leaves hold Newton steps of the loss.

    Parameters
    ----------
    loss : {"squared", "huber", "quantile", "poisson"}, default="squared"
        What is minimised. Several outputs count alike, whatever their units.
    alpha : float, default=0.5
        With ``loss="quantile"``: which quantile.
    delta : float, default=1.35
        With ``loss="huber"``: the distance from which on the loss is linear, in robust standard
        deviations of y.
    learning_rate : float, default=0.1
        What every leaf is multiplied with (shrinkage). It is not the step of a node's optimiser,
        which has this name in :class:`CO2ForestClassifier`.
    n_estimators : int, default=500
        Most rounds.
    max_leaf_nodes : int or None, default=63
        Most leaves of a tree, the most useful splits first.
    max_depth : int or None, default=None
        Most splits on the way to a leaf.
    min_samples_leaf : int or float, default=5
        Fewest rows (or part of all rows) on each side of a split.
    subsample : float, default=1.0
        Part of the rows that a tree is grown on. Its leaves take their values from all rows.
    max_features : {"sqrt", "log2", None}, int or float, default=None
        Features whose best threshold competes with the oblique direction of a node.
    l2_regularization : float, default=3.0
        Weight of additional rows without an error in every leaf: larger values give smaller steps.
    early_stopping : bool or "auto", default="auto"
        Whether rows are held out, and boosting ends when their loss does not fall any more. "auto"
        is True from 1000 rows on.
    validation_fraction : float, default=0.1
        Part of the rows held out.
    n_iter_no_change : int, default=50
        Rounds without a lower validation loss after which boosting ends.
    tol : float, default=1e-7
        What counts as lower.
    warm_start : bool, default=False
        Whether `fit` keeps the trees there are and goes on up to ``n_estimators``.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`CO2ForestClassifier`.
    n_jobs : int, default=None
        Threads for predicting; None is one, -1 all. Fitting takes one.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show a progress bar with the time left, on standard error.

    Attributes
    ----------
    n_estimators_ : int
        Rounds kept: trees after the best validation round are dropped.
    train_score_ : ndarray of shape (``n_estimators_``,)
        Mean loss of the training rows after each round, for targets of median zero and standard
        deviation one (with ``loss="poisson"``: of mean one).
    validation_score_ : ndarray of shape (``n_estimators_``,)
        The same of the rows held out; empty if there are none, and shorter if a warm start has
        turned early stopping on or off.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Part of the decrease of impurity due to each feature.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest import CO2BoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(CO2BoostingRegressor(n_estimators=30, random_state=0).fit(X, y).score(X, y) > 0.6)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = BOOSTING_CONSTRAINTS | LOSS_CONSTRAINTS

    def __init__(
        self,
        *,
        loss: str = "squared",
        alpha: float = 0.5,
        delta: float = 1.35,
        learning_rate: float = 0.1,
        n_estimators: int = 500,
        max_leaf_nodes: int | None = 63,
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        subsample: float = 1.0,
        max_features: float | str | None = None,
        l2_regularization: float = 3.0,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        warm_start: bool = False,
        scale: str | None = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.delta = delta
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, one after the other.

        An interrupted or failed fit leaves a fitted estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers; not negative with ``loss="poisson"``.
        sample_weight : array-like of shape (n_samples,), default=None
            Without early stopping and ``subsample``, and with ``min_samples_leaf=1``, a whole
            number is the same as as many repeats of the row. Weights that are not all whole are
            relative: their mean counts as one.

        Returns
        -------
        CO2BoostingRegressor
            The fitted estimator itself.
        """
        return self._fit_boosting(X, y, sample_weight)

    def _split_params(self, n_features: int) -> _native.Co2Params:
        params = _native.Co2Params()
        params.max_features = resolve_max_features(self.max_features, n_features)
        # A tree corrects those before it, so that its splits need not be exact: with bins and
        # samples kin8nm took 60 % of the time, for the same errors.
        params.max_rows = 1000
        params.threshold_bins = 32
        params.axis_rows = 250
        # What the defaults were chosen with.
        params.ridge = 0.1
        params.feature_parts = [1.0, 0.15]
        return params

    def _boost_params(
        self, data: TrainingSet, n_rounds: int, *, stops_early: bool
    ) -> _native.BoostParams:
        params = super()._boost_params(data, n_rounds, stops_early=stops_early)
        params.loss = data.loss
        return params

    def _set_meaning(self, meaning: Any) -> None:
        super()._set_meaning(meaning)
        self._note_loss()

    def _check_same_meaning(self, meaning: npt.NDArray[Any]) -> None:
        if meaning.shape[1] != self.n_outputs_:
            raise ValueError(
                "warm_start=True, but y has another number of outputs than in the first fit: "
                f"{meaning.shape[1]}, not {self.n_outputs_}"
            )
        self._check_same_loss()

    def _validation_order(
        self, data: TrainingSet, random: np.random.Generator
    ) -> npt.NDArray[np.intp]:
        return random.permutation(data.rows.count)

    def _scores(self, losses: list[tuple[float, float]]) -> npt.NDArray[np.float64]:
        return np.array([loss for loss, _ in losses])

    def _predicted(self, raw: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return self._in_units_of_y(np.exp(raw) if self._loss_used == "poisson" else raw)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Sum of the start and of the leaves that a row reaches, in the unit of y.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._predicted(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[np.float64]]:
        """Predictions after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        for raw in self._staged_raw(X):
            yield self._predicted(raw)


class CO2BoostingClassifier(BaseCO2Classifier, BaseBoosting):
    """Gradient boosting for classes, with trees that split obliquely.

    Every round grows one tree on the labels, as :class:`CO2ForestClassifier` does, but with more
    weight on rows that the rounds before get wrong. Its leaves hold Newton steps of the log loss,
    one for each class.

    Parameters
    ----------
    learning_rate : float, default=0.05
        What every leaf is multiplied with (shrinkage). It is not the step of a node's optimiser,
        which has this name in :class:`CO2ForestClassifier`.
    n_estimators : int, default=300
        Most rounds.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree, the most useful splits first. None grows until leaves are pure.
    max_depth : int or None, default=None
        Most splits on the way to a leaf.
    min_samples_leaf : int or float, default=1
        Fewest rows (or part of all rows) on each side of a split.
    subsample : float, default=1.0
        Part of the rows that a tree is grown on. Its leaves take their values from all rows.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Random features whose best split starts a node.
    l2_regularization : float, default=0.3
        What is added to the curvature of the loss in every leaf: larger values give smaller steps.
    early_stopping : bool or "auto", default="auto"
        Whether rows are held out, and boosting ends when they have no fewer errors any more (and no
        lower log loss, if these are the same). They also tell how sure probabilities may be. "auto"
        is True from 1000 rows on.
    validation_fraction : float, default=0.1
        Part of the rows held out, of each class.
    n_iter_no_change : int, default=50
        Rounds without progress on the rows held out after which boosting ends.
    tol : float, default=1e-7
        What counts as progress.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    warm_start : bool, default=False
        Whether `fit` keeps the trees there are and goes on up to ``n_estimators``.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`CO2ForestClassifier`.
    n_jobs : int, default=None
        Threads for predicting; None is one, -1 all. Fitting takes one.
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
    n_estimators_ : int
        Rounds kept: trees after the best validation round are dropped.
    train_score_ : ndarray of shape (``n_estimators_``,)
        Log loss of the training rows after each round.
    validation_score_ : ndarray of shape (``n_estimators_``,)
        The same of the rows held out; empty if there are none, and shorter if a warm start has
        turned early stopping on or off.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Part of the decrease of impurity due to each feature.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2BoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CO2BoostingClassifier(n_estimators=10, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _distributions = False
    _parameter_constraints: ClassVar[Constraints] = BOOSTING_CONSTRAINTS | TREE_CLASS_WEIGHT
    _floor: ClassVar[float] = 0.1  # the least weight of a row in a tree, of the mean one
    _temperature: float  # what raw scores are multiplied with

    def __init__(
        self,
        *,
        learning_rate: float = 0.05,
        n_estimators: int = 300,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        subsample: float = 1.0,
        max_features: float | str | None = "sqrt",
        l2_regularization: float = 0.3,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        scale: str | None = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, one after the other.

        An interrupted or failed fit leaves a fitted estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            C-contiguous float32 and uint8 arrays and CSR matrices are read without a copy; NaN
            stands for the feature's mean.
        y : array-like of shape (n_samples,)
            Labels: strings, whole numbers, booleans or dates.
        sample_weight : array-like of shape (n_samples,), default=None
            Without early stopping and ``subsample``, and with ``min_samples_leaf=1``, a whole
            number is the same as as many repeats of the row. Weights that are not all whole are
            relative: their mean counts as one.

        Returns
        -------
        CO2BoostingClassifier
            The fitted estimator itself.
        """
        return self._fit_boosting(X, y, sample_weight)

    def _split_params(self, n_features: int) -> _native.Co2Params:
        params = _native.Co2Params()
        params.max_features = resolve_max_features(self.max_features, n_features)
        return params

    def _boost_params(
        self, data: TrainingSet, n_rounds: int, *, stops_early: bool
    ) -> _native.BoostParams:
        params = super()._boost_params(data, n_rounds, stops_early=stops_early)
        params.floor = self._floor
        return params

    def _check_same_meaning(self, meaning: npt.NDArray[Any]) -> None:
        if not np.array_equal(self.classes_, meaning):
            raise ValueError(
                "warm_start=True, but y has other classes than in the first fit: "
                f"{meaning}, not {self.classes_}"
            )

    def _validation_order(
        self, data: TrainingSet, random: np.random.Generator
    ) -> npt.NDArray[np.intp]:
        order = random.permutation(data.rows.count)
        by_class: npt.NDArray[np.intp] = order[np.argsort(data.targets[order], kind="stable")]
        return by_class

    def _scores(self, losses: list[tuple[float, float]]) -> npt.NDArray[np.float64]:
        return np.array([log_loss for _, log_loss in losses])

    def _calibrate(self, data: TrainingSet, held_out: npt.NDArray[np.bool_]) -> None:
        self._temperature = 1.0
        if len(held_out) == 0 or self.n_classes_ == 1:
            return
        weights = data.weights[held_out] if len(data.weights) else None
        rows = native_rows(data.X[np.flatnonzero(held_out)])
        self._temperature = _best_temperature(self._raw_of(rows), data.targets[held_out], weights)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Raw scores, whose softmax are the probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Of two classes: the second one's score less the first one's.
        """
        raw = self._raw(X) * self._temperature
        return raw[:, 1] - raw[:, 0] if self.n_classes_ == 2 else raw

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self._raw(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_.take(best)
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return _log_softmax(self._raw(X) * self._temperature)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predicted classes after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for raw in self._staged_raw(X):
            yield self.classes_.take(raw.argmax(axis=1))

    def staged_predict_proba(self, X: Any) -> Iterator[npt.NDArray[np.float64]]:
        """Probabilities after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        for raw in self._staged_raw(X):
            yield np.exp(_log_softmax(raw * self._temperature))

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        return fields | {"temperature": self._temperature}, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._temperature = fields.value("temperature")

    def _check_consistency(self) -> None:
        super()._check_consistency()
        temperature: Any = self._temperature  # of a file it may be anything
        if type(temperature) is not float or not 0.0 < temperature < 1e6:
            raise ModelFormatError(f"temperature must be in (0, 1e6), got {temperature!r}")


def _log_softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    scores = scores - scores.max(axis=1, keepdims=True)
    logs: npt.NDArray[np.float64] = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return logs


def _best_temperature(
    raw: npt.NDArray[np.float64], codes: npt.NDArray[Any], weights: npt.NDArray[np.float32] | None
) -> float:
    """The factor of raw scores with the lowest log loss, in (1/20, 5); the loss is convex in it."""
    rows = np.arange(len(codes))

    def log_loss(log_factor: float) -> float:
        logs = _log_softmax(np.exp(log_factor) * raw)[rows, codes]
        return -float(np.average(logs, weights=weights))

    low, high = np.log(0.05), np.log(5.0)
    for _ in range(40):
        third = (high - low) / 3
        if log_loss(low + third) <= log_loss(high - third):
            high -= third
        else:
            low += third
    return float(np.exp((low + high) / 2))
