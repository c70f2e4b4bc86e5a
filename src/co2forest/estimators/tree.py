# SPDX-License-Identifier: BSD-3-Clause
"""A single tree, whatever it predicts."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest.data.outputs.base import Outputs
from co2forest.data.training_set import TrainingSet
from co2forest.estimators.model import Model
from co2forest.exceptions import ModelFormatError
from co2forest.fitting.decide import decide_tree
from co2forest.fitting.grow import grow_forest
from co2forest.fitting.plan import Plan
from co2forest.fitting.trees import Grown


class Tree(Model):
    """An estimator around a native forest of one tree, which gets every row."""

    random_state: int | np.random.RandomState | None

    _decide = decide_tree
    _grow = grow_forest

    def _keep(self, outputs: Outputs, data: TrainingSet, plan: Plan, grown: Grown) -> Self:
        self._outputs, self.scale_ = outputs, plan.scale
        self._column_views = data.column_views
        self._forest, self.n_iter_ = grown.forest, grown.steps
        if plan.solver is not None:
            self.solver_ = plan.solver
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
