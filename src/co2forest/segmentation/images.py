# SPDX-License-Identifier: BSD-3-Clause
"""Checks images and label maps; whatever is wrong is said with the name of the image."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.files.arrays import aligned
from co2forest.files.messages import shown

Image = npt.NDArray[Any]  # (height, width, channels), C-contiguous, uint8 or float32
LabelMap = npt.NDArray[Any]  # (height, width), whole numbers
Names = Sequence[str] | None  # of the files that images come from

_BLOCK = 2**20  # pixels
_LARGEST = np.float32(1e38)  # beyond, the core cannot take differences
_RIGHT_DTYPES = "uint8, or float32 (also made of float16, float64 and uint16)"


def as_list(values: Any, argument: str) -> list[Any]:
    """The images or maps one by one."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise ValueError(f"{argument} must be a list of arrays, got {shown(values)}")
    if isinstance(values, np.ndarray) and values.ndim == 0:
        raise ValueError(f"{argument} must be a list of arrays, got an array without axes")
    listed = list(values)
    if not listed:
        raise ValueError(f"{argument} is empty; at least one is needed")
    return listed


def name_of(argument: str, number: int, names: Names) -> str:
    """How messages call an image or a map."""
    name = f"{argument}[{number}]"
    return name if names is None else f"{name} ({names[number]})"


def checked_images(images: Any, names: Names = None) -> list[Image]:
    """Images of one kind of numbers with as many channels each."""
    if isinstance(images, np.ndarray) and images.ndim == 3 and images.shape[2] in (1, 3, 4):
        # As a stack of grey images, these would be 1, 3 or 4 pixels wide.
        raise ValueError(
            f"images has shape {images.shape}, which is that of a single image; put it into a list"
        )
    checked = [
        checked_image(image, name_of("images", number, names))
        for number, image in enumerate(as_list(images, "images"))
    ]
    first = checked[0]
    for number, image in enumerate(checked):
        if image.shape[2] != first.shape[2]:
            raise ValueError(
                f"{name_of('images', number, names)} has {channels_of(image)}, but "
                f"{name_of('images', 0, names)} has {channels_of(first)}; all must have the same "
                "number"
            )
        if image.dtype != first.dtype:
            raise ValueError(
                f"{name_of('images', number, names)} is read as {image.dtype}, but "
                f"{name_of('images', 0, names)} as {first.dtype}; all must be {_RIGHT_DTYPES}"
            )
    return checked


def single_image(image: Any) -> Image:
    """The one image that a prediction takes."""
    listed = isinstance(image, list | tuple) and any(np.ndim(part) > 1 for part in image)
    if listed or np.ndim(image) == 4:
        raise ValueError(
            f"image must be a single image, got {len(image)} of them; predict one after the other"
        )
    return checked_image(image, "image")


def checked_image(image: Any, name: str) -> Image:
    """One image as (height, width, channels) of uint8 or float32; a copy only if it must be."""
    array = _as_array(image, name)
    if array.ndim not in (2, 3):
        raise ValueError(
            f"{name} has shape {array.shape}; an image must have shape (height, width) or "
            "(height, width, channels)"
        )
    if array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}, so it has no pixels")
    converted = _converted(array, name)
    return converted if converted.ndim == 3 else converted[:, :, np.newaxis]


def check_size(image: Image, name: str, least: int, window: int) -> None:
    """Raise if an image is too small for the window."""
    height, width = image.shape[:2]
    if min(height, width) < least:
        raise ValueError(
            f"{name} has {height} x {width} pixels; with window={window} an image must have at "
            f"least {least} x {least}" + (", or border='reflect'" if least == window > 1 else "")
        )


def checked_maps(label_maps: Any, images: list[Image], names: Names = None) -> list[LabelMap]:
    """A map of whole numbers for each image, of the image's size."""
    maps = as_list(label_maps, "label_maps")
    if len(maps) != len(images):
        raise ValueError(
            f"images has {len(images)} and label_maps {len(maps)} entries; each image needs a map"
        )
    checked = []
    for number, (labels, image) in enumerate(zip(maps, images, strict=True)):
        array = checked_map(labels, name_of("label_maps", number, names))
        if array.shape != image.shape[:2]:
            raise ValueError(
                f"{name_of('label_maps', number, names)} has shape {array.shape}, but "
                f"{name_of('images', number, names)} has {image.shape[:2]} pixels; a map must be "
                "as large as its image"
            )
        checked.append(array)
    return checked


def checked_map(labels: Any, name: str) -> LabelMap:
    """Labels as whole numbers of at most 64 bits with a sign; a copy only if it must be."""
    array = _as_array(labels, name)
    if array.ndim != 2:
        hint = "; colours must be turned into numbers first" if array.ndim == 3 else ""
        raise ValueError(
            f"{name} has shape {array.shape}; a label map must have shape (height, width){hint}"
        )
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        # Beyond 2 ** 53 not every number is there, so that a label may have been rounded.
        if not ((whole == array) & (np.abs(array) <= 2.0**53)).all():
            raise ValueError(
                f"{name} is {array.dtype} and has labels that are not whole numbers, like "
                f"{array[(whole != array) | (np.abs(array) > 2.0**53)][0]}"
            )
        return whole
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} is {array.dtype}; labels must be whole numbers")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise ValueError(f"{name} has the label {array.max()}; it must be below 2**63")
        return array.astype(np.int64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def labels_in(maps: list[LabelMap]) -> npt.NDArray[Any]:
    """All labels that occur, sorted; of the maps' dtype if they have the same, else int64."""
    dtypes = {labels.dtype for labels in maps}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)
    found = [np.unique(labels).astype(dtype) for labels in maps]
    return np.unique(np.concatenate(found))


def codes_of(
    labels: LabelMap, classes: npt.NDArray[Any], dtype: npt.DTypeLike, other: int
) -> npt.NDArray[Any]:
    """The number of each label among the sorted classes; ``other`` where it is none of them."""
    codes = np.full(labels.shape, other, dtype=dtype)
    if len(classes) == 0:
        return codes
    for rows in row_blocks(*labels.shape):
        block = labels[rows]
        place = np.searchsorted(classes, block)
        np.minimum(place, len(classes) - 1, out=place)
        known = classes[place] == block
        codes[rows][known] = place[known]
    return codes


def row_blocks(height: int, width: int, pixels: int = _BLOCK) -> Iterator[slice]:
    """Slices of rows with not many more pixels than said, each with a row at least."""
    step = max(1, pixels // max(width, 1))
    for begin in range(0, height, step):
        yield slice(begin, min(begin + step, height))


def _as_array(value: Any, name: str) -> npt.NDArray[Any]:
    if np.ma.isMaskedArray(value):
        raise ValueError(
            f"{name} is a masked array; fill it: labels with ignore_label, floats with NaN"
        )
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:  # rows of different length, or no data at all
        raise ValueError(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind in "OUSV":
        raise ValueError(f"{name} must be an array of numbers, got {shown(value)}")
    return array


def _converted(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    dtype = array.dtype.newbyteorder("=")
    if dtype == np.uint8:
        return aligned(np.ascontiguousarray(array))
    if dtype.kind != "f" and dtype != np.uint16:
        hint = (
            f"use {'255 * ' if dtype.kind == 'b' else ''}array.astype('uint8') if its values are "
            f"{'masks' if dtype.kind == 'b' else 'from 0 to 255'}, else array.astype('float32')"
        )
        raise ValueError(f"{name} is {array.dtype}; an image must be {_RIGHT_DTYPES}: {hint}")
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(array, dtype=np.float32)
    if (floats > _LARGEST).any() or (floats < -_LARGEST).any():
        reason = "infinite values" if np.isinf(array).any() else f"values beyond {_LARGEST:.0e}"
        raise ValueError(f"{name} has {reason}; use NaN where a value is missing")
    return aligned(floats)


def channels_of(image: Image) -> str:
    """The number of channels, in words."""
    return f"{image.shape[2]} channel{'' if image.shape[2] == 1 else 's'}"
