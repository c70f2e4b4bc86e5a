# SPDX-License-Identifier: BSD-3-Clause
"""Trees as plain text and in the language of Graphviz."""

from collections.abc import Iterator
from typing import Any

from co2forest.files.messages import escaped, one_line
from co2forest.inspection._drawing import node_colour
from co2forest.inspection._words import (
    answer,
    axis_test,
    counts,
    is_axis_aligned,
    number,
    signed,
    weights_of,
)
from co2forest.models.arguments import named_view, tree_number, whole_number_or_none
from co2forest.models.trees import TreeView
from co2forest.models.view import ModelView


def export_text(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = 10,
    feature_names: Any = None,
    class_names: Any = None,
    n_weights: int | None = 5,
) -> str:
    """A tree in words, a line for each side of each node.

    Parameters
    ----------
    model : fitted estimator or TableModel
        The model that has the tree.
    tree : int, default=0
        Its number.
    max_depth : int or None, default=10
        Nodes below are counted, not shown.
    feature_names, class_names : list of str, default=None
        Names to use instead of those that the model knows.
    n_weights : int or None, default=5
        How many features of a hyperplane are named, the strongest (weight times spread) first;
        None names them all, so that the text is the whole test.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2TreeClassifier
    >>> from co2forest.inspection import export_text
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CO2TreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> print(export_text(tree, n_weights=2))
    |--- 2.97 x2 - 2.53 x1 + 2 more < -0.183
    |   answer: 0: 100% (n = 50, entropy 0)
    |--- 2.97 x2 - 2.53 x1 + 2 more >= -0.183
    |   answer: 1: 50%, 2: 50% (n = 100, entropy 1)
    <BLANKLINE>
    """
    view = named_view(model, feature_names, class_names)
    shown = view.tree(tree_number(view, tree))
    most = whole_number_or_none(max_depth, "max_depth", 0)
    n_weights = whole_number_or_none(n_weights, "n_weights", 1)
    return "\n".join(map(escaped, _lines(view, shown, most, n_weights))) + "\n"


def export_dot(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    n_weights: int | None = 5,
) -> str:
    """A tree in the language of Graphviz, whose ``dot`` draws it.

    Parameters
    ----------
    model : fitted estimator or TableModel
        The model that has the tree.
    tree : int, default=0
        Its number.
    max_depth : int or None, default=None
        Nodes below are counted, not shown.
    feature_names, class_names : list of str, default=None
        Names to use instead of those that the model knows.
    n_weights : int or None, default=5
        How many features of a hyperplane are named, the strongest first; None names them all.

    Returns
    -------
    str
        The text of a file for ``dot -Tsvg``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2TreeClassifier
    >>> from co2forest.inspection import export_dot
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CO2TreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> print(export_dot(tree).splitlines()[0])
    digraph tree {
    """
    view = named_view(model, feature_names, class_names)
    shown = view.tree(tree_number(view, tree))
    most = whole_number_or_none(max_depth, "max_depth", 0)
    n_weights = whole_number_or_none(n_weights, "n_weights", 1)
    lines = ["digraph tree {"]
    lines += ['    node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    lines += [f"    {line}" for line in _statements(view, shown, most, n_weights)]
    return "\n".join([*lines, "}", ""])


def _statements(
    view: ModelView, tree: TreeView, max_depth: int | None, n_weights: int | None
) -> Iterator[str]:
    for node in range(tree.n_nodes):
        depth = int(tree.depth[node])
        if max_depth is not None and depth > max_depth:
            continue
        said, about = answer(view, tree.values[node]), counts(view, tree, node)
        fill = node_colour(view, tree.values[node])
        if tree.is_leaf(node) or depth == max_depth:
            more = [] if tree.is_leaf(node) else [f"{tree.sizes[node] - 1} nodes below"]
            dashes = ', style="rounded,filled,dashed"' if more else ""
            label = _quoted(said, about, *more)
            yield f'{node} [label={label}, fillcolor="{fill}"{dashes}];'
            continue
        _, right = _tests(view, tree, node, n_weights)
        yield f'{node} [label={_quoted(right, about, said)}, fillcolor="{fill}"];'
        left = int(tree.left[node])
        yield f'{node} -> {left} [label="no"];'
        yield f'{node} -> {left + 1} [label="yes"];'


def _quoted(*lines: str) -> str:
    """A label of several lines as Graphviz reads it: nothing in it is markup."""
    quoted = (one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(quoted) + '"'


def _lines(
    view: ModelView, tree: TreeView, max_depth: int | None, n_weights: int | None
) -> Iterator[str]:
    waiting = [(0, "")]  # nodes, and the line that leads to each
    while waiting:
        node, line = waiting.pop()
        if line:
            yield line
        depth = int(tree.depth[node])
        indent = "|   " * depth
        if tree.is_leaf(node) or depth == max_depth:
            cut = "" if tree.is_leaf(node) else f", {tree.sizes[node] - 1} nodes below"
            said = answer(view, tree.values[node])
            yield f"{indent}answer: {said} ({counts(view, tree, node)}{cut})"
            continue
        less, more = _tests(view, tree, node, n_weights)
        left = int(tree.left[node])
        waiting += [(left + 1, f"{indent}|--- {more}"), (left, f"{indent}|--- {less}")]


def _tests(view: ModelView, tree: TreeView, node: int, n_weights: int | None) -> tuple[str, str]:
    """What is true of rows on the left, and on the right."""
    if is_axis_aligned(tree, node):
        name, less, more = axis_test(view, tree, node)
        return f"{name} {less}", f"{name} {more}"
    total = _sum(view, tree, node, n_weights)
    threshold = number(float(tree.threshold[node]))
    return f"{total} < {threshold}", f"{total} >= {threshold}"


def _sum(view: ModelView, tree: TreeView, node: int, n_weights: int | None) -> str:
    """The projection, as far as its strongest terms go."""
    weights = weights_of(view, tree, node)
    terms = [f"{signed(w.raw)} {view.feature_names[w.feature]}" for w in weights[:n_weights]]
    if len(terms) < len(weights):
        terms.append(f"{len(weights) - len(terms)} more")
    if not terms:
        return "0"
    return " ".join([terms[0].removeprefix("+"), *(_spaced(term) for term in terms[1:])])


def _spaced(term: str) -> str:
    """A term that follows another one."""
    return f"{term[0]} {term[1:]}" if term[0] in "+-" else f"+ {term}"
