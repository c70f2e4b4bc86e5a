# SPDX-License-Identifier: BSD-3-Clause
"""NPZ files: arrays of rows and labels, or of columns by name."""

import io
import lzma
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import listed, one_line
from co2forest.tables._frames import check_width, with_target
from co2forest.tables._optional import library

PARTS = ("train", "test")
# RuntimeError: encrypted, or packed in a way that Python does not know.
_NPZ_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError,
               TypeError, SyntaxError, OSError, RuntimeError, OverflowError)  # fmt: skip

Array = npt.NDArray[Any]


def read_npz(data: bytes, name: str, part: str | None, limit: int) -> Any:
    """A frame of the arrays X and y, or X_train and y_train, or of columns by their names."""
    arrays = _arrays(data, name, limit)
    for suffix in [f"_{part}"] if part else ["", "_train"]:
        rows, labels = (
            arrays.get(letter.upper() + suffix, arrays.get(letter + suffix)) for letter in "xy"
        )
        if rows is not None:
            return _frame(rows, labels, name)
    lengths = {len(array) if array.ndim == 1 else -1 for array in arrays.values()}
    if part is None and len(lengths) == 1 and -1 not in lengths:
        return library("pandas").DataFrame(arrays)
    wanted = f"X_{part} and y_{part}" if part else "X and y, or X_train and y_train"
    found = [f"{key} of shape {array.shape}" for key, array in arrays.items()]
    raise ValueError(f"{name}: must have arrays {wanted}, but has {listed(found) or 'none'}")


def _arrays(data: bytes, name: str, limit: int) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            size = sum(member.file_size for member in members.infolist())
        if size > limit:
            raise ValueError(
                f"{size} bytes unpacked, but at most {limit} are allowed; numpy.savez writes an "
                "archive that is not packed"
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except _NPZ_ERRORS as error:
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{name}: has an array of objects, which would be a pickle and is never loaded; "
                "use numbers, or text of a fixed width"
            ) from None
        raise ValueError(f"{name}: not an NPZ file, or damaged ({one_line(error)})") from None
    # Members that are not arrays come as bytes.
    return {key: array for key, array in arrays.items() if isinstance(array, np.ndarray)}


def _frame(rows: Array, labels: Array | None, name: str) -> Any:
    if rows.ndim < 2 or rows.dtype.kind not in "biufU":
        raise ValueError(
            f"{name}: X must have two dimensions or more and hold numbers or text, but has shape "
            f"{rows.shape} and dtype {rows.dtype}"
        )
    if rows.size == 0:
        raise ValueError(f"{name}: X has shape {rows.shape}, so there is nothing in it")
    flat = rows.reshape(len(rows), -1)  # also images
    check_width(flat.shape[1], name)
    frame = library("pandas").DataFrame(flat, columns=[f"x{j}" for j in range(flat.shape[1])])
    if labels is None:
        return frame
    if labels.size != len(rows):
        raise ValueError(f"{name}: X has {len(rows)} rows, but y has shape {labels.shape}")
    return with_target(frame, labels.reshape(-1))
