"""What single trees do alike, whatever they predict, and how they come out of a forest."""

from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest._base import BaseCO2, draw_seed, everything, unchanged_on_failure
from co2forest._forest import BaseForest
from co2forest.exceptions import ModelFormatError


class SingleTree(BaseCO2):
    """An estimator around a native forest of one tree."""

    random_state: int | np.random.RandomState | None

    def _fit_tree(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with unchanged_on_failure(self):
            data, meaning = self._validate_training(X, y, sample_weight)
            self._train(data, everything(data), draw_seed(self.random_state), n_trees=1)
            self._set_meaning(meaning)
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


_Tree = TypeVar("_Tree", bound=SingleTree)
_FITTED = ("n_features_in_", "feature_names_in_", "scale_")


def fill_tree(tree: _Tree, forest: BaseForest, i: int, fitted: tuple[str, ...]) -> _Tree:
    """Make a new tree the fitted tree ``i`` of a forest, with the attributes that are named."""
    for name in _FITTED + fitted:
        if hasattr(forest, name):
            setattr(tree, name, getattr(forest, name))
    tree._forest = forest._forest.tree(i)  # noqa: SLF001
    tree.n_iter_ = forest.n_iter_[i : i + 1]
    return tree
