# SPDX-License-Identifier: BSD-3-Clause
"""What pictures have in common: axes, colours, and hyperplanes as images."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.inspection._words import standardised
from co2forest.models.trees import TreeView
from co2forest.models.view import ModelView
from co2forest.segmentation.colours import hexadecimal, label_colours

# Colours that people with any kind of colour blindness tell apart.
# From Okabe and Ito: what pushes to the right or raises a number, and the opposite.
UP, DOWN = "#0072b2", "#d55e00"
INK, QUIET, LINE, PAPER = "#222222", "#595959", "#a0a0a0", "#ffffff"
_MOST = 256  # colours there are


def pyplot() -> Any:
    """Matplotlib's module for figures, or an error that says where it comes from."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'co2forest[plot]'") from error
    return plt


@contextlib.contextmanager
def axes_for(ax: Any, size: tuple[float, float]) -> Iterator[Any]:
    """The axes given, or those of a new figure, which goes away again if drawing fails."""
    plt = pyplot()
    if ax is not None:
        if not hasattr(ax, "add_patch"):
            raise TypeError(f"ax must be matplotlib axes or None, got {ax!r}")
        yield ax
        return
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    try:
        yield ax
    except BaseException:
        plt.close(figure)
        raise


def name_bars(ax: Any, names: list[str]) -> None:
    """Names from the top down, and no more lines than needed."""
    ax.set_yticks(range(len(names)), names, fontsize=8, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def output_colour(view: ModelView, output: int) -> str:
    """The colour of a class or label; numbers have one colour."""
    if view.kind in ("numbers", "logarithms"):
        return UP
    palette = label_colours(range(min(view.n_outputs, _MOST)))
    return hexadecimal(palette[output % _MOST])


def node_colour(view: ModelView, values: Floats) -> str:
    """A light tint of the likeliest class, stronger if it is more certain."""
    if view.kind != "classes" or view.n_outputs == 1:
        return PAPER
    likeliest = int(values.argmax())
    sure = (float(values[likeliest]) - 1 / view.n_outputs) / (1 - 1 / view.n_outputs)
    return tint(output_colour(view, likeliest), 0.5 * sure)


def tint(colour: str, fraction: float) -> str:
    """A colour mixed with white."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return hexadecimal(np.round(255 + fraction * (channels - 255.0)).astype(np.uint8))


def show_weights(ax: Any, image: Floats, **options: Any) -> None:
    """An image of weights: from what pushes to the left over white to what pushes to the right."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("co2forest_weights", [DOWN, "#f7f7f7", UP])
    most = float(np.abs(image).max()) or 1.0
    ax.imshow(image, cmap=colours, vmin=-most, vmax=most, interpolation="nearest", **options)


def weight_image(view: ModelView, tree: TreeView, node: int, size: tuple[int, int, int]) -> Floats:
    """Weights times spreads of all pixels, the largest of size one; channels side by side."""
    features, weights = tree.hyperplane(node)
    plane = np.zeros(view.n_features)
    plane[features] = standardised(view, features, weights)
    return as_image(plane, size)


def as_image(numbers: Floats, size: tuple[int, int, int]) -> Floats:
    """A number for each feature as an image, its channels side by side."""
    image: Floats = np.concatenate(list(np.moveaxis(numbers.reshape(size), 2, 0)), axis=1)
    return image


def draw_plain(ax: Any, image: Floats) -> None:
    """An image on axes of its own, white where it is zero."""
    show_weights(ax, image)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color(LINE)
