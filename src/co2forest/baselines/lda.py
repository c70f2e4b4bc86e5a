"""Forests whose splits are linear discriminants."""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from co2forest import _native
from co2forest._parameters import SCALE_CONSTRAINTS, Constraints, resolve_max_features
from co2forest._sklearn_compat import Interval
from co2forest.baselines._base import BaselineClassifier


class LDAForestClassifier(BaselineClassifier):
    """Oblique random forest with discriminants, after Menze et al. (2011).

    In each node the classes are thrown into two groups at random, a regularised linear discriminant
    (which has the direction of a ridge regression) tells the groups apart on ``max_features``
    random features, and the threshold with the highest information gain is searched exactly.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Random features of each hyperplane.
    shrinkage : float, default=0.1
        What is added to the variance of each feature in the node, in units of their mean.
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

    References
    ----------
    .. [1] B. H. Menze, B. M. Kelm, D. N. Splitthoff, U. Koethe, F. A. Hamprecht, "On Oblique Random
       Forests", ECML PKDD 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from co2forest.baselines import LDAForestClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = LDAForestClassifier(10, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(forest.score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        BaselineClassifier._parameter_constraints  # noqa: SLF001
        | SCALE_CONSTRAINTS
        | {"shrinkage": [Interval(Real, 0, 1e30, closed="right")]}
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: float | str | None = "sqrt",
        shrinkage: float = 0.1,
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
            max_features=max_features,
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
        self.shrinkage = shrinkage
        self.scale = scale

    def _split_params(self, n_features: int) -> _native.DiscriminantParams:
        params = _native.DiscriminantParams()
        params.max_features = resolve_max_features(self.max_features, n_features)
        params.shrinkage = float(self.shrinkage)
        return params
