"""What the forest and the tree share: training, traversal, importances."""

import contextlib
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from co2forest import _native
from co2forest._parameters import native_grow_params, native_scaling
from co2forest._progress import ProgressBar
from co2forest._rows import ROW_DTYPES, native_rows

_NO_MEAN = np.empty(0, dtype=np.float32)


class BaseCO2(BaseEstimator):
    """An estimator around a native forest; subclasses know what its outputs mean."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _forest: _native.Forest

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _validate_rows(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=list(ROW_DTYPES),
            order="C",
            ensure_all_finite="allow-nan",
        )

    def _rows_to_predict(self, X: Any) -> _native.Rows:
        check_is_fitted(self)
        return native_rows(self._validate_rows(X, reset=False))

    def _n_threads(self) -> int:
        return int(effective_n_jobs(getattr(self, "n_jobs", None)))

    def _train(
        self,
        rows: _native.Rows,
        labels: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float32],
        n_classes: int,
        sampling: _native.SamplingParams,
        *,
        seed: int,
        n_trees: int,
        earlier: _native.Forest | None = None,
    ) -> tuple[_native.Forest, npt.NDArray[np.float64]]:
        """Train trees; returns them, behind earlier ones, and the steps per optimised node."""
        params = _native.TrainParams()
        params.grow = native_grow_params(self, rows.count, rows.features)
        params.scaling = native_scaling(self.scale)
        params.sampling = sampling
        params.seed = seed
        params.first_tree = 0 if earlier is None else earlier.n_trees
        params.n_trees = n_trees
        params.n_threads = self._n_threads()
        mean = _NO_MEAN if earlier is None else np.array(earlier.arrays()["mean"])
        bar = ProgressBar(n_trees) if getattr(self, "verbose", 0) else contextlib.nullcontext()
        with bar as progress:
            forest, statistics = _native.train(
                rows, labels, weights, n_classes, mean, params, progress
            )
        if earlier is not None:
            forest = _native.Forest.concatenate([earlier, forest])
        steps = np.array([steps / max(nodes, 1) for steps, nodes in statistics])
        return forest, steps

    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        return self._forest.apply(self._rows_to_predict(X), self._n_threads())

    def _decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes, all trees side by side, and where each tree begins."""
        leaves = self._leaves(X)
        arrays = self._forest.arrays()
        tree_begin = arrays["tree_begin"]
        parent = _parents(arrays["left"], tree_begin)
        node = leaves + tree_begin[:-1]  # (rows, trees), absolute
        rows = np.broadcast_to(np.arange(len(leaves))[:, None], node.shape)
        row_parts, node_parts = [], []
        row, node = rows.ravel(), node.ravel()
        while len(node):
            row_parts.append(row)
            node_parts.append(node)
            going_on = parent[node] >= 0
            row, node = row[going_on], parent[node[going_on]]
        row, node = np.concatenate(row_parts), np.concatenate(node_parts)
        shape = (len(leaves), int(tree_begin[-1]))
        indicator = sp.csr_array((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)
        return indicator, np.array(tree_begin)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Part of the decrease of impurity that each feature accounts for; the sum is one.

        The decrease that a hyperplane brings is shared among its features in proportion to
        ``abs(weight) * standard deviation``, which does not depend on their units. It is averaged
        over trees. All zeros if no tree has a split.
        """
        check_is_fitted(self)
        return self._forest.importances()


def _parents(
    left: npt.NDArray[np.int32], tree_begin: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The absolute number of each node's parent; -1 for roots."""
    root = np.repeat(tree_begin[:-1], np.diff(tree_begin))
    parent = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    child = root[inner] + left[inner]
    parent[child] = inner
    parent[child + 1] = inner
    return parent
