# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a tree: hyperplanes as bars or images, leaves as distributions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from co2forest.inspection._boxes import Box, draw_bars, draw_image, draw_outputs
from co2forest.inspection._drawing import (
    DOWN,
    INK,
    LINE,
    PAPER,
    QUIET,
    UP,
    axes_for,
    node_colour,
    weight_image,
)
from co2forest.inspection._words import (
    answer,
    axis_test,
    counts,
    is_axis_aligned,
    shorten,
    strongest_outputs,
    typographic,
    weights_of,
)
from co2forest.models.arguments import image_size, named_view, tree_number, whole_number
from co2forest.models.trees import TreeView
from co2forest.models.view import ModelView

_WIDTH, _GAP, _LINE = 2.1, 0.18, 0.16  # inches of a box, between boxes, and of a line of text
_RISE = 0.55  # between levels
_MARGIN = 0.1
WEIGHT_TIMES_SPREAD = "weight \N{MULTIPLICATION SIGN} spread of its feature"
_MORE = "more nodes below"
_MOST_OUTPUTS = 5  # lines of a leaf
_MOST_CHARACTERS = 36  # in a line of a box


@dataclass(frozen=True)
class _Style:
    """What the nodes of one picture have in common."""

    view: ModelView
    tree: TreeView
    max_depth: int
    n_weights: int
    image: tuple[int, int, int] | None

    def is_end(self, node: int) -> bool:
        """Whether nothing is shown below a node."""
        return self.tree.is_leaf(node) or int(self.tree.depth[node]) >= self.max_depth

    def height(self, node: int) -> float:
        """Height of a node's box, in inches."""
        if self.is_end(node):
            outputs = strongest_outputs(self.view, self.tree.values[node], _MOST_OUTPUTS)
            lines = len(outputs) + (not self.tree.is_leaf(node))
        elif self.image is not None:
            height, width, channels = self.image
            shape = min(height / (width * channels), 1.0)
            return (_WIDTH - 2 * _MARGIN) * shape + _LINE + 2 * _MARGIN
        elif is_axis_aligned(self.tree, node):
            lines = 1
        else:
            n_features = len(self.tree.hyperplane(node)[0])
            lines = min(n_features, self.n_weights) + (n_features > self.n_weights)
        return (1 + lines) * _LINE + 2 * _MARGIN


def plot_tree(
    model: Any,
    tree: int = 0,
    *,
    max_depth: int = 3,
    feature_names: Any = None,
    class_names: Any = None,
    image_shape: Any = None,
    n_weights: int = 5,
    ax: Any = None,
) -> Any:
    """Draw a tree.

    A node shows the strongest weights of its hyperplane (weight times the feature's spread) as
    bars: a blue bar, to the right, sends rows to the right. Nodes at the end of paths show what
    they answer. A dashed frame says that more nodes follow below.

    Parameters
    ----------
    model : fitted estimator or TableModel
        The model that has the tree.
    tree : int, default=0
        Its number.
    max_depth : int, default=3
        How many levels below the root are drawn.
    feature_names, class_names : list of str, default=None
        Names to use instead of those that the model knows.
    image_shape : tuple (height, width) or (height, width, channels), default=None
        If features are the pixels of an image: hyperplanes are shown as images of their weights,
        channels side by side.
    n_weights : int, default=5
        Most bars of a node.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure as large as the tree needs.

    Returns
    -------
    matplotlib axes
    """
    view = named_view(model, feature_names, class_names)
    style = _Style(
        view,
        view.tree(tree_number(view, tree)),
        whole_number(max_depth, "max_depth", 0),
        whole_number(n_weights, "n_weights", 1),
        None if image_shape is None else image_size(image_shape, view.n_features),
    )
    boxes, size = _arrange(style)
    with axes_for(ax, size) as axes:
        scale = _prepare(axes, size)
        inner = [node for node in boxes if not style.is_end(node)]
        for node in inner:
            _draw_edges(axes, style, node, boxes, scale)
        for node, box in boxes.items():
            _draw_node(axes, style, node, box, scale)
        if style.image is not None or not all(is_axis_aligned(style.tree, node) for node in inner):
            what = "pixels" if style.image is not None else "bars"
            legend = f"{what}: {WEIGHT_TIMES_SPREAD}; blue (+) sends rows right, orange left"
            axes.text(size[0] / 2, 0.04, legend, fontsize=7 * scale, color=QUIET, ha="center")
    return axes


def _arrange(style: _Style) -> tuple[dict[int, Box], tuple[float, float]]:
    """Boxes of the nodes, and the size of the picture; a unit is an inch."""
    tree = style.tree
    shown = [0]
    for node in shown:
        if not style.is_end(node):
            shown += [int(tree.left[node]), int(tree.left[node]) + 1]
    middles: dict[int, float] = {}
    slots = 0
    waiting = [(0, False)]
    while waiting:  # from left to right, children before their parent
        node, seen = waiting.pop()
        left = int(tree.left[node])
        if style.is_end(node):
            middles[node] = _GAP + slots * (_WIDTH + _GAP) + _WIDTH / 2
            slots += 1
        elif seen:
            middles[node] = (middles[left] + middles[left + 1]) / 2
        else:
            waiting += [(node, True), (left + 1, False), (left, False)]
    levels = int(max(tree.depth[node] for node in shown)) + 1
    heights = np.zeros(levels)
    for node in shown:
        depth = tree.depth[node]
        heights[depth] = max(heights[depth], style.height(node))
    foot = 0.3
    total = float(heights.sum()) + _RISE * (levels - 1) + foot + _GAP
    tops = total - _GAP / 2 - np.concatenate([[0.0], np.cumsum(heights + _RISE)[:-1]])
    width = max(_GAP + slots * (_WIDTH + _GAP), 4.0)
    shift = (width - _GAP - slots * (_WIDTH + _GAP)) / 2
    boxes = {
        node: Box(
            middles[node] + shift - _WIDTH / 2,
            float(tops[tree.depth[node]]),
            _WIDTH,
            style.height(node),
        )
        for node in shown
    }
    return boxes, (width, total)


def _prepare(ax: Any, size: tuple[float, float]) -> float:
    """Empty axes with units of an inch at scale one; the scale that they have."""
    ax.set_axis_off()
    ax.set_xlim(0, size[0])
    ax.set_ylim(0, size[1])
    ax.set_aspect("equal")
    place, figure = ax.get_position(), ax.figure.get_size_inches()
    # Constrained layout gives the axes of a figure of their own all of it, but later.
    alone = len(ax.figure.axes) == 1 and ax.figure.get_layout_engine() is not None
    room = figure if alone else figure * (place.width, place.height)
    return float(min(room[0] / size[0], room[1] / size[1], 1.5))


def _draw_edges(ax: Any, style: _Style, node: int, boxes: dict[int, Box], scale: float) -> None:
    left = int(style.tree.left[node])
    if is_axis_aligned(style.tree, node):
        labels = [typographic(side) for side in axis_test(style.view, style.tree, node)[1:]]
    else:
        labels = ["\N{MINUS SIGN}", "+"]
    box = boxes[node]
    start = box.x + box.width / 2, box.bottom
    for child, label, colour in zip((left, left + 1), labels, (DOWN, UP), strict=True):
        end = boxes[child].x + boxes[child].width / 2, boxes[child].y
        ax.plot(*zip(start, end, strict=True), color=LINE, linewidth=1.2 * scale, zorder=1)
        # Near the child, where the edges of a node are far from each other.
        place = [a + 0.6 * (b - a) for a, b in zip(start, end, strict=True)]
        ax.text(
            *place,
            label,
            color=colour,
            fontsize=8 * scale,
            fontweight="bold",
            ha="center",
            va="center",
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.0},
            zorder=2,
        )


def _draw_node(ax: Any, style: _Style, node: int, box: Box, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    view, tree = style.view, style.tree
    is_end = style.is_end(node)
    frame = FancyBboxPatch(
        (box.x, box.bottom),
        box.width,
        box.height,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=node_colour(view, tree.values[node]) if is_end else PAPER,
        edgecolor=LINE,
        linewidth=scale,
        linestyle="--" if is_end and not tree.is_leaf(node) else "-",
        zorder=3,
    )
    ax.add_patch(frame)
    head, body = box.inside(_MARGIN).cut(_LINE)
    about = typographic(shorten(counts(view, tree, node), _MOST_CHARACTERS))
    head.write(ax, about, fontsize=7 * scale, color=QUIET)
    if is_end and view.is_vector:
        text = typographic(answer(view, tree.values[node]))
        said, body = body.cut(_LINE)
        said.write(ax, text, fontsize=8 * scale, color=INK, fontweight="bold")
        if not tree.is_leaf(node):
            body.write(ax, _MORE, fontsize=6.5 * scale, color=QUIET)
    elif is_end:
        rest = "" if tree.is_leaf(node) else _MORE
        outputs = strongest_outputs(view, tree.values[node], _MOST_OUTPUTS)
        draw_outputs(ax, view, outputs, rest, body, _LINE, scale)
    elif style.image is not None:
        draw_image(ax, weight_image(view, tree, node, style.image), body)
    elif is_axis_aligned(tree, node):
        name = axis_test(view, tree, node)[0]
        text = shorten(name, _MOST_CHARACTERS - 5)
        body.write(ax, text, fontsize=8 * scale, color=INK, fontweight="bold")
    else:
        weights = weights_of(view, tree, node)
        hidden = len(weights) - style.n_weights
        lines = [(view.feature_names[w.feature], w.strength) for w in weights[: style.n_weights]]
        rest = f"and {hidden} more" if hidden > 0 else ""
        draw_bars(ax, lines, rest, body, _LINE, scale)
