# SPDX-License-Identifier: BSD-3-Clause
"""A CO2 forest and CO2 boosting in one estimator, weighed by rows that neither has seen."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from co2forest._one_fit import of_one_fit
from co2forest.data.losses import SQUARED, Loss
from co2forest.data.outputs.base import Floats
from co2forest.estimators.boosting import CO2BoostingClassifier, CO2BoostingRegressor
from co2forest.estimators.classifier import CO2ForestClassifier
from co2forest.estimators.members import ENSEMBLE_CONSTRAINTS, Ensemble
from co2forest.estimators.regressor import CO2ForestRegressor
from co2forest.estimators.target_readers import LabelReader, NumberReader
from co2forest.files.storable import StorableForest
from co2forest.fitting.parameters import TREE_CLASS_WEIGHT, Constraints


class CO2EnsembleClassifier(LabelReader, Ensemble):
    """A CO2 forest and CO2 boosting for classes, whose probabilities are blended.

    Sometimes a forest is better, sometimes boosting, and mostly both together are better than
    either. Both are fitted to the same rows. How much the forest counts is found on rows that
    neither has been grown on.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the forest, a :class:`CO2ForestClassifier` each of whose trees gets 90 % of the
        rows.
    n_rounds : int, default=1000
        Most rounds of boosting, a :class:`CO2BoostingClassifier` with its defaults.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    n_jobs : int, default=None
        Threads for fitting and predicting: None is one, -1 all. The result does not depend on it.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are categories: names, indices or a mask. "from_dtype" takes those of
        data frames that hold words or have a categorical dtype. None takes all for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show progress bars with the time left, on standard error.

    Attributes
    ----------
    forest_ : CO2ForestClassifier
        The forest; fitted alone with its parameters, it would be the same.
    boosting_ : CO2BoostingClassifier
        The boosted trees; also the same.
    forest_share_ : float
        The weight of the forest, from 0 to 1; boosting has the rest.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; the order of columns in `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        The weighted mean of the members' importances.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from co2forest import CO2EnsembleClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = CO2EnsembleClassifier(20, n_rounds=50, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _member_kinds: ClassVar[dict[str, type[StorableForest]]] = {
        "forest": CO2ForestClassifier,
        "boosting": CO2BoostingClassifier,
    }
    _parameter_constraints: ClassVar[Constraints] = ENSEMBLE_CONSTRAINTS | TREE_CLASS_WEIGHT

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_rounds: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_rounds = n_rounds
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, sorted."""
        classes: npt.NDArray[Any] = self.forest_.classes_
        return classes

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        return 1

    def _judged(self, scores: Floats, targets: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        outputs = self.boosting_._outputs  # noqa: SLF001 (of a member of its own)
        return self._answers(outputs, scores), np.eye(self.n_classes_)[targets]

    def _answers(self, outputs: Any, raw: Floats) -> Floats:
        probabilities: Floats = outputs.proba(raw)
        return probabilities

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the highest probability.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)  # first, because it checks that there is a fit
        labels: npt.NDArray[Any] = self.classes_.take(probabilities.argmax(axis=1))
        return labels

    @of_one_fit
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The weighted mean of the probabilities of the forest and of boosting.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._predicted(X)

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`; minus infinity where that is zero.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logs: npt.NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    @of_one_fit
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithms of the probabilities, whose softmax they are.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            With two classes: the second one's logarithm less the first one's.
        """
        logs = self.predict_log_proba(X)  # first, because it checks that there is a fit
        return logs[:, 1] - logs[:, 0] if self.n_classes_ == 2 else logs


class CO2EnsembleRegressor(NumberReader, Ensemble):
    """A CO2 forest and CO2 boosting for one or several numbers, whose predictions are blended.

    Sometimes a forest is better, sometimes boosting, and mostly both together are better than
    either. Both are fitted to the same rows, with the squared loss. How much the forest counts is
    found on rows that neither has been grown on.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the forest, a :class:`CO2ForestRegressor` each of whose trees gets 90 % of the
        rows.
    n_rounds : int, default=1000
        Most rounds of boosting, a :class:`CO2BoostingRegressor` with its defaults.
    n_jobs, categorical_features, random_state, verbose : optional
        As in :class:`CO2EnsembleClassifier`.

    Attributes
    ----------
    forest_ : CO2ForestRegressor
        The forest; fitted alone with its parameters, it would be the same.
    boosting_ : CO2BoostingRegressor
        The boosted trees; also the same.
    forest_share_ : float
        The weight of the forest, from 0 to 1; boosting has the rest.
    n_outputs_ : int
        Number of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        The weighted mean of the members' importances.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest import CO2EnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CO2EnsembleRegressor(20, n_rounds=50, random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.4)
    True
    """

    _member_kinds: ClassVar[dict[str, type[StorableForest]]] = {
        "forest": CO2ForestRegressor,
        "boosting": CO2BoostingRegressor,
    }
    _parameter_constraints: ClassVar[Constraints] = ENSEMBLE_CONSTRAINTS

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_rounds: int = 1000,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_rounds = n_rounds
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self) -> Loss:
        return SQUARED

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        n_outputs: int = self.forest_.n_outputs_
        return n_outputs

    def _judged(self, scores: Floats, targets: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        return scores, targets.astype(np.float64)  # both in the units of the training set

    def _answers(self, outputs: Any, raw: Floats) -> Floats:
        numbers: Floats = outputs.decide(raw)
        return numbers

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict numbers: the weighted mean of what the forest and boosting predict.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._predicted(X)
