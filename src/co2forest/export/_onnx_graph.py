# SPDX-License-Identifier: BSD-3-Clause
"""The walk through the trees of a forest, as ONNX operators.

Trees are walked in groups, the trees of a group in lockstep. Where a row stands in a tree is one
number: below the number of different leaves of the group it is a leaf, which a row never leaves;
the others are inner nodes of the stage that comes next. A stage takes one of three forms:

- few nodes: a matrix product tells the side of every node at once, and a step is a lookup, so that
  several levels share one product;
- many nodes: the weights of the nodes where the rows stand are gathered and multiplied;
- hyperplanes of few features: these features of the rows are gathered, too.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from co2forest.models.trees import widen
from co2forest.models.view import ModelView

MOST_BYTES = 2**31 - 1  # protobuf cannot serialise more

# Types of tensors, here because onnx may not be installed.
FLOAT, INT64, DOUBLE = 1, 7, 11

_Array = npt.NDArray[Any]
_Form = Literal["product", "gathered", "listed"]

# Numbers per row that the largest tensor of a group of trees has, about: 64 KB of memory for a row.
# Twice as many made a single row of 784 features a quarter faster, half as many took 1.5 times;
# batches, and rows of 64 features, took the same time.
GROUP_NUMBERS = 2**14
# Nodes per tree up to which a level is a matrix product with all of them. Against gathering weights
# everywhere, 100 trees on digits take 0.4 of the time in batches and 0.6 for a single row. With 32
# a batch of rows of 784 features takes 0.7 of its time, but a single one twice its time.
PRODUCT_NODES = 8
# Levels whose hyperplanes use at most this fraction of the features list them: 8 bytes, not 4.
LISTED_PART = 1 / 8


@dataclass(frozen=True)
class Operator:
    """An operator with one output."""

    type: str
    inputs: tuple[str, ...]
    output: str
    name: str
    attributes: dict[str, Any]


class Graph:
    """Operators and constants of a graph in the making; their names begin with a prefix."""

    def __init__(self, prefix: str = "", *, bfloat16: bool = False) -> None:
        self.operators: list[Operator] = []
        self.constants: dict[str, _Array] = {}  # uint16 stands for bfloat16
        self._prefix = prefix
        self._bfloat16 = bfloat16
        self._n_bytes = 0  # of the constants, and about that of the operators
        self._used: Counter[str] = Counter()

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Append an operator; returns the name of its output."""
        name = self._unique(kind)
        output = output or f"{name}_out"
        self._grow(200)
        self.operators.append(Operator(kind, inputs, output, name, attributes))
        return output

    def constant(self, name: str, values: Any, dtype: Any = None) -> str:
        """Append an array of constants; returns its name."""
        name = self._unique(name)
        self.constants[name] = np.asarray(values, dtype=dtype)
        self._grow(self.constants[name].nbytes + 100)
        return name

    def weights(self, values: npt.NDArray[np.uint16]) -> str:
        """Append weights as a forest stores them; returns the name of the float32 tensor."""
        if self._bfloat16:
            return self.add("Cast", self.constant("weights", values), to=FLOAT)
        return self.constant("weights", widen(values))

    def _grow(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > MOST_BYTES:
            raise ValueError(
                f"the model would be larger than {MOST_BYTES / 1e9:.1f} GB, which an ONNX file can "
                "have at most; fewer trees or a smaller max_depth would help, and bfloat16=True, "
                "if it is not set"
            )

    def _unique(self, name: str) -> str:
        self._used[name] += 1
        return f"{self._prefix}{name}_{self._used[name]}"


@dataclass
class _Stage:
    """Levels that are walked in the same form; nodes are numbered within the group."""

    form: _Form
    levels: list[_Array]  # the inner nodes of each
    n_leaves: int  # different leaves where rows may have stopped before the last level

    @property
    def nodes(self) -> _Array:
        return np.concatenate(self.levels)


class _Group:
    """Consecutive trees of a forest, cut into stages."""

    def __init__(self, view: ModelView, first_tree: int, last_tree: int) -> None:
        self._view = view
        begin = view.arrays["tree_begin"][first_tree : last_tree + 1]
        self._range = slice(int(begin[0]), int(begin[-1]))
        self.n_trees = len(begin) - 1
        roots = begin[:-1] - begin[0]
        left = view.arrays["left"][self._range]
        self._is_leaf = left < 0
        self._left = np.repeat(roots, np.diff(begin)) + left
        self._number = np.empty(len(left), dtype=np.int32)
        levels = list(self._levels(roots))
        self.leaf_values = self._number_leaves(np.concatenate([leaves for _, leaves in levels]))
        self.stages = self._cut(levels)
        for stage in self.stages:
            self._number[stage.nodes] = stage.n_leaves + np.arange(len(stage.nodes))
        self.roots = self._number[roots]

    def _levels(self, nodes: _Array) -> Iterator[tuple[_Array, _Array]]:
        """Inner nodes and leaves of each depth."""
        while len(nodes):
            is_leaf = self._is_leaf[nodes]
            inner = nodes[~is_leaf]
            yield inner, nodes[is_leaf]
            nodes = np.concatenate([self._left[inner], self._left[inner] + 1])

    def _number_leaves(self, leaves: _Array) -> _Array:
        """Number the different leaves, and return their values. Many pure leaves are identical."""
        view = self._view
        stored, leaf = _flat(*self._offsets("value_begin", leaves))
        values = np.zeros((len(leaves), view.n_outputs), dtype=np.float32)
        values[leaf, view.arrays["value_output"][stored]] = view.arrays["value"][stored]
        if view.distributions:
            # Added one after the other, like everywhere in the library, to get the same bits.
            values = values.astype(np.float64)
            values /= values.cumsum(axis=1)[:, -1:]
        _, first, same_as = np.unique(values, axis=0, return_index=True, return_inverse=True)
        by_depth = np.argsort(first)
        self._number[leaves] = np.argsort(by_depth)[same_as.reshape(-1)]
        return values[first[by_depth]]

    def _cut(self, levels: list[tuple[_Array, _Array]]) -> list[_Stage]:
        stages: list[_Stage] = []
        n_leaves = 0
        for inner, leaves in levels[:-1]:  # below the last there is nothing to decide
            n_leaves = max(n_leaves, int(self._number[leaves].max(initial=-1)) + 1)
            form = self._form(inner, n_leaves)
            if form == "product" and stages and stages[-1].form == "product":
                stages[-1].levels.append(inner)
                stages[-1].n_leaves = n_leaves
            else:
                stages.append(_Stage(form, [inner], n_leaves))
        return stages

    def _form(self, nodes: _Array, n_leaves: int) -> _Form:
        if self._offsets("weight_begin", nodes)[1].max() <= LISTED_PART * self._view.n_features:
            return "listed"
        is_small = len(nodes) <= PRODUCT_NODES * self.n_trees
        # A product has a column for each leaf, too.
        fits = n_leaves <= _numbers_per_tree(self._view) * self.n_trees
        return "product" if is_small and fits else "gathered"

    def children(self, nodes: _Array) -> tuple[_Array, _Array]:
        """Where rows stand that go to the left and to the right."""
        return self._number[self._left[nodes]], self._number[self._left[nodes] + 1]

    def thresholds(self, nodes: _Array) -> npt.NDArray[np.float32]:
        thresholds: npt.NDArray[np.float32] = self._view.arrays["threshold"][self._range][nodes]
        return thresholds

    def dense_weights(self, nodes: _Array) -> npt.NDArray[np.uint16]:
        """A row of weights for each node."""
        arrays = self._view.arrays
        weights = np.zeros((len(nodes), self._view.n_features), dtype=np.uint16)
        first, size = self._offsets("weight_begin", nodes)
        first_feature, n_listed = self._offsets("feature_begin", nodes)
        all_of_them = n_listed == 0
        stored, _ = _flat(first[all_of_them], size[all_of_them])
        weights[all_of_them] = arrays["weight"][stored].reshape(-1, self._view.n_features)
        stored, row = _flat(first[~all_of_them], size[~all_of_them])
        listed, _ = _flat(first_feature[~all_of_them], n_listed[~all_of_them])
        place = np.flatnonzero(~all_of_them)[row], arrays["feature"][listed]
        weights[place] = arrays["weight"][stored]
        return weights

    def listed_weights(self, nodes: _Array) -> tuple[_Array, npt.NDArray[np.uint16]]:
        """Features and weights of each node, filled up with zeros."""
        first, size = self._offsets("weight_begin", nodes)
        first_feature, n_listed = self._offsets("feature_begin", nodes)
        features = np.zeros((len(nodes), size.max()), dtype=np.int32)
        weights = np.zeros(features.shape, dtype=np.uint16)
        filled = np.arange(features.shape[1]) < size[:, None]
        weights[filled] = self._view.arrays["weight"][_flat(first, size)[0]]
        features[filled] = self._view.arrays["feature"][_flat(first_feature, n_listed)[0]]
        return features, weights

    def _offsets(self, name: str, nodes: _Array) -> tuple[_Array, _Array]:
        """Where the items of each node begin, and their number."""
        begin = self._view.arrays[name]
        nodes = nodes + self._range.start
        return begin[nodes], begin[nodes + 1] - begin[nodes]


def _flat(first: _Array, size: _Array) -> tuple[_Array, _Array]:
    """The positions of several ranges, one after the other, and the range of each."""
    which = np.repeat(np.arange(len(first)), size)
    before = np.cumsum(size) - size
    return first[which] + np.arange(len(which)) - before[which], which


def _numbers_per_tree(view: ModelView) -> int:
    """Numbers per row and tree: weights, outputs in float64, or the nodes of a product."""
    return max(view.n_features, 2 * view.n_outputs, 8 * PRODUCT_NODES)


def _groups(view: ModelView) -> Iterator[_Group]:
    n_trees = view.n_trees
    size = max(1, GROUP_NUMBERS // _numbers_per_tree(view))
    for first in range(0, n_trees, size):
        yield _Group(view, first, min(n_trees, first + size))


class _Walk:
    """Adds the operators that bring rows to their leaves."""

    def __init__(self, graph: Graph, rows: str) -> None:
        self._graph = graph
        self._rows = rows
        one = graph.constant("one", [1], np.int64)
        count = graph.add("Slice", graph.add("Shape", rows), graph.constant("zero", [0]), one)
        self._column = graph.add("Concat", count, one, axis=0)  # the shape of a column of rows
        self._rows_as_columns: str | None = None

    def leaves(self, group: _Group) -> str:
        """The leaf of each row in each tree."""
        position = self._for_all_rows(group.roots)
        for stage in group.stages:
            if stage.form == "product":
                position = self._walk_products(group, stage, position)
            else:
                position = self._step(group, stage, position)
        return position

    def _for_all_rows(self, positions: _Array) -> str:
        g = self._graph
        return g.add("Expand", g.constant("positions", positions[None], np.int32), self._column)

    def _walk_products(self, group: _Group, stage: _Stage, position: str) -> str:
        g = self._graph
        nodes = stage.nodes
        left, right = group.children(nodes)
        weights = g.weights(np.ascontiguousarray(group.dense_weights(nodes).T))
        goes_right = g.add(
            "GreaterOrEqual",
            g.add("MatMul", self._rows, weights),
            g.constant("thresholds", group.thresholds(nodes)),
        )
        following = g.add("Where", goes_right, g.constant("right", right), g.constant("left", left))
        if stage.n_leaves > 0:
            stay = self._for_all_rows(np.arange(stage.n_leaves))
            following = g.add("Concat", stay, following, axis=1)
        for _ in stage.levels:
            position = g.add("GatherElements", following, position, axis=1)
        return position

    def _step(self, group: _Group, stage: _Stage, position: str) -> str:
        """One level; row 0 of its tables serves all that are in a leaf."""
        g = self._graph
        nodes = stage.nodes
        leaves = np.arange(stage.n_leaves)
        left, right = (np.concatenate([leaves, child]) for child in group.children(nodes))
        node = g.add("Sub", position, g.constant("last_leaf", stage.n_leaves - 1, np.int32))
        node = g.add("Max", node, g.constant("in_leaf", 0, np.int32))
        project = self._project_listed if stage.form == "listed" else self._project
        goes_right = g.add(
            "GreaterOrEqual",
            project(group, nodes, node),
            g.add("Gather", g.constant("thresholds", _padded(group.thresholds(nodes))), node),
        )
        return g.add(
            "Where",
            goes_right,
            g.add("Gather", g.constant("right", right, np.int32), position),
            g.add("Gather", g.constant("left", left, np.int32), position),
        )

    def _project(self, group: _Group, nodes: _Array, node: str) -> str:
        g = self._graph
        if self._rows_as_columns is None:
            self._rows_as_columns = g.add("Unsqueeze", self._rows, g.constant("last_axis", [2]))
        weights = g.add("Gather", g.weights(_padded(group.dense_weights(nodes))), node)
        product = g.add("MatMul", weights, self._rows_as_columns)
        return g.add("Squeeze", product, g.constant("last_axis", [2]))

    def _project_listed(self, group: _Group, nodes: _Array, node: str) -> str:
        g = self._graph
        features, weights = (_padded(table) for table in group.listed_weights(nodes))
        chosen = g.add("Gather", g.constant("features", features), node)
        flat = g.add("Flatten", chosen, axis=1)
        values = g.add("GatherElements", self._rows, flat, axis=1)
        values = g.add("Reshape", values, g.add("Shape", chosen))
        products = g.add("Mul", values, g.add("Gather", g.weights(weights), node))
        return g.add("ReduceSum", products, g.constant("last_axis", [2]), keepdims=0)


def _padded(table: _Array) -> _Array:
    """A table with a first row of zeros."""
    return np.concatenate([np.zeros_like(table[:1]), table])


def add_mean_of_leaves(graph: Graph, view: ModelView, rows: str) -> str:
    """Add the operators of a forest; returns the name of the mean of its trees, in float64."""
    mean = graph.constant("mean", view.arrays["mean"])
    rows = graph.add("Where", graph.add("IsNaN", rows), mean, rows)
    walk = _Walk(graph, rows)
    trees = graph.constant("trees", 1, np.int64)  # the axis
    total: list[str] = []  # of all trees before; none at first
    for group in _groups(view):
        values = graph.constant("leaf_values", group.leaf_values)
        values = graph.add("Gather", values, walk.leaves(group))
        if group.leaf_values.dtype != np.float64:
            values = graph.add("Cast", values, to=DOUBLE)
        terms = graph.add("Concat", *total, values, axis=1) if total else values
        # In the order of trees, like the library: a sum in another order might break a tie
        # between classes in another way.
        sums = graph.add("CumSum", terms, trees)
        last = graph.constant("last", [len(total) + group.n_trees - 1])
        total = [graph.add("Gather", sums, last, axis=1)]
    flat = graph.add("Squeeze", *total, graph.constant("trees", [1]))
    return graph.add("Div", flat, graph.constant("n_trees", view.n_trees, np.float64))
