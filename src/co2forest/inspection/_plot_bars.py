"""Importances, and why a row got its answer, as bars."""

from typing import Any

import numpy as np

from co2forest.inspection._arguments import (
    named_view,
    output_number,
    tree_number,
    whole_number,
)
from co2forest.inspection._axes import axes_for
from co2forest.inspection._colours import DOWN, INK, LINE, QUIET, UP
from co2forest.inspection._contributions import contributions_of
from co2forest.inspection._steps import Step, steps_of
from co2forest.inspection._trees import Floats, ForestView
from co2forest.inspection._words import number, said_of, shorten, signed, typographic

_LONGEST = 32  # characters of a name beside a bar
_OF_STEP = 2  # features that a step names
_QUANTITIES = {
    "classes": "probability of {}",
    "labels": "probability of {}",
    "numbers": "{}",
    "scores": "score of {}",
    "logarithms": "logarithm of {}",
}


def plot_importances(model: Any, *, n: int = 20, feature_names: Any = None, ax: Any = None) -> Any:
    """Draw the most important features: their parts in the decrease of impurity.

    Parameters
    ----------
    model : fitted estimator or TableModel
        With the attribute ``feature_importances_``, whose numbers are drawn.
    n : int, default=20
        Most features to draw; the others are counted, and their parts are summed up.
    feature_names : list of str, default=None
        Other names than those that the model knows.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    view = named_view(model, feature_names)
    n = whole_number(n, "n", 1)
    importances = view.estimator.feature_importances_
    order = np.argsort(-importances, kind="stable")[:n]
    lengths = [float(importances[j]) for j in order]
    names = [shorten(view.feature_names[j], _LONGEST) for j in order]
    hidden = view.n_features - len(order)
    if hidden:
        names.append(f"{hidden} others together")
        lengths.append(max(float(importances.sum()) - sum(lengths), 0.0))
    with axes_for(ax, (6.4, 0.9 + 0.24 * len(names))) as axes:
        colours = [UP] * len(order) + [LINE] * (len(names) > len(order))
        bars = axes.barh(range(len(names)), lengths, color=colours, height=0.7)
        texts = [typographic(number(length)) for length in lengths]
        axes.bar_label(bars, texts, padding=3, fontsize=8, color=QUIET)
        _name_bars(axes, names)
        axes.margins(x=0.12)
        axes.set_xlim(left=0)
        axes.set_xlabel("part of the decrease of impurity")
    return axes


def plot_path(
    model: Any,
    x: Any,
    *,
    tree: int | None = None,
    output: Any = None,
    n: int = 10,
    feature_names: Any = None,
    class_names: Any = None,
    ax: Any = None,
) -> Any:
    """Draw why a row got its answer.

    Of the whole model: how the contributions of features (see `explain`) lead from the base rate
    to the prediction. Of one tree: how each hyperplane on the row's path changed the answer, and
    which features did most of it.

    Parameters
    ----------
    model : fitted estimator or TableModel
        What has answered.
    x : array-like of shape (n_features,) or (1, n_features), or data frame of one row
        The row.
    tree : int or None, default=None
        The number of a tree, or None for all trees together.
    output : label, str or int, default=None
        Which class, label or number is explained. None is the likeliest class or label, or the
        first number.
    n : int, default=10
        Most features to draw, strongest first; the others are summed up. All steps are drawn.
    feature_names, class_names : list of str, default=None
        Other names than those that the model knows.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    view = named_view(model, feature_names, class_names)
    n = whole_number(n, "n", 1)
    row = view.checked(_one_row(x))
    if row.shape[0] != 1:
        raise ValueError(f"x must be one row, got {row.shape[0]}")
    outputs = view.outputs_of(row)[0]
    k = output_number(view, output, outputs)
    if tree is None:
        contributions, base = contributions_of(view, row)
        names, changes = _strongest(view, row, contributions[0, :, k], n)
        begin = float(base[k])
        title = f"{_quantity(view, k)}: {typographic(said_of(view, float(outputs[k])))}"
    else:
        number_of_tree = tree_number(view, tree)
        steps, begin = steps_of(view, row, number_of_tree, k)
        names = [_step_in_words(view, step) for step in steps]
        changes = [step.change for step in steps]
        end = typographic(said_of(view, begin + sum(changes)))
        title = f"tree {number_of_tree}, {_quantity(view, k)}: {end}"
    with axes_for(ax, (6.8, 1.3 + (0.3 if tree is None else 0.42) * (len(names) + 1))) as axes:
        _waterfall(axes, view, begin, names, changes)
        axes.set_xlabel(_quantity(view, k))
        axes.set_title(title, fontsize=10, parse_math=False)
    return axes


def _one_row(x: Any) -> Any:
    """A row on its own as a table of one row."""
    if hasattr(x, "columns") or getattr(x, "ndim", 0) == 2:
        return x
    return np.asarray(x)[None] if np.ndim(x) == 1 else x


def _quantity(view: ForestView, output: int) -> str:
    return _QUANTITIES[view.kind].format(shorten(view.output_names[output], _LONGEST))


def _strongest(
    view: ForestView, row: Any, contributions: Floats, n: int
) -> tuple[list[str], list[float]]:
    """Features with their values, and what they contribute; at last all others."""
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[contributions[order] != 0]
    shown = order[:n] if len(order) > n else order
    dense = row.toarray() if hasattr(row, "toarray") else row
    names = []
    for j in shown:
        value = float(dense[0, j])
        is_text = "missing" if np.isnan(value) else typographic(number(value))
        names.append(f"{shorten(view.feature_names[j], _LONGEST)} = {is_text}")
    changes = [float(contributions[j]) for j in shown]
    if len(order) > len(shown):
        names.append(f"{len(order) - len(shown)} others together")
        changes.append(float(contributions[order[n:]].sum()))
    return names, changes


def _step_in_words(view: ForestView, step: Step) -> str:
    """Where a row went, and the features that contributed most to the change there."""
    side = "right" if step.right else "left"
    parts = [
        f"{shorten(view.feature_names[j], 22)} {typographic(signed(change))}"
        for j, change in step.features[:_OF_STEP]
    ]
    more = len(step.features) - len(parts)
    others = f", {more} more" if more else ""
    return f"node {step.node}, {side}\n{', '.join(parts)}{others}"


def _waterfall(
    ax: Any, view: ForestView, begin: float, names: list[str], changes: list[float]
) -> None:
    """Bars from a value to the next, downwards, between the first and the last value."""
    ends = begin + np.cumsum([0.0, *changes])
    starts = ends[:-1]
    colours = [UP if change >= 0 else DOWN for change in changes]
    places = range(1, len(changes) + 1)
    bars = ax.barh(places, changes, left=starts, color=colours, height=0.66, zorder=3)
    del bars
    width = float(np.ptp(ends)) or 1.0
    for place, change, start in zip(places, changes, starts, strict=True):
        edge = max(start, start + change) + 0.012 * width
        text = typographic(signed(change))
        ax.text(edge, place, text, va="center", fontsize=8, color=INK, zorder=4)
    for place, value in enumerate(ends):
        ax.plot([value] * 2, [place - 0.33, place + 1.33], color=LINE, linewidth=0.8, zorder=2)
    ax.plot([begin], [0], marker="o", color=QUIET, zorder=3)
    ax.plot([ends[-1]], [len(names) + 1], marker="o", color=INK, zorder=3)
    first = f"base rate {typographic(said_of(view, begin))}"
    last = f"answer {typographic(said_of(view, float(ends[-1])))}"
    _name_bars(ax, [first, *names, last])
    ax.margins(x=0.12)
    ax.grid(axis="x", color="#e6e6e6", zorder=0)
    ax.set_axisbelow(True)


def _name_bars(ax: Any, names: list[str]) -> None:
    """Names from the top down, and no more lines than needed."""
    ax.set_yticks(range(len(names)), names, fontsize=8, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
