# SPDX-License-Identifier: BSD-3-Clause
"""Files that a command will write, looked at before the work begins."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


def check_outputs(outputs: Iterable[Path], inputs: Iterable[Path], *, overwrite: bool) -> None:
    """No output may replace an input, or another output; with `overwrite`, any other file."""
    read = {_identity(path) for path in inputs if path.exists()}
    planned: set[str] = set()
    existing: list[Path] = []
    for path in outputs:
        if path.is_dir():
            raise ValueError(f"{path}: is a folder; give another --out")
        if path.exists() and _identity(path) in read:
            raise ValueError(f"{path}: would be overwritten, but is an input; give another --out")
        if os.path.normcase(path) in planned:
            raise ValueError(f"{path}: would be written for two images; rename one of them")
        planned.add(os.path.normcase(path))
        if path.exists():
            existing.append(path)
    if existing and not overwrite:  # last: it would not help against the others
        raise ValueError(f"{existing[0]}: exists already; --overwrite replaces it")


def check_apart(out: Path, images: Iterable[Path]) -> None:
    """Results do not go among images, where they would be taken for images the next time."""
    for folder in {image.parent for image in images}:
        if out.is_dir() and out.samefile(folder):
            raise ValueError(f"{out}: is the folder of the images; give another --out")


def prepare_folder(folder: Path) -> None:
    """Make a folder, and see that files can be written there."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: is a file, not a folder")
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        probe.open("xb").close()
    except OSError as error:  # about a name that nobody has asked for
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from error
    probe.unlink()


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    """Arrays by name; NumPy would add an ending to a path, but not to a stream."""
    with path.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _identity(path: Path) -> tuple[int, int]:
    """The same for all names of a file."""
    about = path.stat()
    return about.st_dev, about.st_ino
