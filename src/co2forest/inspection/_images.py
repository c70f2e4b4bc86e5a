"""Hyperplanes as images, where features are pixels."""

import numpy as np

from co2forest.inspection._trees import Floats, ForestView, TreeView
from co2forest.inspection._words import standardised


def weight_image(view: ForestView, tree: TreeView, node: int, size: tuple[int, int, int]) -> Floats:
    """Weights times spreads of all pixels, the largest of size one; channels side by side."""
    features, weights = tree.hyperplane(node)
    plane = np.zeros(view.n_features)
    plane[features] = standardised(view, features, weights)
    image: Floats = np.concatenate(list(np.moveaxis(plane.reshape(size), 2, 0)), axis=1)
    return image
