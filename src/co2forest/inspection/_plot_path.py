# SPDX-License-Identifier: BSD-3-Clause
"""Why a row got its answer."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.inspection._blended import blended_contributions
from co2forest.inspection._contributions import contributions_of
from co2forest.inspection._drawing import (
    DOWN,
    INK,
    LINE,
    QUIET,
    UP,
    as_image,
    axes_for,
    draw_plain,
    name_bars,
)
from co2forest.inspection._shares import coefficients, squared_spreads
from co2forest.inspection._words import number, said_of, shorten, signed, typographic
from co2forest.models.arguments import (
    image_size,
    named_view,
    output_number,
    tree_number,
    whole_number,
)
from co2forest.models.ensemble import EnsembleView
from co2forest.models.view import ModelView

_LONGEST = 32  # characters of a name beside a bar
_OF_STEP = 2  # features that a step names
_QUANTITIES = {
    "classes": "probability of {}",
    "labels": "probability of {}",
    "numbers": "{}",
    "scores": "score of {}",
    "logarithms": "logarithm of {}",
}


def plot_path(
    model: Any,
    x: Any,
    *,
    tree: int | None = None,
    output: Any = None,
    n: int = 10,
    feature_names: Any = None,
    class_names: Any = None,
    image_shape: Any = None,
    ax: Any = None,
) -> Any:
    """Draw why a row got its answer.

    For the whole model: how the contributions of features (see `explain`) lead from the base rate
    to the prediction. For one tree: how each hyperplane on the row's path changed the answer, and
    which features contributed most.

    Parameters
    ----------
    model : fitted estimator or TableModel
        The model that predicts.
    x : array-like of shape (n_features,) or (1, n_features), or row of a data frame
        The row.
    tree : int or None, default=None
        The number of a tree, or None for all trees together.
    output : label, str or int, default=None
        Which class, label or number is explained. None is the likeliest class or label, or the
        first number.
    n : int, default=10
        Most features to draw, strongest first; the others are summed up. All steps are drawn.
    feature_names, class_names : list of str, default=None
        Names to use instead of those that the model knows.
    image_shape : tuple (height, width) or (height, width, channels), default=None
        If features are the pixels of an image: contributions are shown as an image, in which the
        row's own image is outlined.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    ensemble = EnsembleView.of(model) if tree is None else None
    one_model = model if ensemble is None else ensemble.forest.model
    view = named_view(one_model, feature_names, class_names)
    n = whole_number(n, "n", 1)
    size = None if image_shape is None else image_size(image_shape, view.n_features)
    row = view.checked(_one_row(x))
    if row.shape[0] != 1:
        raise ValueError(f"x must be one row, got {row.shape[0]}")
    if ensemble is None:
        contributions, base = contributions_of(view, row)
        outputs = view.values(row)[0]
    else:
        contributions, base = blended_contributions(ensemble, row)
        outputs = base + contributions[0].sum(axis=0)
    k = output_number(view, output, outputs)
    if tree is None:
        story = _of_forest(view, row, contributions[0, :, k], float(base[k]), n)
        where = ""
    else:
        steps, begin = _steps_of(view, row, tree_number(view, tree), k)
        story = _of_tree(view, steps, begin)
        where = f"tree {tree}, "
    end = typographic(said_of(view, story.begin + sum(story.changes)))
    line, width = (0.3, 6.8) if tree is None else (0.42, 8.0)
    figure_size = (width, 1.1 + line * (len(story.names) + 2)) if size is None else (4.0, 4.2)
    with axes_for(ax, figure_size) as axes:
        if size is None:
            _waterfall(axes, view, story)
            axes.set_xlabel(_quantity(view, k))
        else:
            _image(axes, view, row, story, size)
        axes.set_title(f"{where}{_quantity(view, k)}: {end}", fontsize=10, parse_math=False)
    return axes


class _Story(NamedTuple):
    """How a value came about."""

    begin: float
    names: list[str]  # of what changed it, one after the other
    changes: list[float]
    by_feature: Floats


def _of_forest(view: ModelView, row: Any, contributions: Floats, base: float, n: int) -> _Story:
    """The strongest features with their values, and at last all others."""
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[contributions[order] != 0]
    shown = order[:n]
    dense = row.toarray() if hasattr(row, "toarray") else row
    names = []
    for j in shown:
        value = float(dense[0, j])
        text = "missing" if np.isnan(value) else typographic(number(value))
        names.append(f"{shorten(view.feature_names[j], _LONGEST)} = {text}")
    changes = [float(contributions[j]) for j in shown]
    if len(order) > len(shown):
        names.append(f"{len(order) - len(shown)} others together")
        changes.append(float(contributions[order[n:]].sum()))
    return _Story(base, names, changes, contributions)


class _Step(NamedTuple):
    """A hyperplane that a row crossed."""

    node: int
    right: bool
    change: float  # of the value
    features: list[tuple[int, float]]  # with their shares of the change, the largest first


def _steps_of(view: ModelView, checked: Any, tree: int, output: int) -> tuple[list[_Step], float]:
    """Steps of the only row, and the value of the root; both in units of the prediction.

    The value of a boosted tree is what it adds; that of a forest's tree is its own answer.
    """
    shown = view.tree(tree)
    path = shown.path(int(view.leaves(checked)[0, tree]))
    row = view.deviations(checked)[0]
    squares = squared_spreads(view.spread)
    steps = []
    for node, child in pairwise(path):
        features, weights = shown.hyperplane(node)
        deviations, variances = weights * row[features], weights**2 * squares[features]
        right = child == shown.left[node] + 1
        by_deviation, by_variance = coefficients(
            deviations.sum(),
            np.abs(deviations).sum(),
            variances.sum(),
            weights @ view.mean[features] - shown.threshold[node],
            np.array(1.0 if right else -1.0),
        )
        change = float(shown.scaled[child, output] - shown.scaled[node, output])
        shares = (by_deviation * deviations + by_variance * variances) * change
        order = np.argsort(-np.abs(shares), kind="stable")
        listed = [(int(features[j]), float(shares[j])) for j in order]
        steps.append(_Step(node, bool(right), change, listed))
    return steps, float(shown.values[0, output])


def _of_tree(view: ModelView, steps: list[_Step], begin: float) -> _Story:
    by_feature = np.zeros(view.n_features)
    for step in steps:
        for j, change in step.features:
            by_feature[j] += change
    names = [_step_in_words(view, step) for step in steps]
    return _Story(begin, names, [step.change for step in steps], by_feature)


def _one_row(x: Any) -> Any:
    """A row on its own as a table of one row."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", 0) == 1:  # a row of a pandas data frame
        return x.to_frame().T.infer_objects()
    if hasattr(x, "columns") or getattr(x, "ndim", 0) == 2:
        return x
    return np.asarray(x)[None] if np.ndim(x) == 1 else x


def _quantity(view: ModelView, output: int) -> str:
    return _QUANTITIES[view.kind].format(shorten(view.output_names[output], _LONGEST))


def _step_in_words(view: ModelView, step: _Step) -> str:
    """Where a row went, and the features that contributed most to the change there."""
    side = "right" if step.right else "left"
    named = [
        f"{shorten(view.feature_names[j], 22)} {typographic(signed(change))}"
        for j, change in step.features[:_OF_STEP]
    ]
    more = len(step.features) - len(named)
    others = f", {more} more" if more else ""
    return f"node {step.node}, {side}\n{', '.join(named) or 'by no feature'}{others}"


def _waterfall(ax: Any, view: ModelView, story: _Story) -> None:
    """Bars from a value to the next, downwards, between the first and the last value."""
    begin, names, changes, _ = story
    ends = begin + np.cumsum([0.0, *changes])
    starts = ends[:-1]
    colours = [UP if change >= 0 else DOWN for change in changes]
    places = range(1, len(changes) + 1)
    ax.barh(places, changes, left=starts, color=colours, height=0.66, zorder=3)
    width = float(np.ptp(ends)) or 1.0
    ax.set_xlim(ends.min() - 0.05 * width, ends.max() + 0.15 * width)  # room for numbers
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
    name_bars(ax, [first, *names, last])
    ax.grid(axis="x", color="#e6e6e6", zorder=0)
    ax.set_axisbelow(True)


def _image(ax: Any, view: ModelView, row: Any, story: _Story, size: tuple[int, int, int]) -> None:
    """Contributions of pixels, with the outline of the row's own image."""
    draw_plain(ax, as_image(story.by_feature, size))
    pixels = as_image(view.deviations(row)[0] + view.mean, size)
    lowest, highest = float(pixels.min()), float(pixels.max())
    if highest > lowest and min(pixels.shape) > 1:
        ax.contour(pixels, levels=[(lowest + highest) / 2], colors=QUIET, linewidths=0.8)
    ax.set_xlabel("blue: for it, orange: against it", fontsize=8)
