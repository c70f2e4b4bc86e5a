# SPDX-License-Identifier: BSD-3-Clause
"""Files as streams of unpacked bytes: those of co2forest.tables, and compress (.Z)."""

import contextlib
import io
from pathlib import Path

from co2forest.tables import packed
from datasets import lzw


@contextlib.contextmanager
def open_binary(path):
    """Open a plain, gzip, bzip2, xz or compress file for reading its unpacked bytes."""
    with Path(path).open("rb") as raw:
        content = raw.read() if raw.read(2) == lzw.MAGIC and raw.seek(0) == 0 else None
    if content is None:
        with packed.open_binary(path) as stream:
            yield stream
        return
    try:
        unpacked = lzw.decompress(content)
    except lzw.LzwError as error:
        raise ValueError(f"{path}: damaged compressed file ({error})") from error
    yield io.BytesIO(unpacked)
