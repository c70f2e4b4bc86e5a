"""Quantiles from the training targets of the leaves: quantile regression forests.

N. Meinshausen, "Quantile Regression Forests", JMLR 7, 2006. A training row weighs in a prediction
what it weighs in the leaf of each tree, averaged over the trees.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._regression import BaseCO2Regressor
from co2forest._rows import TrainingSet
from co2forest._stored import Fields
from co2forest.exceptions import ModelFormatError

_MOST_ENTRIES = 10_000_000  # of a matrix: 120 MB
_MOST_ROWS = 1000  # whose sums are searched together: rounding grows with them
_ROUNDING = 1e-9  # of a sum of weights that is one


class KeepsTargets(BaseCO2Regressor):
    """A regressor that can keep, for each tree, in which leaf each training row lies."""

    keep_targets: bool
    _kept_targets: npt.NDArray[np.float64]  # rows x outputs, in units of y
    _kept_weights: npt.NDArray[np.float64]  # of rows
    _kept_leaves: npt.NDArray[Any]  # trees x rows; uint16 or uint32

    def _keep(self, data: TrainingSet, n_earlier: int) -> None:
        """Keep the targets after a fit; trees before ``n_earlier`` have kept theirs."""
        if data.original is None:
            for name in ("_kept_targets", "_kept_weights", "_kept_leaves"):
                if hasattr(self, name):  # of an earlier fit
                    delattr(self, name)
            return
        forest = self._forest
        begin = forest.arrays()["tree_begin"]
        most = int(np.diff(begin).max())
        dtype = np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32
        leaves = forest.apply(data.rows, self._n_threads())[:, n_earlier:].T.astype(dtype)
        if n_earlier:
            leaves = np.concatenate([self._kept_leaves.astype(dtype), leaves])
        self._kept_leaves = np.ascontiguousarray(leaves)
        self._kept_targets, self._kept_weights = data.original, _weights_of(data)

    def _take_kept(self, forest: "KeepsTargets", i: int) -> None:
        """Keep what a forest has kept for its tree ``i``, with its draws as weights."""
        if hasattr(forest, "_kept_leaves"):
            self._kept_targets = forest._kept_targets  # noqa: SLF001
            self._kept_weights = forest._kept_weights * forest._draw_counts(i)  # noqa: SLF001
            self._kept_leaves = forest._kept_leaves[i : i + 1]  # noqa: SLF001

    def _check_kept(self, data: TrainingSet, sampling: _native.SamplingParams) -> None:
        """Raise if a warm start would mix the targets of different rows."""
        if data.original is None:
            return
        same = (
            hasattr(self, "_kept_targets")
            and getattr(self, "_sampling_used", None) == (sampling.bootstrap, sampling.n_draws)
            and np.array_equal(self._kept_targets, data.original)
            and np.array_equal(self._kept_weights, _weights_of(data))
        )
        if not same:
            raise ValueError(
                "keep_targets=True with warm_start=True needs the y, sample_weight, bootstrap and "
                "max_samples of the first fit, and keep_targets=True there"
            )

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.1, 0.5, 0.9)
    ) -> npt.NDArray[np.float64]:
        """Quantiles of the targets that are likely for each row.

        A training row weighs what it weighs in the leaf that the row reaches, averaged over trees
        (Meinshausen 2006). The quantile is the least training target with at least that part of the
        weight at or below it. The loss in training does not matter for what is estimated.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.
        quantiles : float or sequence of float, default=(0.1, 0.5, 0.9)
            Each from 0 to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_outputs, n_quantiles)
            A single number as ``quantiles`` gives an array without the last axis.
        """
        check_is_fitted(self)
        levels = _checked_levels(quantiles)
        if not hasattr(self, "_kept_leaves"):
            raise ValueError(
                f"predict_quantiles needs the training targets: fit {type(self).__name__} with "
                "keep_targets=True, and the last fit did not have that"
            )
        leaves = self._leaves(X)
        n_rows, n_outputs = self._kept_targets.shape
        result = np.empty((len(leaves), n_outputs, levels.size))
        order = np.argsort(self._kept_targets, axis=0, kind="stable")
        groups = list(self._groups_of_trees())
        members = [self._members(group) for group in groups[:1]]  # mostly the only one
        block = max(1, min(_MOST_ROWS, _MOST_ENTRIES // n_rows))
        for begin in range(0, len(leaves), block):
            rows = slice(begin, begin + block)
            weight = self._reached(leaves[rows], groups[0]) @ members[0]
            for group in groups[1:]:
                weight = weight + self._reached(leaves[rows], group) @ self._members(group)
            for t in range(n_outputs):
                result[rows, t] = _quantiles(
                    weight, order[:, t], self._kept_targets[:, t], levels.ravel()
                )
        if self._one_dimensional:
            result = result[:, 0]
        return result[..., 0] if levels.ndim == 0 else result

    def _groups_of_trees(self) -> Iterator[range]:
        n_trees, n_rows = self._kept_leaves.shape
        size = max(1, _MOST_ENTRIES // n_rows)
        for begin in range(0, n_trees, size):
            yield range(begin, min(begin + size, n_trees))

    def _members(self, trees: range) -> sp.csr_array:
        """Nodes of some trees x training rows: the part of a leaf's weight that each row has."""
        node, row, part = [], [], []
        begin = self._forest.arrays()["tree_begin"]
        for tree in trees:
            weight = self._kept_weights * self._draw_counts(tree)
            drawn = np.flatnonzero(weight > 0)
            leaf = self._kept_leaves[tree][drawn]
            total = np.bincount(leaf, weight[drawn])
            node.append(leaf + (begin[tree] - begin[trees.start]))
            row.append(drawn)
            part.append(weight[drawn] / total[leaf])
        shape = (int(begin[trees.stop] - begin[trees.start]), len(self._kept_weights))
        entries = np.concatenate(part), (np.concatenate(node), np.concatenate(row))
        return sp.csr_array(sp.coo_array(entries, shape=shape))

    def _reached(self, leaves: npt.NDArray[np.int64], trees: range) -> sp.csr_array:
        """Rows x nodes of some trees: one where the row ends."""
        begin = self._forest.arrays()["tree_begin"]
        first = begin[trees.start : trees.stop] - begin[trees.start]
        node = (leaves[:, trees.start : trees.stop] + first).ravel()
        shape = (len(leaves), int(begin[trees.stop] - begin[trees.start]))
        row_begin = np.arange(len(leaves) + 1) * len(trees)
        return sp.csr_array((np.ones(len(node)), node, row_begin), shape=shape)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        if hasattr(self, "_kept_leaves"):
            arrays |= {
                "kept_targets": self._kept_targets,
                "kept_weights": self._kept_weights,
                "kept_leaves": self._kept_leaves,
            }
        return fields, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        if "kept_leaves" in fields:
            self._kept_leaves = fields.any_array("kept_leaves")
            self._kept_targets = fields.any_array("kept_targets")
            self._kept_weights = fields.any_array("kept_weights")

    def _check_consistency(self) -> None:
        super()._check_consistency()
        if not hasattr(self, "_kept_leaves"):
            return
        leaves, targets, weights = self._kept_leaves, self._kept_targets, self._kept_weights
        n_rows, begin = len(weights), self._forest.arrays()["tree_begin"]
        expected = getattr(self, "_drawn_from", n_rows)
        if (
            n_rows != expected
            or leaves.shape != (self._forest.n_trees, n_rows)
            or targets.shape != (n_rows, self._forest.n_outputs)
            or weights.shape != (n_rows,)
            or leaves.dtype not in (np.uint16, np.uint32)
            or not targets.dtype == weights.dtype == np.float64
        ):
            raise ModelFormatError(
                "the kept targets, weights and leaves do not fit each other and the forest"
            )
        if not (np.isfinite(targets).all() and np.isfinite(weights).all() and (weights >= 0).all()):
            raise ModelFormatError("kept targets must be finite, and weights not negative")
        if n_rows == 0 or (leaves >= np.diff(begin)[:, None]).any():
            raise ModelFormatError("a kept leaf is not a node of its tree")


def _weights_of(data: TrainingSet) -> npt.NDArray[np.float64]:
    return data.weights.astype(np.float64) if len(data.weights) else np.ones(data.rows.count)


def _checked_levels(quantiles: Any) -> npt.NDArray[np.float64]:
    try:
        levels = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim > 1 or levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            "quantiles must be a number from 0 to 1 or a sequence of such numbers, "
            f"got {quantiles!r}"
        )
    return levels


def _quantiles(
    weight: sp.csr_array,
    order: npt.NDArray[np.intp],
    targets: npt.NDArray[np.float64],
    levels: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Weighted quantiles of the targets for each row of weights; NaN for a row without any."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    entries = (weight.data, rank[weight.indices], weight.indptr)
    ranked = sp.csr_array(entries, shape=weight.shape, copy=True)
    ranked.sort_indices()  # in place
    begin, end = ranked.indptr[:-1].astype(np.int64), ranked.indptr[1:].astype(np.int64)
    row = np.repeat(np.arange(len(begin)), end - begin)
    total = np.bincount(row, ranked.data, minlength=len(begin))
    # Row i has its parts in (i, i + 1], so that one search serves all rows.
    parts = np.cumsum(ranked.data / total[row])
    before = np.concatenate([[0.0], parts])[begin]
    within = parts - before[row] + row
    found = np.searchsorted(within, np.arange(len(begin))[:, None] + levels - _ROUNDING)
    known = end > begin
    result = np.full((len(begin), len(levels)), np.nan)
    place = np.clip(found, begin[:, None], end[:, None] - 1)[known]
    result[known] = targets[order][ranked.indices[place]]
    return result
