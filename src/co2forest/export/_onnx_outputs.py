# SPDX-License-Identifier: BSD-3-Clause
"""From the leaves of a forest to what its estimator predicts, as ONNX operators."""

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.export._onnx_graph import INT64, Graph, add_mean_of_leaves
from co2forest.models.view import ModelView


def add_classes(
    graph: Graph,
    view: ModelView,
    rows: str,
    label: tuple[str, npt.NDArray[np.generic]],
    probabilities: tuple[str, int],
) -> None:
    """Add everything from the rows to both outputs of a classifier: names, labels, and a type."""
    outputs = _add_outputs(graph, view, rows)
    name, labels = label
    labels_name = graph.constant("labels", labels)
    graph.add("Gather", labels_name, _add_decision(graph, view, outputs), output=name)
    name, kind = probabilities
    graph.add("Cast", _add_probabilities(graph, view, outputs), output=name, to=kind)


def add_numbers(
    graph: Graph, view: ModelView, rows: str, output: tuple[str, int], *, vector: bool
) -> None:
    """Add everything from the rows to the output of a regressor: its name and type."""
    meaning = view.outputs
    assert isinstance(meaning, NumberOutputs)  # noqa: S101 (for mypy)
    values = _add_outputs(graph, view, rows)
    if meaning.logarithmic:
        values = graph.add("Exp", values)
    values = graph.add("Mul", values, graph.constant("unit", meaning.unit, np.float64))
    values = graph.add("Add", values, graph.constant("offset", meaning.offset, np.float64))
    if vector:
        values = graph.add("Squeeze", values, graph.constant("outputs", [1]))
    name, kind = output
    graph.add("Cast", values, output=name, to=kind)


def _add_outputs(graph: Graph, view: ModelView, rows: str) -> str:
    mean = add_mean_of_leaves(graph, view, rows)
    if view.start is None:
        return mean
    total = graph.add("Mul", graph.constant("n_trees", view.n_trees, np.float64), mean)
    return graph.add("Add", graph.constant("start", view.start, np.float64), total)


def _add_decision(graph: Graph, view: ModelView, outputs: str) -> str:
    """The number of the class, or for each label of several whether it is there.

    By the exact outputs, since float32 might make a tie; the first of several wins, as in NumPy.
    """
    meaning = view.outputs
    if not isinstance(meaning, ClassOutputs):
        above = graph.add("Greater", outputs, graph.constant("half", 0.5, np.float64))
        return graph.add("Cast", above, to=INT64)
    if meaning.decision_costs is None:
        return graph.add("ArgMax", outputs, axis=1, keepdims=0)
    # Added in the order of classes, like the library.
    one = graph.add("Unsqueeze", outputs, graph.constant("last_axis", [2]))
    costs = graph.add("Mul", one, graph.constant("costs", meaning.decision_costs))
    sums = graph.add("CumSum", costs, graph.constant("classes", 1, np.int64))
    expected = graph.add("Gather", sums, graph.constant("last", view.n_outputs - 1), axis=1)
    return graph.add("ArgMin", expected, axis=1, keepdims=0)


def _add_probabilities(graph: Graph, view: ModelView, outputs: str) -> str:
    temperature = getattr(view.outputs, "inverse_temperature", None)
    if temperature is None:
        return outputs
    factor = graph.constant("temperature", temperature, np.float64)
    return graph.add("Softmax", graph.add("Mul", outputs, factor), axis=1)
