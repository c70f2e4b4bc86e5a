# SPDX-License-Identifier: BSD-3-Clause
"""Small images with their label maps, and windows cut out by NumPy."""

import numpy as np

from co2forest.segmentation import ForestSegmenter

BACKGROUND, SQUARE, DISC = 0, 1, 2


def make_shapes(n_images, height=36, width=44, channels=3, dtype=np.uint8, seed=0):
    """A square of stripes and a disc of the same mean brightness on noise, somewhere."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    images, maps = [], []
    for _ in range(n_images):
        labels = np.full((height, width), BACKGROUND, dtype=np.uint8)
        top, left = rng.integers(4, height - 16), rng.integers(4, width // 2 - 10)
        labels[top : top + 12, left : left + 12] = SQUARE
        y, x = rng.integers(10, height - 10), rng.integers(width // 2 + 8, width - 10)
        labels[(rows - y) ** 2 + (columns - x) ** 2 < 36] = DISC
        image = rng.normal(90, 12, size=(height, width, channels))
        image[labels == SQUARE] += 40 * (columns[labels == SQUARE] % 4 < 2)[:, None] + 10
        image[labels == DISC] += 30
        image = np.clip(image, 0, 255)
        images.append(image.astype(dtype) if dtype == np.uint8 else (image / 255).astype(dtype))
        maps.append(labels)
    return images, maps


def windows_of(image, window):
    """Every window of an image as a row, values in the order of rows, columns and channels."""
    image = image.reshape(*image.shape[:2], -1)
    views = np.lib.stride_tricks.sliding_window_view(image, (window, window), axis=(0, 1))
    rows = views.transpose(0, 1, 3, 4, 2)
    return np.ascontiguousarray(rows.reshape(rows.shape[0] * rows.shape[1], -1))


def small_segmenter(**params):
    """One that is fitted in a moment."""
    defaults = {"window": 7, "n_estimators": 3, "samples_per_tree": 900, "n_pairs": 20}
    return ForestSegmenter(**defaults | {"random_state": 0} | params)
