# SPDX-License-Identifier: BSD-3-Clause
"""The windows of images: rows to train on, and blocks of rows to predict. None is a copy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import Progress
from co2forest.fitting.plan import Draws
from co2forest.segmentation.images import Image, row_blocks

MOST_CLASSES = 255
IGNORED = 255  # the code of a pixel that is no window's centre

_BLOCK_BYTES = 32 * 2**20  # of probabilities, and of what the core needs beside them

# What the core says of rows of an image: (images, the image's number, first row, last row).
PredictRows = Callable[[_native.WindowImages, int, int, int], npt.NDArray[Any]]


def mirrored(image: Image, half: int) -> Image:
    """An image with a border of so many pixels, in which it is mirrored."""
    return np.pad(image, ((half, half), (half, half), (0, 0)), mode="reflect")


def inside(pixels: npt.NDArray[Any], margin: int) -> npt.NDArray[Any]:
    """All pixels, without a copy, that are so far away from the border."""
    height, width = pixels.shape[:2]
    return pixels[margin : height - margin, margin : width - margin]


@dataclass(frozen=True)
class WindowSet:
    """Windows to train on: `co2forest.data.training_set.TrainingData`."""

    images: list[Image]
    # For each image the code of the pixel at the centre of each window.
    codes: list[npt.NDArray[np.uint8]]
    n_classes: int
    window: int
    samples_per_tree: int
    balance: bool
    center: bool
    windows: _native.WindowImages = field(init=False, repr=False)
    class_counts: npt.NDArray[np.int64] = field(init=False, repr=False)
    impurity_unit: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", _native.window_images(self.images, self.window))
        object.__setattr__(self, "class_counts", count_codes(self.codes, self.n_classes))

    @property
    def n_rows(self) -> int:
        """The number of windows that each tree draws, with repeats."""
        if self.balance:
            return self.samples_per_tree // self.n_classes * self.n_classes
        return min(self.samples_per_tree, int(self.class_counts.sum()))

    @property
    def n_features(self) -> int:
        """The number of values in a window."""
        return self.windows.features

    @property
    def n_channels(self) -> int:
        """The number of values in a pixel."""
        return int(self.images[0].shape[2])

    @property
    def image_dtype(self) -> str:
        """What all images are read as."""
        return self.images[0].dtype.name

    def draws(self, seed: int) -> Draws:
        """How trees draw: as many windows of each class, if the segmenter balances them."""
        return Draws(seed, self.n_rows, self.n_rows, balance=self.balance)

    @property
    def fixed_scale(self) -> str:
        """Values in one unit get one scale; channels of floats may have units of their own."""
        one_unit = self.image_dtype == "uint8" or self.n_channels == 1
        return "global" if one_unit else "standard"

    def train(
        self, mean: npt.NDArray[np.float32], params: _native.TrainParams, progress: Progress
    ) -> tuple[_native.Forest, list[tuple[int, int]]]:
        """Grow trees; for each, return the numbers of steps and nodes."""
        params.centre = self.center
        return _native.train_windows(
            self.windows, self.codes, self.n_classes, mean, params, progress
        )


def count_codes(codes: list[npt.NDArray[np.uint8]], n_classes: int) -> npt.NDArray[np.int64]:
    """How often each class occurs."""
    counts = np.zeros(MOST_CLASSES + 1, dtype=np.int64)
    for each in codes:
        for rows in row_blocks(*each.shape):
            counts += np.bincount(each[rows].ravel(), minlength=len(counts))
    return counts[:n_classes]


def predicted_blocks(
    image: Image, window: int, n_outputs: int, predict: PredictRows
) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Rows of windows, and what ``predict`` says of these, in the shape of the image."""
    windows = _native.window_images([image], window)
    height, width = (size - window + 1 for size in image.shape[:2])
    # The core adds pixels in blocks: 2 bytes for each value, and 20 for a pixel.
    pixels = _BLOCK_BYTES // (8 * n_outputs + 2 * image.shape[2] + 20)
    for rows in row_blocks(height, width, pixels):
        answers = predict(windows, 0, rows.start, rows.stop)
        yield rows, answers.reshape(rows.stop - rows.start, width, *answers.shape[1:])
