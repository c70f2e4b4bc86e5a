# SPDX-License-Identifier: BSD-3-Clause
"""The container of model files: safetensors, written and read without its library.

A file has 8 bytes with the length of a header, the header, and the arrays one behind the other. The
header is JSON: by name, each array's dtype, shape, and place behind the header; and some text.

The library would read the header through a map of the file, so that a file that somebody overwrites
in that moment would end the process. Here a file is opened once and read from that descriptor.
"""

import json
import math
import os
import stat
from collections.abc import Mapping
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from co2forest.exceptions import ModelFormatError
from co2forest.files.arrays import aligned
from co2forest.files.messages import shown
from co2forest.files.untrusted_json import check_values, parse

Arrays = dict[str, npt.NDArray[Any]]

# In the order in which arrays are written, so that each begins at a multiple of its numbers' size.
_DTYPES = {
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "F32": "<f4",
    "U32": "<u4",
    "I32": "<i4",
    "F16": "<f2",
    "U16": "<u2",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_RANKS = {name: rank for rank, name in enumerate(_DTYPES)}

_TEXTS = "__metadata__"
_LENGTH = 8  # bytes that hold the length of the header
_PICKLE = 0x80  # its first byte since protocol 2
_MOST_HEADER = 100_000_000  # bytes that every reader of safetensors takes
_MOST_AXES = 32  # of every NumPy; more would only cost time
_PIECE = 2**26  # bytes that are read at once, so that Ctrl-C has an effect between them

_OF_PICKLES = "a pickle, not a model file; pickle or joblib may load it, if you trust it"
_OTHER_SIZE = "its size is not what its header says: the file is cut off or damaged"


class _Entry(NamedTuple):
    """Where an array is, counted from the end of the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class SafetensorsFile:
    """A file that is open: its texts, and its arrays.

    What is not as it should be is a ModelFormatError, and no memory is taken for more than the file
    has.
    """

    def __init__(self, path: Path) -> None:
        self._file = _open(path)
        try:
            self._data_begin, self.n_bytes, header = _read_header(self._file)
            self.texts = _texts(header.pop(_TEXTS, {}))
            self._entries = _entries(header, self.n_bytes)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def arrays(self, mapped: str | None = None) -> Arrays:
        """All arrays; those whose names end with ``mapped`` stay in the file."""
        return {entry.name: self._array(entry, mapped) for entry in self._entries}

    def _array(self, entry: _Entry, mapped: str | None) -> npt.NDArray[Any]:
        about = f"the array {shown(entry.name)}"
        if entry.dtype not in _DTYPES:
            raise ModelFormatError(f"{about} has the unknown dtype {shown(entry.dtype)}")
        dtype = np.dtype(_DTYPES[entry.dtype])
        if math.prod(entry.shape) * dtype.itemsize != entry.end - entry.begin:
            raise ModelFormatError(f"{about} has another size than its shape")
        place = self._data_begin + entry.begin
        try:
            stays = mapped is not None and entry.name.endswith(mapped)
            if stays and entry.begin < entry.end:  # of nothing there is no map
                file: Any = self._file
                found = np.memmap(file, dtype, "r", place, entry.shape)
                return aligned(np.asarray(found))  # other writers may begin anywhere
            array = np.empty(entry.shape, dtype)
        except ValueError as error:  # it got shorter, or a size of zero stands beside 2^62
            raise ModelFormatError(f"{about} cannot be read ({error})") from error
        self._file.seek(place)
        _read_into(self._file, array.reshape(-1).view(np.uint8).data)
        return array


def _open(path: Path) -> FileIO:
    """Open a regular file for reading; never wait, as a pipe would make us do."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        file = FileIO(os.fspath(path), opener=opener)
    except OSError:
        if path.exists() and not path.is_file():
            raise ModelFormatError(_irregular(path.is_dir())) from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ModelFormatError(_irregular(False))
    return file


def _irregular(is_directory: bool) -> str:
    return "a directory" if is_directory else "not a regular file"


def _read_header(file: FileIO) -> tuple[int, int, dict[str, Any]]:
    """The place and the size of the data behind the header, and the header."""
    beginning = file.read(_LENGTH + 1)
    if not beginning:
        raise ModelFormatError("the file is empty")
    length = int.from_bytes(beginning[:_LENGTH], "little")
    if beginning[_LENGTH:] != b"{" or length > _MOST_HEADER:
        is_pickle = beginning[0] == _PICKLE
        raise ModelFormatError(_OF_PICKLES if is_pickle else "not a safetensors file")
    data_begin = _LENGTH + length
    n_bytes = os.fstat(file.fileno()).st_size - data_begin
    if n_bytes < 0:
        raise ModelFormatError(_OTHER_SIZE)
    file.seek(_LENGTH)
    header = bytearray(length)
    _read_into(file, memoryview(header))
    try:
        text = header.decode()
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"the header is not text ({error})") from error
    return data_begin, n_bytes, parse(text, n_bytes)


def _texts(texts: Any) -> dict[str, str]:
    if not isinstance(texts, dict) or not all(type(text) is str for text in texts.values()):
        raise ModelFormatError(f"{_TEXTS!r} must be an object of strings")
    return texts


def _entries(header: dict[str, Any], n_bytes: int) -> list[_Entry]:
    """The arrays in their order in the file, which they fill."""
    entries = [_entry(name, about) for name, about in header.items()]
    entries.sort(key=lambda entry: (entry.begin, entry.end))
    places = [(0, 0), *((entry.begin, entry.end) for entry in entries)]
    if any(before[1] != after[0] for before, after in pairwise(places)):
        raise ModelFormatError("its arrays overlap or leave gaps")
    if places[-1][1] != n_bytes:
        raise ModelFormatError(_OTHER_SIZE)
    return entries


def _entry(name: str, about: Any) -> _Entry:
    if not isinstance(about, dict) or about.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFormatError(f"what the header says of {shown(name)} is not about an array")
    dtype, shape, place = about["dtype"], about["shape"], about["data_offsets"]
    numbers = (
        isinstance(shape, list)
        and isinstance(place, list)
        and all(type(number) is int and number >= 0 for number in [*shape, *place])
    )
    if type(dtype) is not str or not numbers or len(shape) > _MOST_AXES:
        raise ModelFormatError(f"the array {shown(name)} has no dtype, shape or place")
    if len(place) != 2 or place[0] > place[1]:
        raise ModelFormatError(f"the place of {shown(name)} is not a beginning and an end")
    return _Entry(name, dtype, tuple(shape), *place)


def _read_into(file: FileIO, buffer: memoryview) -> None:
    while len(buffer):
        n_read = file.readinto(buffer[:_PIECE])
        if not n_read:
            raise ModelFormatError("the file has become shorter while it was read")
        buffer = buffer[n_read:]


def write_safetensors(path: Path, arrays: Arrays, texts: Mapping[str, str]) -> None:
    """Write the same bytes as the library of safetensors; ValueError if they could not be read."""
    header: dict[str, Any] = {_TEXTS: texts}
    end = 0
    ordered = sorted(arrays.items(), key=lambda item: (_RANKS[_NAMES[item[1].dtype]], item[0]))
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        dtype = _NAMES[array.dtype]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    check_values(text, end)
    content = text.encode()
    content += b" " * (-len(content) % 8)
    if len(content) > _MOST_HEADER:
        raise ValueError(
            f"names of features, classes and the like take {len(content)} bytes; a model file has "
            f"room for {_MOST_HEADER}"
        )
    with path.open("wb") as file:
        file.write(len(content).to_bytes(_LENGTH, "little"))
        file.write(content)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
