"""What the baselines share: the parameters of a random forest."""

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from co2forest._classification import BaseForestClassifier
from co2forest._forest import BaseForest
from co2forest._parameters import (
    FOREST_CLASS_WEIGHT,
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    Constraints,
)
from co2forest._regression import BaseForestRegressor


class TreesOfTheSameKind(BaseForest):
    """A forest whose trees, seen on their own, are forests of one tree."""

    @property
    def estimators_(self) -> list[Self]:
        """The trees, each as a forest of one tree; made anew on each access."""
        check_is_fitted(self, "_forest")
        return [self._tree(i) for i in range(self._forest.n_trees)]

    def _tree(self, i: int) -> Self:
        tree = copy(self)
        tree.n_estimators = 1
        tree._first_tree = self._first_tree + i  # noqa: SLF001 (which rows it drew)
        tree.warm_start = False  # trees that it added would be numbered from here
        for name in ("oob_score_", self._oob_name):  # of all trees together
            if hasattr(tree, name):
                delattr(tree, name)
        tree._forest = self._forest.tree(i)  # noqa: SLF001
        tree.n_iter_ = self.n_iter_[i : i + 1]
        return tree


class BaselineClassifier(BaseForestClassifier, TreesOfTheSameKind):
    """The parameters of scikit-learn's random forest for classes."""

    _parameter_constraints: ClassVar[Constraints] = (
        GROWTH_CONSTRAINTS | FOREST_CONSTRAINTS | FOREST_CLASS_WEIGHT
    )

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: float | str | None = "sqrt",
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
        self.n_estimators = n_estimators
        self.max_features = max_features
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
        self.random_state = random_state
        self.verbose = verbose


class BaselineRegressor(BaseForestRegressor, TreesOfTheSameKind):
    """The parameters of scikit-learn's random forest for numbers."""

    _parameter_constraints: ClassVar[Constraints] = GROWTH_CONSTRAINTS | FOREST_CONSTRAINTS

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: float | str | None = 1.0,
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
        self.n_estimators = n_estimators
        self.max_features = max_features
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
        self.random_state = random_state
        self.verbose = verbose
