"""OC1 and CART-LC: hyperplanes improved one weight at a time."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from co2forest import _native
from co2forest._parameters import (
    SCALE_CONSTRAINTS,
    Constraints,
    count,
    resolve_max_features,
)
from co2forest._sklearn_compat import Interval
from co2forest.baselines._base import BaselineClassifier


class OC1ForestClassifier(BaselineClassifier):
    """Forest of OC1 trees (Murthy, Kasif, Salzberg 1994), as the CO2 paper compares with.

    In each node a hyperplane is improved along one weight after the other, by an exact search over
    the steps at which a row changes sides, until no step helps; then along random directions; all
    that again from random hyperplanes. As in the CO2 paper, the first hyperplane is the best
    axis-aligned split of ``max_features`` random features, the criterion is the information gain,
    and trees grow until their leaves are pure.

    The search does not scale: a pass takes as many sorts of a node's rows as there are features,
    and a node takes some hundred passes.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Features that are searched for the first hyperplane. All features take part in what follows.
    n_restarts : int, default=20
        Hyperplanes that are improved in each node: the axis-aligned one, then random ones. The
        published default.
    n_jumps : int, default=5
        Random directions tried where no single weight helps. The published default.
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
    >>> from sklearn.datasets import load_iris
    >>> from co2forest.baselines import OC1ForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(OC1ForestClassifier(5, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        BaselineClassifier._parameter_constraints  # noqa: SLF001
        | SCALE_CONSTRAINTS
        | {
            "n_restarts": [Interval(Integral, 1, None, closed="left")],
            "n_jumps": [Interval(Integral, 0, None, closed="left")],
        }
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: float | str | None = "sqrt",
        n_restarts: int = 20,
        n_jumps: int = 5,
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
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.scale = scale

    def _split_params(self, n_features: int) -> _native.CoordinateParams:
        params = _native.CoordinateParams()
        params.max_features = resolve_max_features(self.max_features, n_features)
        params.n_restarts = count(self.n_restarts)
        params.n_jumps = count(self.n_jumps)
        return params


class CARTLCForestClassifier(BaselineClassifier):
    """Forest of CART-LC trees (Breiman, Friedman, Olshen, Stone 1984).

    In each node the best axis-aligned split of ``max_features`` random features is improved along
    one weight after the other, turning about three points of each feature, by an exact search over
    the steps at which a row changes sides, until no step helps. No random directions and no
    restarts; the criterion is the information gain.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Features that are searched for the first hyperplane. All features take part in what follows.
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
    >>> from sklearn.datasets import load_iris
    >>> from co2forest.baselines import CARTLCForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(CARTLCForestClassifier(5, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        BaselineClassifier._parameter_constraints | SCALE_CONSTRAINTS  # noqa: SLF001
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: float | str | None = "sqrt",
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
        self.scale = scale

    def _split_params(self, n_features: int) -> _native.CoordinateParams:
        params = _native.CoordinateParams()
        params.max_features = resolve_max_features(self.max_features, n_features)
        params.shifted_directions = True
        return params
