# SPDX-License-Identifier: BSD-3-Clause
"""Large CSV and TSV files in chunks, so that memory stays bounded."""

import functools
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from co2forest.cli.tables import STANDARD_INPUT, name_of, naming
from co2forest.tables import read_table
from co2forest.tables.formats import format_of
from co2forest.tables.packed import open_binary
from co2forest.tables.text import read_text

CHUNK = 1 << 23  # bytes: 100 000 rows of ten columns, which take some 100 MB as they are worked on
_BEGINNING = 1 << 16  # bytes that tell a format
_LONGEST_ROW = 1 << 24  # bytes, as for a file that is read as a whole

Chunk = tuple[Any, int]  # a frame, and the bytes of the file read so far


def read_chunks(
    path: Path, *, header: bool, text: Collection[str], **options: Any
) -> Iterator[Chunk]:
    """The table chunk by chunk; the options are those of `read_table`.

    Formats other than CSV and TSV are read as a whole, and so is compressed standard input.
    """
    parse = functools.partial(read_text, name=name_of(path), header=header, text=text)
    if str(path) == STANDARD_INPUT:
        if _is_plain_text(sys.stdin.buffer, name_of(path)):
            yield from _read(sys.stdin.buffer, path, parse, header=header, tabs=False)
        else:
            yield read_table(STANDARD_INPUT, header=header, text=text, **options), 0
        return
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: {'a folder' if path.is_dir() else 'not a regular file'}")
    with open_binary(path) as stream:
        kind = format_of(str(path), stream.read(_BEGINNING))
    if kind in {"csv", "tsv"}:
        with open_binary(path) as stream:
            yield from _read(stream, path, parse, header=header, tabs=kind == "tsv")
    else:
        yield read_table(str(path), **options), path.stat().st_size


def _is_plain_text(stream: Any, name: str) -> bool:
    """Whether a stream holds CSV or TSV, as far as one can look into it without reading."""
    beginning = stream.peek(_BEGINNING)[:_BEGINNING] if hasattr(stream, "peek") else b"\0"
    return b"\0" not in beginning and format_of(name, beginning) == "csv"


def _read(stream: BinaryIO, path: Path, parse: Any, *, header: bool, tabs: bool) -> Iterator[Chunk]:
    """Each chunk is parsed with the first line before it, which has the names."""
    first, done, size = b"", 0, 0
    for block in _records(stream, name_of(path)):
        size += len(block)
        records = block
        if header and not first:
            first, records = _without_first(block)
            if not records.strip():
                continue
        try:
            frame = parse(first + records, tabs=tabs)
        except ValueError as error:
            if done == 0:
                raise
            raise ValueError(f"{naming(path, error)} (counted from row {done + 1})") from error
        done += len(frame)
        yield frame, size
    if done == 0 and first:
        parse(first, tabs=tabs)  # which says that there are no rows
    elif done == 0:
        raise ValueError(f"{name_of(path)}: the file is empty")


def _records(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Bytes of whole records: cut behind line breaks that are not within quotes."""
    rest = b""
    while block := stream.read(CHUNK):
        data = rest + block
        cut = _last_end(data)
        if data[:cut].strip():
            yield data[:cut]
        rest = data[cut:]
        if len(rest) > _LONGEST_ROW:
            raise ValueError(
                f"{name}: a row is longer than {_LONGEST_ROW} bytes; is a quote not closed?"
            )
    if rest.strip():
        yield rest


def _last_end(data: bytes) -> int:
    """Behind the last line break before which quotes come in pairs; 0 if there is none."""
    at = data.rfind(b"\n")
    while at >= 0:
        if data.count(b'"', 0, at) % 2 == 0:
            return at + 1
        at = data.rfind(b"\n", 0, data.rfind(b'"', 0, at))  # before the quote that is open
    return 0


def _without_first(data: bytes) -> tuple[bytes, bytes]:
    """The line with the names of the columns, without blank ones before it, and the others."""
    data = data.lstrip(b"\r\n")
    at = data.find(b"\n")
    while at >= 0 and data.count(b'"', 0, at) % 2:
        at = data.find(b"\n", at + 1)
    return (data[: at + 1], data[at + 1 :]) if at >= 0 else (data + b"\n", b"")
