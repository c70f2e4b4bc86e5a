# SPDX-License-Identifier: BSD-3-Clause
"""Other forests on the same engine: a comparison with them differs in the splits alone.

`BaselineForestClassifier` and `BaselineForestRegressor` take the kind of split as a parameter. Each
kind also has a class with its usual name, which has just the parameters that this kind reads.
"""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from co2forest._sklearn_compat import Interval, StrOptions
from co2forest.estimators.classification import Classifier
from co2forest.estimators.forest import Forest
from co2forest.estimators.regression import Regressor
from co2forest.fitting.parameters import (
    FOREST_CLASS_WEIGHT,
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    PAIR_CONSTRAINTS,
    SCALE_CONSTRAINTS,
    Constraints,
    resolve_max_features,
)
from co2forest.fitting.plan import NativeParams

__all__ = [
    "AxisForestClassifier",
    "AxisForestRegressor",
    "BaselineForestClassifier",
    "BaselineForestRegressor",
    "CARTLCForestClassifier",
    "LDAForestClassifier",
    "OC1ForestClassifier",
    "TwoProbeForestClassifier",
    "TwoProbeForestRegressor",
]

# The parameters that each kind of split reads beside those of all forests.
_READS = {
    "axis": {"max_features"},
    "two_probe": {"n_pairs", "scale"},
    "oc1": {"max_features", "n_restarts", "n_jumps", "scale"},
    "cart_lc": {"max_features", "scale"},
    "lda": {"max_features", "shrinkage", "scale"},
}
_OPTIONAL = set[str]().union(*_READS.values())

_SPLIT_CONSTRAINTS: Constraints = (
    SCALE_CONSTRAINTS
    | PAIR_CONSTRAINTS
    | {
        "split": [StrOptions(set(_READS))],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "n_jumps": [Interval(Integral, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, 1e30, closed="right")],
    }
)


def _split_params(forest: Any, n_features: int) -> NativeParams:
    """What the native core is told about a kind of split."""
    if forest.split == "two_probe":
        n_pairs = n_features if forest.n_pairs is None else forest.n_pairs
        return NativeParams("TwoProbeParams", {"n_pairs": n_pairs})
    features = {"max_features": resolve_max_features(forest.max_features, n_features)}
    if forest.split == "axis":
        return NativeParams("AxisParams", features, depends_on_scale=False)
    if forest.split == "lda":
        shrinkage = float(forest.shrinkage)
        return NativeParams("DiscriminantParams", features | {"shrinkage": shrinkage})
    if forest.split == "cart_lc":
        return NativeParams("CoordinateParams", features | {"shifted_directions": True})
    search = {"n_restarts": forest.n_restarts, "n_jumps": forest.n_jumps}
    return NativeParams("CoordinateParams", features | search)


def _fix_split(cls: Any, split: str) -> None:
    """Make a subclass a name for one kind of split, with just the parameters that it reads."""
    general = cls.__init__
    signature = inspect.signature(general)
    dropped = (_OPTIONAL - _READS[split]) | {"split"}
    kept = [each for name, each in signature.parameters.items() if name not in dropped]
    signature = signature.replace(parameters=kept)

    @wraps(general)
    def init(self: Any, *args: Any, **parameters: Any) -> None:
        signature.bind(self, *args, **parameters)  # a TypeError names what it does not take
        general(self, *args, split=split, **parameters)

    init.__signature__ = signature  # type: ignore[attr-defined]  # scikit-learn reads it
    cls.__init__ = init


def _single_tree(forest: Any, i: int) -> Any:
    """Tree ``i`` as a forest of one tree."""
    tree = copy(forest)
    tree.n_estimators = 1
    tree.warm_start = False  # trees that it added would be numbered from here
    tree._drop_out_of_bag()  # noqa: SLF001 (which is of all trees together)
    draws = forest._draws  # noqa: SLF001
    tree._draws = replace(draws, first_tree=draws.first_tree + i)  # noqa: SLF001
    return tree._take_tree(forest, i)  # noqa: SLF001


class BaselineForestClassifier(Classifier, Forest):
    """A random forest with a choice of splits.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    split : {"axis", "two_probe", "oc1", "cart_lc", "lda"}, default="axis"
        How a node is split; each kind is described at the class with its name:
        `AxisForestClassifier`, `TwoProbeForestClassifier`, `OC1ForestClassifier`,
        `CARTLCForestClassifier`, `LDAForestClassifier`.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Random features of each node: those whose thresholds are searched ("axis"; "oc1" and
        "cart_lc" start from the best one), or those of a hyperplane ("lda"). Not for "two_probe".
    n_pairs : int, default=None
        For "two_probe": random pairs of features that are searched in each node. None is as many
        as there are features; all pairs if there are not more.
    n_restarts : int, default=20
        For "oc1": hyperplanes that are improved in each node: the axis-aligned one, then random
        ones. The published default.
    n_jumps : int, default=5
        For "oc1": random directions tried where no single weight helps. The published default.
    shrinkage : float, default=0.1
        For "lda": what is added to the variance of each feature in the node, in units of their
        mean.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How features are made comparable, as in :class:`co2forest.CO2ForestClassifier`. Not for
        "axis", whose thresholds are the same in every scale.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`.
    min_impurity_decrease, max_leaf_nodes : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`.
    bootstrap : bool, default=True
        Whether each tree draws its rows with replacement.
    max_samples, class_weight, oob_score, warm_start : optional
        As in :class:`co2forest.CO2ForestClassifier`.
    n_jobs, categorical_features, random_state, verbose : optional
        As in :class:`co2forest.CO2ForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest.baselines import BaselineForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BaselineForestClassifier(5, split="cart_lc", random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        GROWTH_CONSTRAINTS | FOREST_CONSTRAINTS | FOREST_CLASS_WEIGHT | _SPLIT_CONSTRAINTS
    )

    def __init_subclass__(cls, *, split: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if split is not None:
            _fix_split(cls, split)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        split: str = "axis",
        max_features: float | str | None = "sqrt",
        n_pairs: int | None = None,
        n_restarts: int = 20,
        n_jumps: int = 5,
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
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.split = split
        self.max_features = max_features
        self.n_pairs = n_pairs
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.shrinkage = shrinkage
        self.scale = scale
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:  # noqa: ARG002
        return _split_params(self, n_features)

    @property
    def estimators_(self) -> list[Self]:
        """The trees, each as a forest of one tree; made anew on each access."""
        check_is_fitted(self, "_forest")
        return [_single_tree(self, i) for i in range(self._forest.n_trees)]


class BaselineForestRegressor(Regressor, Forest):
    """A random forest with a choice of splits, for one or several numbers.

    Parameters are those of `BaselineForestClassifier`, without ``class_weight`` and what "oc1" and
    "lda" need; ``split`` is "axis" or "two_probe", and all features are searched by default.
    Several outputs count the same, whatever their units.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from co2forest.baselines import BaselineForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(BaselineForestRegressor(10, random_state=0).fit(X, y).score(X, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        GROWTH_CONSTRAINTS
        | FOREST_CONSTRAINTS
        | SCALE_CONSTRAINTS
        | PAIR_CONSTRAINTS
        | {"split": [StrOptions({"axis", "two_probe"})]}
    )

    def __init_subclass__(cls, *, split: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if split is not None:
            _fix_split(cls, split)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        split: str = "axis",
        max_features: float | str | None = 1.0,
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
        categorical_features: Any = "from_dtype",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.split = split
        self.max_features = max_features
        self.n_pairs = n_pairs
        self.scale = scale
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.verbose = verbose

    def _split_params(self, n_features: int, solver: str | None) -> NativeParams:  # noqa: ARG002
        return _split_params(self, n_features)

    @property
    def estimators_(self) -> list[Self]:
        """The trees, each as a forest of one tree; made anew on each access."""
        check_is_fitted(self, "_forest")
        return [_single_tree(self, i) for i in range(self._forest.n_trees)]


class AxisForestClassifier(BaselineForestClassifier, split="axis"):
    """Random forest with axis-aligned splits (Breiman 2001).

    Each node searches the thresholds of ``max_features`` random features exactly for the highest
    information gain, as :class:`sklearn.ensemble.RandomForestClassifier` does with "entropy".
    """


class AxisForestRegressor(BaselineForestRegressor, split="axis"):
    """Random forest with axis-aligned splits for one or several numbers (Breiman 2001).

    Each node searches the thresholds of ``max_features`` random features exactly for the largest
    decrease of the squared error, as :class:`sklearn.ensemble.RandomForestRegressor` does.
    """


class TwoProbeForestClassifier(BaselineForestClassifier, split="two_probe"):
    """Random forest whose splits compare two features (Shotton et al. 2013).

    Of ``n_pairs`` random pairs of features, a node takes the one whose difference, against the
    best threshold, has the highest information gain.
    """


class TwoProbeForestRegressor(BaselineForestRegressor, split="two_probe"):
    """Random forest for one or several numbers whose splits compare two features.

    It is `TwoProbeForestClassifier` with the squared error in place of the information gain.
    """


class OC1ForestClassifier(BaselineForestClassifier, split="oc1"):
    """Forest of OC1 trees (Murthy, Kasif, Salzberg 1994), as the CO2 paper compares with.

    A node starts from the best axis-aligned split and improves one weight after the other by exact
    searches, then random directions, then starts again from random hyperplanes. It does not scale:
    a node takes hundreds of passes, and a pass as many sorts as there are features.
    """


class CARTLCForestClassifier(BaselineForestClassifier, split="cart_lc"):
    """Forest of CART-LC trees (Breiman, Friedman, Olshen, Stone 1984).

    A node starts from the best axis-aligned split and improves one weight after the other, turning
    about three points of each feature, until no step helps. It has no restarts.
    """


class LDAForestClassifier(BaselineForestClassifier, split="lda"):
    """Oblique random forest with discriminants, after Menze et al. (ECML PKDD 2011).

    A node puts the classes into two random groups and tells them apart by a regularised linear
    discriminant of ``max_features`` random features, with the best threshold.
    """
