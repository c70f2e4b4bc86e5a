# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles from the training targets of the leaves: quantile regression forests.

N. Meinshausen, "Quantile Regression Forests", JMLR 7, 2006. A training row weighs in a prediction
what it weighs in the leaf of each tree, averaged over the trees.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from co2forest import _native
from co2forest.data.outputs.base import Floats
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields

_MOST_ENTRIES = 10_000_000  # of a matrix: 120 MB
_MOST_ROWS = 1000  # whose sums are searched together: rounding grows with them
_ROUNDING = 1e-9  # of a sum of weights that is one

DrawCounts = Callable[[int], Any]  # how often a tree drew each row


@dataclass(frozen=True, eq=False)
class KeptTargets:
    """The training targets, and the leaf of each tree in which each training row lies."""

    targets: Floats  # rows x outputs, in units of y
    weights: Floats  # of rows
    leaves: npt.NDArray[Any]  # trees x rows; uint16 or uint32

    @classmethod
    def of(
        cls, forest: _native.Forest, data: TrainingSet, earlier: Self | None, n_threads: int
    ) -> Self:
        """Keep the targets after a fit; the first trees may have kept theirs earlier."""
        most = int(np.diff(forest.arrays()["tree_begin"]).max())
        dtype = np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32
        n_earlier = 0 if earlier is None else len(earlier.leaves)
        leaves = forest.apply(data.rows, n_threads)[:, n_earlier:].T.astype(dtype)
        if earlier is not None:
            leaves = np.concatenate([earlier.leaves.astype(dtype), leaves])
        assert data.original is not None  # noqa: S101 (outputs of numbers have them)
        return cls(data.original, _weights_of(data), np.ascontiguousarray(leaves))

    def same_rows(self, data: TrainingSet) -> bool:
        """Whether the targets and weights are those of the data."""
        assert data.original is not None  # noqa: S101 (outputs of numbers have them)
        same_targets = np.array_equal(self.targets, data.original)
        return same_targets and np.array_equal(self.weights, _weights_of(data))

    def tree(self, i: int, counts: Any) -> Self:
        """What one tree has kept, with its draws as weights."""
        return type(self)(self.targets, self.weights * counts, self.leaves[i : i + 1])

    def quantiles(
        self,
        forest: _native.Forest,
        reached: npt.NDArray[np.int64],
        draws: DrawCounts,
        quantiles: Any,
    ) -> Floats:
        """Quantiles for rows that reach the given leaf of each tree: rows, outputs, levels."""
        levels = checked_levels(quantiles).ravel()
        n_rows, n_outputs = self.targets.shape
        result = np.empty((len(reached), n_outputs, levels.size))
        order = np.argsort(self.targets, axis=0, kind="stable")
        begin = forest.arrays()["tree_begin"]
        groups = list(self._groups_of_trees())
        members = self._members(groups[0], begin, draws)  # mostly the only group
        block = max(1, min(_MOST_ROWS, _MOST_ENTRIES // n_rows))
        for first in range(0, len(reached), block):
            rows = slice(first, first + block)
            weight = _reached(reached[rows], groups[0], begin) @ members
            for group in groups[1:]:
                in_leaves = self._members(group, begin, draws)
                weight = weight + _reached(reached[rows], group, begin) @ in_leaves
            for t in range(n_outputs):
                result[rows, t] = _quantiles(weight, order[:, t], self.targets[:, t], levels)
        return result

    def _groups_of_trees(self) -> Iterator[range]:
        n_trees, n_rows = self.leaves.shape
        size = max(1, _MOST_ENTRIES // n_rows)
        for begin in range(0, n_trees, size):
            yield range(begin, min(begin + size, n_trees))

    def _members(
        self, trees: range, begin: npt.NDArray[np.int64], draws: DrawCounts
    ) -> sp.csr_array:
        """Nodes of some trees x training rows: the fraction of a leaf's weight of each row."""
        node, row, fraction = [], [], []
        for tree in trees:
            weight = self.weights * draws(tree)
            drawn = np.flatnonzero(weight > 0)
            leaf = self.leaves[tree][drawn]
            total = np.bincount(leaf, weight[drawn])
            node.append(leaf + (begin[tree] - begin[trees.start]))
            row.append(drawn)
            fraction.append(weight[drawn] / total[leaf])
        shape = (int(begin[trees.stop] - begin[trees.start]), len(self.weights))
        entries = np.concatenate(fraction), (np.concatenate(node), np.concatenate(row))
        return sp.csr_array(sp.coo_array(entries, shape=shape))

    def stored(self) -> dict[str, npt.NDArray[Any]]:
        """What a model file keeps."""
        return {
            "kept_targets": self.targets,
            "kept_weights": self.weights,
            "kept_leaves": self.leaves,
        }

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read what a file has kept."""
        leaves = fields.any_array("kept_leaves")
        return cls(fields.any_array("kept_targets"), fields.any_array("kept_weights"), leaves)

    def check(self, forest: _native.Forest, n_rows: int | None) -> None:
        """Raise unless everything fits the forest, and the rows that its trees drew from."""
        leaves, targets, weights = self.leaves, self.targets, self.weights
        begin = forest.arrays()["tree_begin"]
        n_rows = len(weights) if n_rows is None else n_rows
        if (
            len(weights) != n_rows
            or leaves.shape != (forest.n_trees, n_rows)
            or targets.shape != (n_rows, forest.n_outputs)
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


def _reached(
    leaves: npt.NDArray[np.int64], trees: range, begin: npt.NDArray[np.int64]
) -> sp.csr_array:
    """Rows x nodes of some trees: one where the row ends."""
    first = begin[trees.start : trees.stop] - begin[trees.start]
    node = (leaves[:, trees.start : trees.stop] + first).ravel()
    shape = (len(leaves), int(begin[trees.stop] - begin[trees.start]))
    row_begin = np.arange(len(leaves) + 1) * len(trees)
    return sp.csr_array((np.ones(len(node)), node, row_begin), shape=shape)


def _weights_of(data: TrainingSet) -> npt.NDArray[np.float64]:
    return data.weights.astype(np.float64) if len(data.weights) else np.ones(data.rows.count)


def checked_levels(quantiles: Any) -> Floats:
    """Levels of quantiles; raises unless they are in [0, 1]."""
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
