"""Forests whose splits compare two features."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from co2forest import _native
from co2forest._forest import BaseForest
from co2forest._parameters import PAIR_CONSTRAINTS, SCALE_CONSTRAINTS, Constraints, count
from co2forest.baselines._base import BaselineClassifier, BaselineRegressor

_CONSTRAINTS: Constraints = PAIR_CONSTRAINTS | SCALE_CONSTRAINTS


def _without_max_features(constraints: Constraints) -> Constraints:
    return {name: allowed for name, allowed in constraints.items() if name != "max_features"}


class _TwoProbeSplits(BaseForest):
    """Finds the best threshold of the difference of two features, for many random pairs."""

    n_pairs: int | None

    def _split_params(self, n_features: int) -> _native.TwoProbeParams:
        params = _native.TwoProbeParams()
        params.n_pairs = n_features if self.n_pairs is None else count(self.n_pairs)
        return params


class TwoProbeForestClassifier(BaselineClassifier, _TwoProbeSplits):
    """Random forest whose splits compare two features.

    A node sends a row to the right if the difference of two of its features is at least a
    threshold: of ``n_pairs`` random pairs the one with the highest information gain, the
    threshold searched exactly. With pixels as features, it is what labels body parts in depth
    images (Shotton et al. 2013), and a baseline of the CO2 paper.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    n_pairs : int, default=None
        Random pairs of features that are searched in each node; with as many as there are, or
        more, all of them. None is as many as there are features.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`co2forest.CO2ForestClassifier`.
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
    >>> from sklearn.datasets import load_digits
    >>> from co2forest.baselines import TwoProbeForestClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = TwoProbeForestClassifier(10, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(forest.score(X[1000:], y[1000:]) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        _without_max_features(BaselineClassifier._parameter_constraints) | _CONSTRAINTS  # noqa: SLF001
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_pairs: int | None = None,
        scale: str | None = "auto",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        bootstrap: bool = True,
        max_samples: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            min_impurity_decrease=min_impurity_decrease,
            max_leaf_nodes=max_leaf_nodes,
            bootstrap=bootstrap,
            max_samples=max_samples,
            class_weight=class_weight,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        del self.max_features  # pairs are drawn instead
        self.n_pairs = n_pairs
        self.scale = scale


class TwoProbeForestRegressor(BaselineRegressor, _TwoProbeSplits):
    """Random forest for one or several numbers whose splits compare two features.

    As `TwoProbeForestClassifier`, where the parameters are explained, with the squared error in the
    place of the information gain and without ``class_weight``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest.baselines import TwoProbeForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(TwoProbeForestRegressor(10, random_state=0).fit(X, y).score(X, y) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        _without_max_features(BaselineRegressor._parameter_constraints) | _CONSTRAINTS  # noqa: SLF001
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_pairs: int | None = None,
        scale: str | None = "auto",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            min_impurity_decrease=min_impurity_decrease,
            max_leaf_nodes=max_leaf_nodes,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        del self.max_features  # pairs are drawn instead
        self.n_pairs = n_pairs
        self.scale = scale
