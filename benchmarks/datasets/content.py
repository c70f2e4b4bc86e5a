# SPDX-License-Identifier: BSD-3-Clause
"""Whether arrays are the data set that they are said to be."""

import errno
import hashlib
import io
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import one_line

_NAMES = ("X_train", "y_train", "X_test", "y_test")
_ROWS_AT_ONCE = 4096
_LONGEST_HEADER = 1 << 16  # bytes
_LARGEST_NUMBER = 8  # bytes
# RuntimeError: encrypted, or packed in a way that Python does not know.
_NPZ_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError,
               RuntimeError, OverflowError)  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """The four arrays of a set, as a reader found them."""

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]


@dataclass(frozen=True)
class Sizes:
    """What is known of every set."""

    train: int
    test: int
    features: int
    classes: int

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape that the array of this name has."""
        rows = self.train if name.endswith("train") else self.test
        return (rows, self.features) if name.startswith("X") else (rows,)


def check_parts(parts: Parts, sizes: Sizes, where: str) -> Parts:
    """Refuse wrong shapes, labels and values; X to uint8 or float32, labels to int64."""
    checked = {}
    for name in _NAMES:
        array = getattr(parts, name)
        if array.shape != sizes.shape(name):
            raise ValueError(f"{where}: {name} has shape {array.shape}, not {sizes.shape(name)}")
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{where}: {name} has dtype {array.dtype}, expected numbers")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{where}: {name} contains NaN or infinity")
        if name.startswith("X"):
            checked[name] = _bytes_or_float32(array, f"{where}: {name}")
            continue
        labels = array.astype(np.int64)
        if not np.array_equal(labels, array) or labels.min() < 0 or labels.max() >= sizes.classes:
            raise ValueError(f"{where}: {name} has labels other than 0 to {sizes.classes - 1}")
        checked[name] = labels
    if len(np.unique(checked["y_train"])) < sizes.classes:
        raise ValueError(f"{where}: y_train lacks some of the {sizes.classes} classes")
    return Parts(**checked)


def _bytes_or_float32(array: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError(f"{where} contains a value that is too large for float32")
    return single


def content_digest(parts: Parts, factor: int) -> str | None:
    """SHA-256 of the values times `factor` as 16-bit whole numbers; None if they are none.

    It is the same for every dtype, order and kind of file that holds these values.
    """
    digest = hashlib.sha256()
    for name in _NAMES:
        array = getattr(parts, name)
        digest.update(f"{name}:{array.shape}\n".encode())
        scale = factor if name.startswith("X") else 1
        for block in _blocks(array):
            if block.dtype == np.uint8 and scale == 1:
                whole = block
            else:
                exact = block.astype(np.float64) * scale
                whole = np.rint(exact)
                # float32 holds 0.631 as 0.63099998
                if np.abs(exact - whole).max() > 1e-3 or np.abs(whole).max() > 32767:
                    return None
            digest.update(whole.astype("<i2").tobytes())
    return digest.hexdigest()


def read_npz(path: Path, sizes: Sizes) -> Parts:
    """The four arrays of an NPZ file, without taking more memory than they need."""
    with path.open("rb") as stream:
        return Parts(
            **{
                name: _parse(_unpack(stream, name, path, sizes), name, path, sizes)
                for name in _NAMES
            }
        )


def _unpack(stream: BinaryIO, name: str, path: Path, sizes: Sizes) -> bytes:
    """A member of the archive; one that is too long for its array only in part."""
    limit = _LONGEST_HEADER + _LARGEST_NUMBER * math.prod(sizes.shape(name))
    try:
        with zipfile.ZipFile(stream) as archive, archive.open(f"{name}.npy") as member:
            return member.read(limit)
    except KeyError as error:
        raise ValueError(f"{path}: has no array {name}") from error
    except _NPZ_ERRORS as error:
        raise ValueError(f"{path}: not an NPZ file, or damaged ({one_line(error)})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # which means a place outside of the file
            raise
        raise ValueError(f"{path}: not an NPZ file, or damaged") from error


def _parse(content: bytes, name: str, path: Path, sizes: Sizes) -> npt.NDArray[Any]:
    stream = io.BytesIO(content)
    try:
        shape, fortran, dtype = _read_header(stream)
    except (ValueError, TypeError, SyntaxError) as error:
        raise ValueError(f"{path}: {name} has a damaged header ({one_line(error)})") from error
    if dtype.kind not in "biuf":
        raise ValueError(f"{path}: {name} has dtype {dtype}, expected numbers")
    if dtype.itemsize > _LARGEST_NUMBER:
        raise ValueError(f"{path}: {name} has dtype {dtype}, expected numbers of at most 64 bits")
    if shape != sizes.shape(name):
        raise ValueError(f"{path}: {name} has shape {shape}, not {sizes.shape(name)}")
    expected = math.prod(shape) * dtype.itemsize
    if len(content) - stream.tell() != expected:
        raise ValueError(f"{path}: {name} has not the {expected} bytes that its header promises")
    array = np.frombuffer(content, dtype=dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if fortran else "C").copy()  # one that can be written


def _read_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream)
    raise ValueError(f"NPY format {version}")


def _blocks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    for start in range(0, len(array), _ROWS_AT_ONCE):
        yield array[start : start + _ROWS_AT_ONCE]
