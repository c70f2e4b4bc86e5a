"""Breiman's random forest: thresholds of single features."""

from typing import Any

from co2forest import _native
from co2forest._forest import BaseForest
from co2forest._parameters import resolve_max_features
from co2forest._rows import TrainingData
from co2forest.baselines._base import BaselineClassifier, BaselineRegressor


class _AxisSplits(BaseForest):
    """Finds the best threshold of a few random features, exactly."""

    max_features: Any

    def _split_params(self, n_features: int) -> _native.AxisParams:
        params = _native.AxisParams()
        params.max_features = resolve_max_features(self.max_features, n_features)
        return params

    def _resolve_scale(self, data: TrainingData, seed: int) -> str | None:  # noqa: ARG002
        return None  # a threshold of one feature is the same in every scale


class AxisForestClassifier(BaselineClassifier, _AxisSplits):
    """Random forest with axis-aligned splits (Breiman 2001).

    In each node the thresholds of ``max_features`` random features are searched exactly, for the
    highest information gain: what :class:`sklearn.ensemble.RandomForestClassifier` does with
    ``criterion="entropy"``, on the engine of this library. All parameters and attributes are those
    of :class:`co2forest.CO2ForestClassifier` that have to do with forests.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Features that are searched in each node; more if they are all constant there.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`.
    min_impurity_decrease, max_leaf_nodes : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`.
    bootstrap : bool, default=True
        Whether each tree draws its rows with replacement.
    max_samples, class_weight, oob_score, warm_start : optional
        As in :class:`co2forest.CO2ForestClassifier`.
    n_jobs, random_state, verbose : optional
        As in :class:`co2forest.CO2ForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest.baselines import AxisForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AxisForestClassifier(10, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """


class AxisForestRegressor(BaselineRegressor, _AxisSplits):
    """Random forest with axis-aligned splits for one or several numbers (Breiman 2001).

    In each node the thresholds of ``max_features`` random features are searched exactly, for the
    largest decrease of the squared error: what :class:`sklearn.ensemble.RandomForestRegressor`
    does, on the engine of this library. Parameters are those of `AxisForestClassifier`, without
    ``class_weight``; by default all features are searched. Several outputs count alike, whatever
    their units.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest.baselines import AxisForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(AxisForestRegressor(10, random_state=0).fit(X, y).score(X, y) > 0.8)
    True
    """
