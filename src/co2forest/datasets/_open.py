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
from typing import BinaryIO, cast

from co2forest.datasets import _lzw

# What the first bytes say counts, not the name: browsers unpack files and keep the name.
_MAGIC_GZIP, _MAGIC_BZIP2, _MAGIC_XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


@contextlib.contextmanager
def open_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a plain, gzip, bzip2, xz or compress (.Z) file for reading its unpacked bytes.

    Whatever is wrong with the packing becomes a ValueError with the file's name, also while the
    caller reads.
    """
    path = Path(path)
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        try:
            # These leave the raw file to the block above, which closes it.
            if start.startswith(_MAGIC_GZIP):
                yield cast("BinaryIO", gzip.GzipFile(fileobj=raw))
            elif start.startswith(_MAGIC_BZIP2):
                yield cast("BinaryIO", bz2.BZ2File(raw))
            elif start.startswith(_MAGIC_XZ):
                yield cast("BinaryIO", lzma.LZMAFile(raw))  # noqa: SIM115 (see above)
            elif start.startswith(_lzw.MAGIC):
                yield io.BytesIO(_lzw.decompress(raw.read()))
            else:
                yield raw
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, _lzw.LzwError) as error:
            raise ValueError(f"{path}: damaged compressed file ({one_line(error)})") from error
        except OSError as error:
            if error.errno is not None:  # of the system; bz2 raises those without a number
                raise
            raise ValueError(f"{path}: damaged compressed file ({one_line(error)})") from error


def one_line(error: BaseException) -> str:
    """An exception's text without line breaks, or its type if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__
