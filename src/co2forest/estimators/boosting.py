# SPDX-License-Identifier: BSD-3-Clause
"""Gradient boosting with trees that split obliquely."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from co2forest._one_fit import of_one_fit
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.outputs.scores import ClassScores, NumberScores, best_inverse_temperature
from co2forest.data.training_set import TrainingSet
from co2forest.estimators.boosted import BOOSTING_CONSTRAINTS, Boosting
from co2forest.estimators.classification import Classifier
from co2forest.estimators.regression import Regressor
from co2forest.files.fields import Fields
from co2forest.fitting.boost import Boosted, Losses
from co2forest.fitting.parameters import LOSS_CONSTRAINTS, TREE_CLASS_WEIGHT, Constraints


class CO2BoostingRegressor(Regressor, Boosting):
    """Gradient boosting for one or several numbers, with trees that split obliquely.

    Every round grows one tree on what earlier rounds have left of the targets, whatever the
    number of outputs. Its splits are the better ones of a ridge regression's direction and a
    threshold of one feature; its leaves hold Newton steps of the loss. How many rounds there are is
    found on rows held out.

    Parameters
    ----------
    loss : {"squared", "huber", "quantile", "poisson"}, default="squared"
        What is minimised. Several outputs count equally, whatever their units.
    alpha : float, default=0.5
        With ``loss="quantile"``: which quantile.
    delta : float, default=1.35
        With ``loss="huber"``: the distance beyond which the loss is linear, in robust standard
        deviations of y.
    split : {"auto", "narrow", "co2"}, default="auto"
        What a node of a tree chooses from. "narrow": thresholds of one feature, and hyperplanes
        over a few. "co2": thresholds of one feature, and hyperplanes over all. "auto": a short
        trial decides. It also decides what "auto" of other parameters stands for; here they are
        given for "narrow" first, then for "co2".
    learning_rate : "auto" or float, default="auto"
        What every leaf is multiplied by (shrinkage): 0.1. It is not the step of a node's
        optimiser, which has this name in :class:`CO2ForestClassifier`.
    n_estimators : int, default=1000
        Most rounds.
    max_leaf_nodes : "auto", int or None, default="auto"
        Most leaves of a tree, the most useful splits first: 31 or 63.
    max_depth : int or None, default=None
        Most splits on the path to a leaf.
    min_samples_leaf : "auto", int or float, default="auto"
        Fewest rows (or fraction of all rows) on each side of a split: 10 or 5.
    subsample : float, default=1.0
        Fraction of the rows that a tree is grown on. Its leaves take their values from all rows.
    max_features : {"auto", "sqrt", "log2", None}, int or float, default="auto"
        Features that a node chooses from: half of them, or all where a trial finds that better.
    l2_regularization : "auto" or float, default="auto"
        Weight of additional rows without an error in every leaf: larger values give smaller steps.
        1 or 3.
    early_stopping : bool or "auto", default="auto"
        Whether folds hold rows out, to find after how many rounds their loss no longer falls. Then
        all rows are boosted for as many rounds, and a tenth more. "auto" is True from 20 rows on.
    validation_fraction : float, default=0.1
        Fraction of the rows that a fold holds out.
    n_folds : "auto" or int, default="auto"
        How many folds there are: "auto" is 3 with less than 5000 rows, else 1.
    n_iter_no_change : int, default=50
        Rounds without a lower validation loss after which the folds end.
    tol : float, default=1e-7
        What counts as lower.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and goes on up to ``n_estimators``. Rows that are
        held out are then never trained on.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`CO2ForestClassifier`. "auto" is "standard"
        for "narrow", and chosen by a trial for "co2".
    n_jobs : int, default=None
        Threads; None is one, -1 is all. A fit works on folds and on all rows at the same time. The
        model is the same for any number.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are categories: names, indices or a mask. "from_dtype" takes those of
        data frames that hold words or have a categorical dtype. None takes all for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show a progress bar with the time left, on standard error.

    Attributes
    ----------
    n_estimators_ : int
        Rounds of the model.
    train_score_ : ndarray of shape (``n_estimators_``,)
        Mean loss of the training rows after each round, for targets of median zero and standard
        deviation one (with ``loss="poisson"``: of mean one).
    validation_score_ : ndarray of shape (``n_estimators_``,)
        The same for the rows held out; empty if there are none, and shorter where all rows were
        boosted for more rounds, or a warm start has turned early stopping on or off.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of impurity due to each feature.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    split_ : {"narrow", "co2"}
        What nodes choose from; what "auto" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest import CO2BoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(CO2BoostingRegressor(n_estimators=30, random_state=0).fit(X, y).score(X, y) > 0.6)
    True
    """

    _kinds_of_outputs = (NumberScores,)
    _parameter_constraints: ClassVar[Constraints] = BOOSTING_CONSTRAINTS | LOSS_CONSTRAINTS

    def __init__(
        self,
        *,
        loss: str = "squared",
        alpha: float = 0.5,
        delta: float = 1.35,
        split: str = "auto",
        learning_rate: float | str = "auto",
        n_estimators: int = 1000,
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: float | str = "auto",
        subsample: float = 1.0,
        max_features: float | str | None = "auto",
        l2_regularization: float | str = "auto",
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_folds: int | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        warm_start: bool = False,
        scale: str | None = "auto",
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.delta = delta
        self.split = split
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
        self.n_folds = n_folds
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.scale = scale
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _scores(self, losses: Losses) -> npt.NDArray[np.float64]:
        return np.array([loss for loss, _ in losses])

    def _score_outputs(
        self,
        outputs: NumberOutputs,
        grown: Boosted,
        data: TrainingSet,  # noqa: ARG002
    ) -> NumberScores:
        return NumberScores(outputs.units, outputs.one_dimensional, outputs.loss, grown.start)

    def _restore_outputs(self, fields: Fields) -> Outputs:
        return NumberScores.restore(fields, chooses_loss=True)


class CO2BoostingClassifier(Classifier, Boosting):
    """Gradient boosting for classes, with trees that split obliquely.

    Every round grows one tree for all classes. Its leaves hold Newton steps of the log loss, one
    for each class. How many rounds there are, and how sure probabilities may be, is found on rows
    held out.

    Parameters
    ----------
    split : {"auto", "narrow", "co2"}, default="auto"
        How trees are grown. "narrow": on Newton steps of the log loss, and a node chooses from
        thresholds of one feature and hyperplanes over a few; best for tables. "co2": on the labels
        themselves, with more weight on rows that earlier rounds get wrong, by hyperplanes over all
        features, as in :class:`CO2ForestClassifier`; best for letters, pixels and the like. "auto":
        a short trial decides. It also decides what "auto" of other parameters stands for; here
        they are given for "narrow" first, then for "co2".
    learning_rate : "auto" or float, default="auto"
        What every leaf is multiplied by (shrinkage): 0.05. It is not the step of a node's
        optimiser, which has this name in :class:`CO2ForestClassifier`.
    n_estimators : int, default=1000
        Most rounds.
    max_leaf_nodes : "auto", int or None, default="auto"
        Most leaves of a tree, the most useful splits first: 31, or no limit.
    max_depth : int or None, default=None
        Most splits on the path to a leaf.
    min_samples_leaf : "auto", int or float, default="auto"
        Fewest rows (or fraction of all rows) on each side of a split: 10 or 1.
    subsample : float, default=1.0
        Fraction of the rows that a tree is grown on. Its leaves take their values from all rows.
    max_features : {"auto", "sqrt", "log2", None}, int or float, default="auto"
        Features that a node chooses from: half of them, or all where a trial finds that better.
        With "co2" it is the root of their number, and the best split of these features starts a
        node.
    l2_regularization : "auto" or float, default="auto"
        What is added to the curvature of the loss in every leaf: larger values give smaller steps.
        1 or 0.3.
    early_stopping : bool or "auto", default="auto"
        Whether folds hold rows out, to find after how many rounds their log loss no longer falls
        (with "co2": their errors, and the log loss if these are as many). Then all rows are boosted
        for as many rounds, and a tenth more. "auto" is True from 20 rows on.
    validation_fraction : float, default=0.1
        Fraction of the rows that a fold holds out, stratified by class.
    n_folds : "auto" or int, default="auto"
        How many folds there are: "auto" is 3 with less than 5000 rows, else 1.
    n_iter_no_change : int, default=50
        Rounds without progress on the rows held out after which the folds end.
    tol : float, default=1e-7
        What counts as progress.
    calibrate : bool, default=True
        Whether rows that folds hold out tell how sure probabilities may be, also without early
        stopping. It does not change `predict`.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and goes on up to ``n_estimators``. Rows that are
        held out are then never trained on.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`CO2ForestClassifier`. "auto" is "standard"
        for "narrow", and chosen by a trial for "co2".
    n_jobs : int, default=None
        Threads; None is one, -1 is all. A fit works on folds and on all rows at the same time. The
        model is the same for any number.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are categories: names, indices or a mask. "from_dtype" takes those of
        data frames that hold words or have a categorical dtype. None takes all for numbers.
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
        Rounds of the model.
    train_score_ : ndarray of shape (``n_estimators_``,)
        Log loss of the training rows after each round.
    validation_score_ : ndarray of shape (``n_estimators_``,)
        The same for the rows held out; empty if there are none, and shorter where all rows were
        boosted for more rounds, or a warm start has turned early stopping on or off.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of impurity due to each feature.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    split_ : {"narrow", "co2"}
        What nodes choose from; what "auto" has chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2BoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CO2BoostingClassifier(n_estimators=10, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _kinds_of_outputs = (ClassScores,)
    _parameter_constraints: ClassVar[Constraints] = (
        BOOSTING_CONSTRAINTS | TREE_CLASS_WEIGHT | {"calibrate": ["boolean"]}
    )

    def __init__(
        self,
        *,
        split: str = "auto",
        learning_rate: float | str = "auto",
        n_estimators: int = 1000,
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: float | str = "auto",
        subsample: float = 1.0,
        max_features: float | str | None = "auto",
        l2_regularization: float | str = "auto",
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_folds: int | str = "auto",
        n_iter_no_change: int = 50,
        tol: float = 1e-7,
        calibrate: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        scale: str | None = "auto",
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.split = split
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
        self.n_folds = n_folds
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.scale = scale
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _scores(self, losses: Losses) -> npt.NDArray[np.float64]:
        return np.array([log_loss for _, log_loss in losses])

    def _score_outputs(
        self, outputs: ClassOutputs, grown: Boosted, data: TrainingSet
    ) -> ClassScores:
        scores = grown.held_out_scores
        known = ~np.isnan(scores[:, 0]) if self.calibrate else np.zeros(len(scores), dtype=bool)
        factor = 1.0
        if outputs.n_outputs > 1 and known.any():
            weights = data.weights[known] if len(data.weights) else None
            factor = best_inverse_temperature(scores[known], data.targets[known], weights)
        return ClassScores(outputs.classes, grown.start, factor)

    def _restore_outputs(self, fields: Fields) -> Outputs:
        return ClassScores.restore(fields)

    @of_one_fit
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Raw scores, whose softmax are the probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            With two classes: the second one's score less the first one's.
        """
        raw = self._raw(X)  # first, because it checks that there is a fit
        scores: npt.NDArray[np.float64] = self._outputs.calibrated(raw)
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores

    @of_one_fit
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`, which is the softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        raw = self._raw(X)  # first, because it checks that there is a fit
        logs: npt.NDArray[np.float64] = self._outputs.log_proba(raw)
        return logs

    @of_one_fit
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
            yield self._outputs.proba(raw)
