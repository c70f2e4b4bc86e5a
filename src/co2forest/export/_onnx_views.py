# SPDX-License-Identifier: BSD-3-Clause
"""The features that trees see of columns, as ONNX operators: those of one kind at once."""

import numpy as np
import numpy.typing as npt

from co2forest.data.columns.views import ColumnViews, ViewKind
from co2forest.export._onnx_graph import FLOAT, INT64, Graph

_Integers = npt.NDArray[np.int64]


def add_views(graph: Graph, views: ColumnViews, rows: str) -> str:
    """Add what makes features of the columns; returns the name of (rows, features)."""
    return _Features(graph, views, rows).all()


class _Features:
    """Features by their kind."""

    def __init__(self, graph: Graph, views: ColumnViews, rows: str) -> None:
        arrays = views.views.arrays()
        self._graph = graph
        self._rows = rows
        self._column, self._kind = arrays["column"].astype(np.int64), arrays["kind"]
        self._argument, self._size = arrays["argument"], arrays["size"]
        self._values = arrays["values"]

    def all(self) -> str:
        adding = {
            ViewKind.NUMBER: self._values_of,
            ViewKind.MISSING: self._missing,
            ViewKind.EQUALS: self._equals,
            ViewKind.TABLE: self._tables,
        }
        found = [(add, np.flatnonzero(self._kind == kind)) for kind, add in adding.items()]
        parts = [(add(features), features) for add, features in found if len(features)]
        order = np.concatenate([features for _, features in parts])
        together = parts[0][0]
        if len(parts) > 1:
            together = self._graph.add("Concat", *(name for name, _ in parts), axis=1)
        if np.array_equal(order, np.arange(len(order))):
            return together
        place = self._graph.constant("places", np.argsort(order))
        return self._graph.add("Gather", together, place, axis=1)

    def _values_of(self, features: _Integers) -> str:
        """The value of the column of each feature."""
        columns = self._graph.constant("columns", self._column[features])
        return self._graph.add("Gather", self._rows, columns, axis=1)

    def _missing(self, features: _Integers) -> str:
        missing = self._graph.add("IsNaN", self._values_of(features))
        return self._graph.add("Cast", missing, to=FLOAT)

    def _equals(self, features: _Integers) -> str:
        g = self._graph
        codes = g.constant("codes", self._argument[features], np.float32)
        return g.add("Cast", g.add("Equal", self._values_of(features), codes), to=FLOAT)

    def _tables(self, features: _Integers) -> str:
        """The entry of the code, that of any other value, or that of NaN."""
        g = self._graph
        value, size = self._values_of(features), self._size[features]
        n_codes = g.constant("n_codes", size, np.float32)
        in_range = g.add(
            "And",
            g.add("GreaterOrEqual", value, g.constant("zero", 0, np.float32)),
            g.add("Less", value, n_codes),
        )
        is_code = g.add("And", in_range, g.add("Equal", g.add("Floor", value), value))
        # Nothing but a code may become an integer: of NaN and large values every runtime makes
        # something else.
        code = g.add("Cast", g.add("Where", is_code, value, n_codes), to=INT64)
        place = g.add("Where", g.add("IsNaN", value), g.constant("of_missing", size + 1), code)
        begin, entries = self._in_one_piece(features, size + 2)
        place = g.add("Add", place, g.constant("begin", begin))
        return g.add("Gather", g.constant("entries", entries), place)

    def _in_one_piece(
        self, features: _Integers, size: _Integers
    ) -> tuple[_Integers, npt.NDArray[np.float32]]:
        """Where the tables of features begin, and their numbers."""
        begin = self._argument[features]
        tables = [self._values[b : b + n] for b, n in zip(begin, size, strict=True)]
        return np.cumsum(size) - size, np.concatenate(tables)
