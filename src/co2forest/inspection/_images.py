# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplanes as images, where features are pixels."""

from typing import Any

import numpy as np

from co2forest.data.outputs.base import Floats
from co2forest.inspection._colours import LINE, diverging
from co2forest.inspection._words import standardised
from co2forest.models.trees import TreeView
from co2forest.models.view import ModelView


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
    most = float(np.abs(image).max()) or 1.0
    ax.imshow(image, cmap=diverging(), vmin=-most, vmax=most, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color(LINE)
