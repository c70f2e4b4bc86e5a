# SPDX-License-Identifier: BSD-3-Clause
"""Images and label maps as files: found, paired, read and written.

Reading and writing of pictures needs Pillow: ``pip install 'co2forest[images]'``.
"""

import contextlib
import importlib
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from co2forest.files.atomic import write_atomically
from co2forest.files.messages import printable
from co2forest.segmentation.images import row_blocks

# The names of files that are looked at in a folder. What is in them decides how they are read.
ENDINGS = (
    *(".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"),
    *(".ppm", ".pgm", ".pbm", ".pnm", ".webp", ".npy"),
)

# Pillow's names. It knows many more formats; some of them start other programs.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM", "WEBP")
_LOSSY = ("JPEG", "MPO", "WEBP")  # MPO: a JPEG with a preview behind it
# Grey levels of two and four bits are spread to 0..255, which labels must not be.
_SPREAD = {"L;2": 85, "L;4": 17}
_ORIENTATION = 0x0112  # the EXIF tag

_BLOCK = 2**16  # pixels that are blended at once


class Found(NamedTuple):
    """The image files of a folder, and its other files."""

    files: list[Path]
    others: list[Path]


def find_images(path: str | os.PathLike[str]) -> Found:
    """The images (and ``.npy`` arrays) of a folder by name, without its subfolders; or one file.

    Hidden files do not count.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        return Found([path], [])
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    entries = [entry for entry in entries if not entry.is_dir()]
    files = [entry for entry in entries if entry.suffix.lower() in ENDINGS]
    if not files:
        raise ValueError(f"{path}: no images in this folder (names end in {', '.join(ENDINGS)})")
    return Found(files, [entry for entry in entries if entry.suffix.lower() not in ENDINGS])


def pair_by_stem(
    images: list[Path], label_maps: list[Path], *, spare_maps: bool = False
) -> list[tuple[Path, Path]]:
    """Each image with the label map of the same name, whatever the endings.

    One image and one label map belong together, whatever their names. ``spare_maps``: there may be
    label maps without an image.
    """
    if len(images) == len(label_maps) == 1:
        return [(images[0], label_maps[0])]
    image_of, map_of = _by_stem(images), _by_stem(label_maps)
    for stem, path in image_of.items():
        if stem not in map_of:
            raise ValueError(f"{path}: no label map {stem}.* in {label_maps[0].parent}")
    for stem, path in map_of.items():
        if stem not in image_of and not spare_maps:
            raise ValueError(f"{path}: a label map without an image {stem}.* in {images[0].parent}")
    return [(path, map_of[stem]) for stem, path in image_of.items()]


def _by_stem(files: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in files:
        if (other := found.setdefault(path.stem, path)) is not path:
            raise ValueError(f"{path}: has the same name as {other}; only one of them can be meant")
    return found


def read_image(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Read a picture, or an array from a ``.npy`` file.

    Pixels are taken as they are stored: a tag that says that a photograph is to be shown rotated
    (EXIF orientation) is ignored, but a warning names the file. The result is uint8: grey, or red,
    green and blue (also from a palette; transparency is dropped); or float32: grey levels of more
    than eight bits, in their own units. Every error names the file.
    """
    path = Path(path)
    with _naming(path):
        if path.suffix.lower() == ".npy":
            return _image_of_array(_load_array(path))
        with _opened(path) as picture:
            turned = _orientation(picture)
            image = _image_of_picture(picture)
    if turned != 1:
        warnings.warn(
            f"{path}: is stored rotated or mirrored (EXIF orientation {turned}); "
            "its pixels are taken as they are stored",
            stacklevel=2,
        )
    return image


def read_label_map(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Read a label map: the indices of a picture with a palette, or its grey levels.

    Colour images, and formats that blur labels, are refused. Every error names the file.
    """
    path = Path(path)
    with _naming(path):
        if path.suffix.lower() == ".npy":
            labels = _load_array(path)
            if labels.ndim != 2 or labels.dtype.kind not in "iub":
                raise _RefusedError(
                    f"a label map must be a 2-D array of whole numbers, but this has "
                    f"shape {labels.shape} and dtype {labels.dtype}"
                )
            return labels.astype(np.uint8) if labels.dtype == np.bool_ else labels
        with _opened(path) as picture:
            return _labels_of_picture(picture)


def as_channels(image: npt.NDArray[Any], channels: int) -> npt.NDArray[Any]:
    """A grey image of bytes as red, green and blue, where three channels are wanted."""
    if channels == 3 and image.ndim == 2 and image.dtype == np.uint8:
        return np.repeat(image[:, :, np.newaxis], 3, axis=2)
    return image


def write_label_map(
    path: str | os.PathLike[str],
    labels: npt.NDArray[Any],
    colours: npt.NDArray[np.uint8],
    void: int | None = None,
) -> None:
    """Write a label map as an indexed PNG: a pixel's index is its label, from 0 to 255.

    The palette is that of `co2forest.segmentation.colours.label_colours`; the label ``void`` is
    transparent.
    """
    if labels.size and (labels.min() < 0 or labels.max() > 255):
        raise ValueError(
            "an indexed PNG holds labels from 0 to 255, "
            f"but this map has {labels.min()} to {labels.max()}"
        )
    picture = pillow().fromarray(np.ascontiguousarray(labels, dtype=np.uint8))
    picture.putpalette(colours.astype(np.uint8).tobytes())
    _write_png(path, picture, {} if void is None else {"transparency": void})


def write_overlay(
    path: str | os.PathLike[str],
    image: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    colours: npt.NDArray[np.uint8],
    void: int | None = None,
) -> None:
    """Write an image blended half and half with the colours of its labels, as a PNG in RGB.

    Where the label is `void`, the image stays as it is. Grey levels in other units than bytes are
    spread from black to white. Images with neither one nor three channels are shown as their mean.
    """
    height, width = labels.shape
    blocks = list(row_blocks(height, width, _BLOCK))
    limits = _limits(_shown(image[rows]) for rows in blocks)
    blended = np.empty((*labels.shape, 3), dtype=np.uint8)
    for rows in blocks:
        shown = _as_bytes(_shown(image[rows]), limits)
        mixed = (shown.astype(np.uint16) + colours[labels[rows]] + 1) // 2
        coloured = np.True_ if void is None else (labels[rows] != void)[:, :, np.newaxis]
        blended[rows] = np.where(coloured, mixed, shown)
    _write_png(path, pillow().fromarray(blended), {})


class _RefusedError(Exception):
    """What is wrong with a file, without its name."""


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever a reader stumbles over into one line that names the file."""
    if not path.is_file():  # a pipe would wait for ever
        reason = "is not a regular file" if path.exists() else "no such file"
        raise FileNotFoundError(f"{path}: {reason}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path}: the file is empty")
    try:
        yield
    except _RefusedError as error:
        raise ValueError(f"{path}: {error}") from error.__cause__
    except (FileNotFoundError, ImportError):
        raise
    except MemoryError as error:
        raise MemoryError(f"{path}: not enough memory for this image") from error
    except PermissionError as error:
        raise PermissionError(f"{path}: permission denied") from error
    except Exception as error:
        raise ValueError(f"{path}: damaged or cut off ({printable(error)})") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A picture whose size and number of pages are known to be fine."""
    module = pillow()
    with warnings.catch_warnings():
        # Ignore warnings about large images (checked here) and about unused tags.
        warnings.simplefilter("ignore")
        try:
            picture = module.open(path, formats=_FORMATS)
        except module.DecompressionBombError as error:
            raise _RefusedError(
                f"has more than {2 * module.MAX_IMAGE_PIXELS} pixels; cut it into tiles"
            ) from error
        except importlib.import_module("PIL").UnidentifiedImageError as error:
            raise _RefusedError("not a PNG, JPEG, TIFF, BMP, PPM or WebP image") from error
        with picture:
            pages = getattr(picture, "n_frames", 1)
            if pages > 1 and picture.format != "MPO":
                raise _RefusedError(f"has {pages} pages; give each a file of its own")
            yield picture


def pillow() -> Any:
    """Pillow's module for images, or an ImportError that says what to install."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError("image files need Pillow: pip install 'co2forest[images]'") from error


def _orientation(picture: Any) -> int:
    """How a photograph is to be shown: 1 is as stored, 2 to 8 are rotated or mirrored."""
    try:
        orientation = picture.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 (tags may be damaged where pixels are not)
        return 1
    return orientation if orientation in range(2, 9) else 1


def _image_of_picture(picture: Any) -> npt.NDArray[Any]:
    mode = picture.mode
    if mode in {"1", "L", "LA", "La"}:
        return np.array(picture.convert("L"))
    if mode in {"I", "F"} or mode.startswith("I;"):
        return np.array(picture).astype(np.float32)
    return np.array(picture.convert("RGB"))


def _image_of_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim not in {2, 3} or 0 in array.shape:
        raise _RefusedError(
            "an image must have the shape (height, width) or (height, width, channels), "
            f"but this has {array.shape}"
        )
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind == "f" or array.dtype == np.uint16:
        with np.errstate(over="ignore"):  # infinite values are for others to refuse
            return array.astype(np.float32)
    raise _RefusedError(
        f"has dtype {array.dtype}; save an image as uint8, uint16 or a floating-point type"
    )


def _labels_of_picture(picture: Any) -> npt.NDArray[Any]:
    if picture.format in _LOSSY:
        name = "WebP" if picture.format == "WEBP" else "JPEG"
        raise _RefusedError(f"{name} files blur labels; save label maps as PNG")
    if picture.mode == "1":
        return np.array(picture).astype(np.uint8)
    if picture.mode in {"P", "I"} or picture.mode.startswith("I;"):
        return np.array(picture)
    if picture.mode == "L":
        spread = _SPREAD.get(str(picture.tile[0].args) if picture.tile else "", 1)
        return np.array(picture) // spread
    if picture.mode in {"LA", "RGB", "RGBA"}:
        *colours, last = np.moveaxis(np.array(picture), 2, 0)
        opaque = (last == 255).all() if picture.mode != "RGB" else (last == colours[0]).all()
        if opaque and all((colour == colours[0]).all() for colour in colours):
            return np.array(colours[0])  # grey, saved with channels that say nothing
    raise _RefusedError(
        f"a colour image ({picture.mode}), not a label map; convert it to an indexed or grey PNG "
        "in which the value of a pixel is its label"
    )


def _load_array(path: Path) -> npt.NDArray[Any]:
    """An array of a file, whose header may lie about its size; never a pickle."""
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.array(mapped, dtype=mapped.dtype.newbyteorder("="), order="C")


def _shown(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What there is to see of an image: grey levels, or red, green and blue."""
    if image.ndim == 3 and image.shape[2] != 3:
        return np.asarray(image.mean(axis=2, dtype=np.float32))
    return image


def _limits(blocks: Iterable[npt.NDArray[Any]]) -> tuple[float, float]:
    """The least and the largest number that is finite; of bytes, those that there can be."""
    least, largest = np.inf, -np.inf
    for block in blocks:
        if block.dtype == np.uint8:
            return 0, 255
        known = block[np.isfinite(block)]
        if known.size:
            least, largest = min(least, float(known.min())), max(largest, float(known.max()))
    return least, largest


def _as_bytes(image: npt.NDArray[Any], limits: tuple[float, float]) -> npt.NDArray[np.uint8]:
    """Red, green and blue; numbers between the limits as 0 to 255, and NaN as 0."""
    if image.dtype != np.uint8:
        least, largest = limits
        known = np.isfinite(image)
        levels = np.zeros(image.shape)
        np.subtract(image, least, out=levels, where=known)
        levels /= (largest - least) or 1
        image = np.round(255 * levels).astype(np.uint8)
    return image if image.ndim == 3 else np.repeat(image[:, :, np.newaxis], 3, axis=2)


def _write_png(path: str | os.PathLike[str], picture: Any, options: dict[str, Any]) -> None:
    write_atomically(Path(path), lambda file: picture.save(file, "PNG", **options))
