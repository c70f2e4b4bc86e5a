"""A fitted forest as people look at it: names, units of y, and a value for every node."""

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest._native import ValueLossKind
from co2forest._rows import native_rows
from co2forest._targets import impurity_unit
from co2forest.export._fitted import Classes, FittedForest, Labels, Numbers, widen

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """How the numbers in leaves become what a forest says, and what that is.

    An output is ``start + part * sum over trees of (scale * number + offset)``.
    """

    kind: str  # "classes", "labels", "numbers", "scores" or "logarithms"
    start: Floats  # of each output
    part: float  # of a tree: one of boosting, else 1 / number of trees
    offset: Floats
    scale: Floats

    @classmethod
    def of(cls, fitted: FittedForest) -> Self:
        nothing, one = np.zeros(fitted.n_outputs), np.ones(fitted.n_outputs)
        meaning, start = fitted.meaning, fitted.start
        if start is None:
            part = 1 / fitted.n_trees
            if isinstance(meaning, Numbers):
                return cls("numbers", nothing, part, meaning.offset, meaning.unit)
            kind = "classes" if isinstance(meaning, Classes) else "labels"
            return cls(kind, nothing, part, nothing, one)
        if not isinstance(meaning, Numbers):
            temperature = getattr(meaning, "temperature", None) or 1.0
            return cls("scores", start * temperature, 1.0, nothing, one * temperature)
        if meaning.exponential:  # counts have no offset
            return cls("logarithms", start + np.log(meaning.unit), 1.0, nothing, one)
        return cls("numbers", start * meaning.unit + meaning.offset, 1.0, nothing, meaning.unit)


@dataclass(frozen=True)
class TreeView:
    """Arrays over the nodes of one tree: node 0 is the root, every child comes after its parent."""

    left: npt.NDArray[np.int32]  # the left child, the right one is its neighbour; -1: a leaf
    parent: npt.NDArray[np.int64]  # -1: the root
    depth: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float32]  # right if the projection is at least that
    impurity: Floats  # of the training rows, see ForestView.impurity_name
    weighted_count: Floats
    sample_count: npt.NDArray[np.int32]
    scaled: Floats  # (nodes, outputs): values less the offset, which may be large beside them
    offset: Floats
    n_features: int
    _weight_begin: npt.NDArray[np.int64]
    _weight: npt.NDArray[np.uint16]  # of all trees, bfloat16
    _feature_begin: npt.NDArray[np.int64]
    _feature: npt.NDArray[np.int32]

    @property
    def n_nodes(self) -> int:
        return len(self.left)

    @cached_property
    def values(self) -> Floats:
        """(nodes, outputs): what a node says; an inner one the weighted mean of its leaves."""
        return self.scaled + self.offset

    def is_leaf(self, node: int) -> bool:
        return bool(self.left[node] < 0)

    def hyperplane(self, node: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """The features that a node looks at, increasing, and their weights; none of a leaf."""
        weights = widen(self._weight[self._weight_begin[node] : self._weight_begin[node + 1]])
        listed = self._feature[self._feature_begin[node] : self._feature_begin[node + 1]]
        features = listed if len(listed) else np.flatnonzero(weights)
        weights = weights if len(listed) else weights[features]
        return features.astype(np.int64), weights.astype(np.float64)

    def projections(self, node: int, rows: Any) -> Floats:
        """How far rows of `ForestView.rows` lie from a node's hyperplane; right is positive.

        In another order of sums than the core's, whose decision alone counts on the plane itself.
        """
        features, weights = self.hyperplane(node)
        if sp.issparse(rows):
            plane = np.zeros(self.n_features)
            plane[features] = weights
            products = rows @ plane
        else:
            products = rows[:, features] @ weights
        distances: Floats = np.asarray(products, dtype=np.float64) - self.threshold[node]
        return distances

    def path(self, node: int) -> list[int]:
        """The nodes from the root to this one."""
        nodes = [int(node)]
        while (parent := int(self.parent[nodes[-1]])) >= 0:
            nodes.append(parent)
        return nodes[::-1]


@dataclass(frozen=True)
class ForestView:
    """A fitted model, seen for people."""

    model: Any  # as given: an estimator, or a TableModel around one
    estimator: Any
    fitted: FittedForest
    units: Units
    feature_names: list[str]
    output_names: list[str]  # of classes, or of what else is predicted

    @classmethod
    def of(cls, model: Any) -> Self:
        """Look at a fitted estimator or TableModel; a TypeError if it is none of this library."""
        from co2forest.tables import TableModel  # imports the estimators in turn

        of_table = isinstance(model, TableModel)
        if of_table:
            check_is_fitted(model)
        estimator = model.estimator_ if of_table else model
        fitted = FittedForest.of(estimator)
        if of_table:
            names = model.encoder_.get_feature_names_out()
        else:
            names = getattr(estimator, "feature_names_in_", None)
        return cls(
            model,
            estimator,
            fitted,
            Units.of(fitted),
            [f"x{j}" for j in range(fitted.n_features)] if names is None else list(map(str, names)),
            _output_names(fitted, model.target_ if of_table else "y"),
        )

    @property
    def kind(self) -> str:
        """What trees say: "classes" and "labels" have probabilities, "numbers" are in units of y.

        Of boosting also "scores", whose softmax are the probabilities of classes, and
        "logarithms", of counts.
        """
        return self.units.kind

    @property
    def n_trees(self) -> int:
        return self.fitted.n_trees

    @property
    def n_outputs(self) -> int:
        return self.fitted.n_outputs

    @property
    def n_features(self) -> int:
        return self.fitted.n_features

    @property
    def mean(self) -> Floats:
        """Of each feature in training: what a missing value stands for."""
        return np.asarray(self.fitted.arrays["mean"], dtype=np.float64)

    @property
    def spread(self) -> Floats:
        """Standard deviation of each feature in training."""
        return np.asarray(self.fitted.arrays["spread"], dtype=np.float64)

    @property
    def is_vector(self) -> bool:
        """Whether the prediction of a row is one number, not a vector of them."""
        meaning = self.fitted.meaning
        return isinstance(meaning, Numbers) and meaning.one_dimensional

    @property
    def impurity_name(self) -> str:
        """What nodes have as their impurity."""
        meaning = self.fitted.meaning
        if self.fitted.start is not None:
            return "impurity"  # of gradients
        if isinstance(meaning, Numbers):
            return "variance" if self._loss == "squared" else "loss"
        costs = isinstance(meaning, Classes) and meaning.costs is not None
        return "loss" if costs else "entropy"

    @property
    def _loss(self) -> str:
        """Of numbers, without its level; that of the baselines is the squared error."""
        return str(getattr(self.estimator, "_loss_used", "squared")).split(" ")[0]

    @property
    def _impurity_unit(self) -> float:
        """What an impurity of one stands for: bits, or units of y."""
        meaning = self.fitted.meaning
        if self.fitted.start is not None:
            return 1.0
        if isinstance(meaning, Numbers):
            squares = self._loss in ("squared", "huber")
            kind = ValueLossKind.squared if squares else ValueLossKind.poisson
            return impurity_unit(np.stack([meaning.offset, meaning.unit]), kind)
        several = isinstance(meaning, Labels) or meaning.costs is not None
        per_output = self.n_outputs if isinstance(meaning, Labels) else 1
        return 1 / (log(2) * per_output) if several else 1.0

    @cached_property
    def leaf_numbers(self) -> sp.csr_array:
        """(nodes of all trees, outputs): what a leaf adds to a prediction, before any unit."""
        arrays = self.fitted.arrays
        begin, numbers = arrays["value_begin"], arrays["value"].astype(np.float64)
        if self.fitted.distributions:
            # Divided by their sum as the core does, because float32 sums to one within 1e-7 only.
            node = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
            numbers = numbers / np.bincount(node, numbers, len(begin) - 1)[node]
        shape = (len(begin) - 1, self.n_outputs)
        return sp.csr_array((numbers, arrays["value_output"], begin), shape=shape)

    def tree(self, i: int) -> TreeView:
        """One of the trees."""
        arrays = self.fitted.arrays
        begin, end = (int(node) for node in arrays["tree_begin"][i : i + 2])
        nodes, bounds = slice(begin, end), slice(begin, end + 1)
        left = arrays["left"][nodes]
        parent, depth = _ancestry(left)
        counts = arrays["weighted_count"][nodes]
        numbers = _mean_of_leaves(left, depth, counts, self.leaf_numbers[nodes].toarray())
        return TreeView(
            left,
            parent,
            depth,
            arrays["threshold"][nodes],
            arrays["impurity"][nodes].astype(np.float64) * self._impurity_unit,
            counts,
            arrays["sample_count"][nodes],
            numbers * self.units.scale,
            self.units.offset,
            self.n_features,
            arrays["weight_begin"][bounds],
            arrays["weight"],
            arrays["feature_begin"][bounds],
            arrays["feature"],
        )

    def checked(self, X: Any) -> Any:
        """Rows as the core takes them: float32 or uint8, dense or CSR; NaN where one is missing."""
        if self.model is not self.estimator:
            X = self.model.encoder_.transform(X)
        return self.estimator._validate_rows(X, reset=False)  # noqa: SLF001

    def rows(self, X: Any) -> Any:
        """Checked rows in which NaN is replaced by the training mean; float32, dense or CSR."""
        checked = self.checked(X)
        rows = checked.astype(np.float32, copy=False)
        numbers = rows.data if sp.issparse(rows) else rows
        missing = np.isnan(numbers)
        if not missing.any():
            return rows
        rows = rows.copy()
        mean = self.fitted.arrays["mean"]
        if sp.issparse(rows):
            rows.data[missing] = mean[rows.indices[missing]]
        else:
            rows[missing] = np.broadcast_to(mean, rows.shape)[missing]
        return rows

    def leaves(self, X: Any) -> npt.NDArray[np.int64]:
        """(rows, trees): the leaf that each row reaches, numbered within its tree."""
        return self.leaves_of(self.checked(X))

    def leaves_of(self, checked: Any) -> npt.NDArray[np.int64]:
        """The same for rows that are checked already."""
        rows = native_rows(checked)
        estimator = self.estimator
        threads = estimator._n_threads(rows)  # noqa: SLF001
        leaves: npt.NDArray[np.int64] = estimator._forest.apply(rows, threads)  # noqa: SLF001
        return leaves

    def deviations_of(self, checked: Any) -> Floats:
        """Dense rows less the training mean; zero where a value is missing."""
        dense = checked.toarray() if sp.issparse(checked) else checked
        deviations: Floats = dense.astype(np.float64) - self.mean
        deviations[np.isnan(deviations)] = 0.0
        return deviations

    def outputs_of(self, checked: Any) -> Floats:
        """(rows, outputs): what the forest says of rows that are checked already, in its units."""
        rows, units = native_rows(checked), self.units
        threads = self.estimator._n_threads(rows)  # noqa: SLF001
        mean: Floats = self.estimator._forest.predict(rows, threads)  # noqa: SLF001
        n_parts = 1 if self.fitted.start is None else self.n_trees
        return units.start + n_parts * (mean * units.scale + units.offset)


def _output_names(fitted: FittedForest, target: str) -> list[str]:
    meaning = fitted.meaning
    if isinstance(meaning, Classes):
        return [str(label) for label in meaning.labels]
    if isinstance(meaning, Numbers) and meaning.one_dimensional:
        return [target]
    word = target if isinstance(meaning, Numbers) else "label "
    return [f"{word}{k}" for k in range(fitted.n_outputs)]


def _ancestry(
    left: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parent and the depth of every node."""
    parent = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    parent[left[inner]] = parent[left[inner] + 1] = inner
    depth = np.zeros(len(left), dtype=np.int64)
    level, reached = np.array([0]), 0
    while len(children := left[level[left[level] >= 0]]):
        reached += 1
        level = np.concatenate([children, children + 1])
        depth[level] = reached
    return parent, depth


def _mean_of_leaves(
    left: npt.NDArray[np.int32],
    depth: npt.NDArray[np.int64],
    counts: Floats,
    numbers: Floats,
) -> Floats:
    """Numbers of all nodes from those of the leaves, deepest first."""
    for level in range(int(depth.max()) - 1, -1, -1):
        inner = np.flatnonzero((depth == level) & (left >= 0))
        first = left[inner]
        total = counts[first] + counts[first + 1]
        # Rows without weight alone leave a subtree that counts for nothing, whatever its mean is.
        share = np.divide(counts[first + 1], total, out=np.full(len(inner), 0.5), where=total > 0)
        numbers[inner] = numbers[first] + share[:, None] * (numbers[first + 1] - numbers[first])
    return numbers
