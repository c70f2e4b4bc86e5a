# SPDX-License-Identifier: BSD-3-Clause
"""Colours of labels, in indexed PNG files and overlays."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

# Okabe and Ito's colours, which people with any kind of colour blindness tell apart, without their
# black; grey stands in for it.
_BASE = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (204, 121, 167),
    (85, 85, 85),
)


def label_colours(classes: Iterable[int], void: int | None = None) -> npt.NDArray[np.uint8]:
    """A palette of red, green and blue, (256, 3), in which classes get colours in their order.

    The first eight classes get colours that differ for colour-blind people, too. From the ninth on
    the same eight are used again, darker or lighter, so that no two classes have the same colour;
    the more classes, the more similar some look. ``void``, the label of pixels without an answer,
    is black, as is every label that is no class.
    """
    palette = np.zeros((256, 3), dtype=np.uint8)
    for rank, label in enumerate(label for label in classes if label != void):
        palette[label] = _colour(rank)
    return palette


def hexadecimal(colour: npt.NDArray[np.uint8]) -> str:
    """A colour as web pages write it."""
    red, green, blue = (int(value) for value in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _colour(rank: int) -> npt.NDArray[np.uint8]:
    """The base colours; then mixed with black or white, each time by another fraction."""
    turn, base = divmod(rank, len(_BASE))
    colour = np.array(_BASE[base], dtype=np.float64)
    if turn:
        step, light = divmod(turn - 1, 2)
        colour += (255 * light - colour) * _fraction(step)
    return np.round(colour).astype(np.uint8)


def _fraction(step: int) -> float:
    """1/2, 1/4, 3/4, 1/8, 5/8, ...: far from all before it. Never black or white (times 0.9)."""
    fraction, digit = 0.0, 0.5
    number = step + 1
    while number:
        fraction += digit * (number & 1)
        number >>= 1
        digit /= 2
    return 0.9 * fraction
