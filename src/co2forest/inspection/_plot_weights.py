# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplanes as a grid of images."""

from math import ceil, sqrt
from numbers import Integral
from typing import Any

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.inspection._drawing import draw_plain, pyplot, weight_image
from co2forest.models.arguments import image_size, whole_number, whole_numbers
from co2forest.models.view import ModelView

_MOST = 16  # images, unless somebody asks for more


def plot_weights(
    model: Any,
    image_shape: Any,
    *,
    trees: Any = None,
    nodes: Any = None,
    n_columns: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw the weights of hyperplanes as images, for models whose features are pixels.

    A pixel's colour is its weight times its spread in training: blue sends a row to the right
    where it is bright, orange to the left. Every image has a scale of its own.

    Parameters
    ----------
    model : fitted estimator
        The model that has the hyperplanes.
    image_shape : tuple (height, width) or (height, width, channels)
        How features make an image; channels are drawn side by side.
    trees : int or list of int, default=None
        Trees to show. None is the first 16 that have a split.
    nodes : int or list of int, default=None
        Nodes to show of each tree, by number. None is the root or, for a single tree, its first 16
        nodes that have a hyperplane.
    n_columns : int or None, default=None
        Images in a row; None makes a grid that is about square.
    ax : array of matplotlib axes, default=None
        Where to draw, at least one for each image; None makes a figure.

    Returns
    -------
    ndarray of matplotlib axes
        A grid, or the axes given that were used.
    """
    view = ModelView.of(model)
    size = image_size(image_shape, view.n_features)
    images = _images(view, size, trees, nodes)
    columns = n_columns if n_columns is not None else ceil(sqrt(len(images)))
    columns = min(whole_number(columns, "n_columns", 1), len(images))
    if ax is not None:
        used = _axes_given(ax, len(images))
        _draw(used, images)
        return used
    plt = pyplot()
    wide = min(max(size[1] * size[2] / size[0], 0.5), 4.0)
    lines = ceil(len(images) / columns)
    figure, grid = plt.subplots(
        lines,
        columns,
        figsize=(max(1.4 * wide * columns, 2.0), 1.65 * lines),
        squeeze=False,
        layout="constrained",
    )
    try:
        _draw(grid.ravel(), images)
    except BaseException:
        plt.close(figure)
        raise
    return grid


def _images(
    view: ModelView, size: tuple[int, int, int], trees: Any, nodes: Any
) -> list[tuple[str, Floats]]:
    """Titles and images of the hyperplanes asked for."""
    numbers = range(view.n_trees) if trees is None else _numbers(trees, "trees", view.n_trees)
    single = len(numbers) == 1 and nodes is None
    images: list[tuple[str, Floats]] = []
    for i in numbers:
        tree = view.tree(i)
        if single:
            chosen = np.flatnonzero(tree.left >= 0)[:_MOST].tolist()
        elif nodes is None:
            chosen = [] if tree.is_leaf(0) else [0]
        else:
            chosen = _numbers(nodes, "nodes", tree.n_nodes)
            for node in chosen:
                if tree.is_leaf(node):
                    raise ValueError(f"nodes: node {node} of tree {i} is a leaf, without weights")
        for node in chosen:
            title = f"node {node}" if single else f"tree {i}, node {node}"
            images.append((title, weight_image(view, tree, node, size)))
        if trees is None and len(images) >= _MOST:
            break
    if not images:
        raise ValueError("no tree that was asked for has a split, so there are no weights to show")
    return images


def _numbers(given: Any, argument: str, count: int) -> list[int]:
    """One number or several, each below the count."""
    numbers = whole_numbers([given] if isinstance(given, Integral) else given, argument, count)
    if not numbers:
        raise ValueError(f"{argument} is empty; it must name at least one")
    return numbers


def _axes_given(ax: Any, needed: int) -> Any:
    flat = np.asarray(ax, dtype=object).ravel()
    if not all(hasattr(one, "imshow") for one in flat):
        raise TypeError(f"ax must be an array of matplotlib axes or None, got {ax!r}")
    if len(flat) < needed:
        raise ValueError(f"ax has {len(flat)} axes, but there are {needed} images to draw")
    return flat[:needed]


def _draw(axes: Any, images: list[tuple[str, Floats]]) -> None:
    for ax, (title, image) in zip(axes, images, strict=False):
        draw_plain(ax, image)
        ax.set_title(title, fontsize=8)
    for ax in axes[len(images) :]:
        ax.set_axis_off()
