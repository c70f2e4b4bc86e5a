"""Files that may be compressed, as streams of bytes."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import Any, BinaryIO

from co2forest._stored import shown
from co2forest.datasets import _lzw

# What the first bytes say counts, not the name: browsers unpack files and keep the name.
_MAGIC_GZIP, _MAGIC_BZIP2, _MAGIC_XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"

# Unpacked bytes: this many in any case, and so many times the packed ones. Text that is data is
# seldom packed to less than a tenth; a file made to fill the memory is packed to a thousandth.
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
    """Open a plain, gzip, bzip2, xz or compress (.Z) file for reading its unpacked bytes.

    Whatever is wrong with the packing becomes a ValueError with the file's name, also while the
    caller reads.
    """
    path = Path(path)
    with path.open("rb") as raw, unpacked(raw, path.stat().st_size, path) as stream:
        yield stream


@contextlib.contextmanager
def unpacked(raw: BinaryIO, size: int, name: object) -> Iterator[BinaryIO]:
    """The same for a stream of so many bytes that is somewhere else."""
    start = raw.read(6)
    raw.seek(0)
    limit = most_unpacked(size)
    try:
        if start.startswith(_lzw.MAGIC):
            yield io.BytesIO(_lzw.decompress(raw.read()))
        elif (stream := _unpacker(raw, start)) is not None:
            yield io.BufferedReader(_Limited(stream, limit), _BYTES_AT_ONCE)
        else:
            yield raw
    except _TooLongError as error:
        raise ValueError(
            f"{name}: more than {limit} bytes unpacked; if it is right, unpack it before"
        ) from error
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, _lzw.LzwError) as error:
        raise ValueError(f"{name}: damaged compressed file ({one_line(error)})") from error
    except OSError as error:
        if error.errno is not None:  # of the system; bz2 raises those without a number
            raise
        raise ValueError(f"{name}: damaged compressed file ({one_line(error)})") from error


def most_unpacked(size: int) -> int:
    """The most bytes that so many packed ones may stand for."""
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


def check_count(name: str, value: Any) -> None:
    """Raise unless it is None or a number of things."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (whole and 1 <= value <= sys.maxsize):
        raise ValueError(f"{name} must be None or a whole number of at least 1, got {shown(value)}")


def one_line(error: BaseException) -> str:
    """An exception's text without line breaks, or its type if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__
