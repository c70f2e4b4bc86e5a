# SPDX-License-Identifier: BSD-3-Clause
"""Colours of pictures, which people with any kind of colour blindness tell apart."""

from typing import Any

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.models.view import ModelView
from co2forest.segmentation.colours import hexadecimal, label_colours

# Of Okabe and Ito's colours: what pushes to the right or raises a number, and the opposite.
UP, DOWN = "#0072b2", "#d55e00"
INK, QUIET, LINE, PAPER = "#222222", "#595959", "#a0a0a0", "#ffffff"
_MOST = 256  # colours there are


def output_colour(view: ModelView, output: int) -> str:
    """Of a class or label; numbers have one colour."""
    if view.kind in ("numbers", "logarithms"):
        return UP
    palette = label_colours(range(min(view.n_outputs, _MOST)))
    return hexadecimal(palette[output % _MOST])


def node_colour(view: ModelView, values: Floats) -> str:
    """A light tint of the likeliest class, the stronger the surer it is."""
    if view.kind != "classes" or view.n_outputs == 1:
        return PAPER
    likeliest = int(values.argmax())
    sure = (float(values[likeliest]) - 1 / view.n_outputs) / (1 - 1 / view.n_outputs)
    return tint(output_colour(view, likeliest), 0.5 * sure)


def tint(colour: str, part: float) -> str:
    """A colour mixed with white."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return hexadecimal(np.round(255 + part * (parts - 255.0)).astype(np.uint8))


def diverging() -> Any:
    """A colour map from what pushes to the left over white to what pushes to the right."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("co2forest_weights", [DOWN, "#f7f7f7", UP])
