# SPDX-License-Identifier: BSD-3-Clause
"""Files that may be compressed, as streams of bytes."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from co2forest.files.messages import one_line

# The first bytes count, not the name: browsers unpack files and keep the name.
_MAGIC_GZIP, _MAGIC_BZIP2, _MAGIC_XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
_MAGIC_COMPRESS = b"\x1f\x9d"

# A file may unpack to this many bytes in any case, and to this many times its size. Text with data
# is seldom packed to less than a tenth; a file made to fill the memory is packed to a thousandth.
_ALWAYS_UNPACKED = 1 << 28
_LARGEST_RATIO = 100
_BYTES_AT_ONCE = 1 << 16


class _TooLongError(Exception):
    """A small file stands for too many bytes."""


class _Limited(io.RawIOBase):
    """The bytes of a stream, up to a limit."""

    def __init__(self, stream: io.BufferedIOBase, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._stream.readinto(buffer)
        self._done += count
        if self._done > self._limit:
            raise _TooLongError
        return count


@contextlib.contextmanager
def open_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a plain, gzip, bzip2 or xz file for reading its unpacked bytes.

    A damaged file is a ValueError with the file's name, also while the caller reads.
    """
    path = Path(path)
    with path.open("rb") as raw, unpacked(raw, path.stat().st_size, path) as stream:
        yield stream


@contextlib.contextmanager
def unpacked(raw: BinaryIO, size: int, name: object) -> Iterator[BinaryIO]:
    """Do the same for a stream of ``size`` bytes that messages call ``name``."""
    start = raw.read(6)
    raw.seek(0)
    limit = most_unpacked(size)
    try:
        if start.startswith(_MAGIC_COMPRESS):
            raise ValueError(f"{name}: packed by compress; unpack it first, by gzip -d")
        if (stream := _unpacker(raw, start)) is not None:
            yield io.BufferedReader(_Limited(stream, limit), _BYTES_AT_ONCE)
        else:
            yield raw
    except _TooLongError as error:
        raise ValueError(
            f"{name}: more than {limit} bytes unpacked; if it is right, unpack it first"
        ) from error
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: damaged compressed file ({one_line(error)})") from error
    except OSError as error:
        if error.errno is not None:  # of the system; bz2 raises those without a number
            raise
        raise ValueError(f"{name}: damaged compressed file ({one_line(error)})") from error


def most_unpacked(size: int) -> int:
    """How many bytes a packed file of this size may unpack to."""
    return max(_ALWAYS_UNPACKED, _LARGEST_RATIO * size)


def _unpacker(raw: BinaryIO, start: bytes) -> io.BufferedIOBase | None:
    """The unpacked bytes if the first ones are of a known kind. It does not close the file."""
    if start.startswith(_MAGIC_GZIP):
        return gzip.GzipFile(fileobj=raw)
    if start.startswith(_MAGIC_BZIP2):
        return bz2.BZ2File(raw)
    if start.startswith(_MAGIC_XZ):
        return lzma.LZMAFile(raw)
    return None
