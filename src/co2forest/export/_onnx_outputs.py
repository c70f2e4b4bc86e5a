"""From the leaves of a forest to what its estimator predicts, as ONNX operators."""

import numpy as np
import numpy.typing as npt

from co2forest.export._fitted import Classes, FittedForest, Numbers
from co2forest.export._onnx_graph import INT64, Graph, add_mean_of_leaves


def add_classes(
    graph: Graph,
    fitted: FittedForest,
    rows: str,
    label: tuple[str, npt.NDArray[np.generic]],
    probabilities: tuple[str, int],
) -> None:
    """Add everything from the rows to both outputs of a classifier: names, labels, and a type."""
    outputs = _add_outputs(graph, fitted, rows)
    name, labels = label
    labels_name = graph.constant("labels", labels)
    graph.add("Gather", labels_name, _add_decision(graph, fitted, outputs), output=name)
    name, kind = probabilities
    graph.add("Cast", _add_probabilities(graph, fitted, outputs), output=name, to=kind)


def add_numbers(
    graph: Graph, fitted: FittedForest, rows: str, output: tuple[str, int], *, vector: bool
) -> None:
    """Add everything from the rows to the output of a regressor: its name and type."""
    meaning = fitted.meaning
    assert isinstance(meaning, Numbers)  # noqa: S101 (for mypy)
    values = _add_outputs(graph, fitted, rows)
    if meaning.exponential:
        values = graph.add("Exp", values)
    values = graph.add("Mul", values, graph.constant("unit", meaning.unit, np.float64))
    values = graph.add("Add", values, graph.constant("offset", meaning.offset, np.float64))
    if vector:
        values = graph.add("Squeeze", values, graph.constant("outputs", [1]))
    name, kind = output
    graph.add("Cast", values, output=name, to=kind)


def _add_outputs(graph: Graph, fitted: FittedForest, rows: str) -> str:
    mean = add_mean_of_leaves(graph, fitted, rows)
    if fitted.start is None:
        return mean
    total = graph.add("Mul", graph.constant("n_trees", fitted.n_trees, np.float64), mean)
    return graph.add("Add", graph.constant("start", fitted.start, np.float64), total)


def _add_decision(graph: Graph, fitted: FittedForest, outputs: str) -> str:
    """The number of the class, or for each label of several whether it is there.

    By the exact outputs, since float32 might make a tie; the first of several wins, as in NumPy.
    """
    meaning = fitted.meaning
    if not isinstance(meaning, Classes):
        above = graph.add("Greater", outputs, graph.constant("half", 0.5, np.float64))
        return graph.add("Cast", above, to=INT64)
    if meaning.costs is None:
        return graph.add("ArgMax", outputs, axis=1, keepdims=0)
    # Added in the order of classes, like the library.
    one = graph.add("Unsqueeze", outputs, graph.constant("last_axis", [2]))
    costs = graph.add("Mul", one, graph.constant("costs", meaning.costs))
    sums = graph.add("CumSum", costs, graph.constant("classes", 1, np.int64))
    expected = graph.add("Gather", sums, graph.constant("last", fitted.n_outputs - 1), axis=1)
    return graph.add("ArgMin", expected, axis=1, keepdims=0)


def _add_probabilities(graph: Graph, fitted: FittedForest, outputs: str) -> str:
    temperature = getattr(fitted.meaning, "temperature", None)
    if temperature is None:
        return outputs
    factor = graph.constant("temperature", temperature, np.float64)
    return graph.add("Softmax", graph.add("Mul", outputs, factor), axis=1)
