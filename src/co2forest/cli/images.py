# SPDX-License-Identifier: BSD-3-Clause
"""Images and label maps of the command line, in memory, and tables of their classes."""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.text import Text

from co2forest.cli.layout import new_table, table_text
from co2forest.cli.messages import counted
from co2forest.files.messages import finite
from co2forest.segmentation.colours import hexadecimal
from co2forest.segmentation.files import (
    as_channels,
    read_image,
    read_label_map,
)
from co2forest.segmentation.images import checked_images, checked_maps

_COUNTS = ("true_positives", "false_positives", "false_negatives")


@dataclass(frozen=True)
class Pairs:
    """Images with their label maps, and the files that they come from."""

    images: list[npt.NDArray[Any]]
    label_maps: list[npt.NDArray[Any]]
    image_files: list[Path]
    label_files: list[Path]

    def __len__(self) -> int:
        return len(self.images)

    def subset(self, indices: npt.NDArray[np.intp]) -> "Pairs":
        """Some of them."""
        fields = (self.images, self.label_maps, self.image_files, self.label_files)
        return Pairs(*([field[index] for index in indices] for field in fields))

    @property
    def image_names(self) -> list[str]:
        """What messages call the images."""
        return [str(file) for file in self.image_files]


def channels_of(image: npt.NDArray[Any]) -> int:
    """Number of channels; 1 if grey."""
    return 1 if image.ndim == 2 else image.shape[2]


def count_labels(label_maps: list[npt.NDArray[Any]]) -> dict[int, int]:
    """The number of pixels of each label."""
    counts: Counter[int] = Counter()
    for label_map in label_maps:
        labels, numbers = np.unique(label_map, return_counts=True)
        counts.update(dict(zip(labels.tolist(), numbers.tolist(), strict=True)))
    return dict(sorted(counts.items()))


def load_pairs(files: list[tuple[Path, Path]]) -> Pairs:
    """Read all files; whatever does not fit together is an error that names a file."""
    pictures, label_maps = [], []
    for image_file, label_file in files:
        pictures.append(read_image(image_file))
        label_maps.append(read_label_map(label_file))
        check_sizes(pictures[-1], label_maps[-1], image_file, label_file)
    image_files, label_files = map(list, zip(*files, strict=True))
    pairs = Pairs(_of_one_kind(pictures, image_files), label_maps, image_files, label_files)
    # What a segmenter refuses, before any is trained.
    checked = checked_images(pairs.images, pairs.image_names)
    checked_maps(pairs.label_maps, checked, [str(file) for file in pairs.label_files])
    return pairs


def check_sizes(
    image: npt.NDArray[Any], labels: npt.NDArray[Any], image_file: Path, label_file: Path
) -> None:
    """An image and its label map have the same pixels."""
    if image.shape[:2] != labels.shape:
        raise ValueError(
            f"{label_file}: has {size_of(labels)} pixels, but {image_file} has {size_of(image)}"
        )


def size_of(image: npt.NDArray[Any]) -> str:
    """Width and height, in the order of image viewers."""
    return f"{image.shape[1]} x {image.shape[0]}"


def _of_one_kind(images: list[npt.NDArray[Any]], files: list[Path]) -> list[npt.NDArray[Any]]:
    """Images of one kind: grey ones among colour images become colour images."""
    most = max(channels_of(image) for image in images)
    images = [as_channels(image, most) for image in images]
    for image, file in zip(images, files, strict=True):
        if _kind(image) != _kind(images[0]):
            raise ValueError(
                f"{file}: {_kind(image)}, but {files[0]}: {_kind(images[0])}; "
                "all images must be of one kind"
            )
    return images


def _kind(image: npt.NDArray[Any]) -> str:
    return f"{counted(channels_of(image), 'channel')} of {image.dtype}"


def class_table(counts: dict[int, int], colours: npt.NDArray[np.uint8], void: int | None) -> str:
    """Labels with their shares of the pixels, and the colours that they get in files."""
    total = sum(counts.values())
    table = new_table("class", "pixels", "share", "colour", left=["colour"])
    # Elsewhere different colours would look the same.
    swatches = Console().color_system in {"256", "truecolor"}
    for label, count in counts.items():
        name = "void" if label == void else str(label)
        known = 0 <= label <= 255
        code = hexadecimal(colours[label]) if known else "-"
        swatch = Text("  ", style=f"on {code}") if known and swatches else Text("")
        share = f"{100 * count / total:.2f} %"
        table.add_row(name, f"{count}", share, Text.assemble(code, " ", swatch))
    return table_text(table)


def jaccard_text(table: Any) -> str:
    """A Jaccard table in words of the command line."""
    shown = new_table("class", "Jaccard", "true positives", "false positives", "false negatives")
    for row in jaccard_rows(table):
        score = "absent" if row["jaccard"] is None else f"{row['jaccard']:.2f} %"
        counts = (row[name] for name in _COUNTS)
        shown.add_row(str(row["label"]), score, *(str(count) for count in counts))
    mean = "-" if math.isnan(table.mean) else f"{table.mean:.2f} %"
    shown.add_row("mean", mean)
    return table_text(shown)


def jaccard_rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a Jaccard table; None is the score of a class that is absent."""
    columns = {"label": table.classes, "jaccard": table.jaccard}
    columns |= {name: getattr(table, name) for name in _COUNTS}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [finite(dict(zip(columns, row, strict=True))) for row in rows]


def jaccard_json(table: Any) -> dict[str, Any]:
    """A Jaccard table for programs."""
    return {"mean": table.mean, "classes": jaccard_rows(table)}


def class_rows(counts: dict[int, int]) -> list[dict[str, Any]]:
    """The shares of the labels for programs."""
    total = sum(counts.values()) or 1  # if no image could be labelled
    return [
        {"label": label, "pixels": count, "share": count / total} for label, count in counts.items()
    ]
