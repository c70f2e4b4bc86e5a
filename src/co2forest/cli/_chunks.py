"""Large CSV and TSV files in parts, so that memory stays bounded."""

import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from co2forest.cli._data import STANDARD_INPUT, name_of, naming
from co2forest.datasets._open import open_binary
from co2forest.tables import read_table
from co2forest.tables._formats import format_of
from co2forest.tables._text import read_text

CHUNK = 1 << 23  # bytes: 100 000 rows of ten columns, which take some 100 MB as they are worked on
_BEGINNING = 1 << 16  # bytes that tell a format


def read_chunks(path: Path, *, header: bool, text: Collection[str]) -> Iterator[tuple[Any, int]]:
    """Frames that are the table, part after part, each with the bytes read so far.

    Other formats than CSV and TSV come as a whole.
    """
    if str(path) == STANDARD_INPUT:
        yield from _from_stream(sys.stdin.buffer, path, header=header, text=text)
        return
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: {'a folder' if path.is_dir() else 'not a regular file'}")
    with open_binary(path) as stream:
        kind = format_of(str(path), stream.read(_BEGINNING))
    if kind not in {"csv", "tsv"}:
        yield read_table(str(path), text=text), path.stat().st_size
        return
    with open_binary(path) as stream:
        yield from _from_text(stream, path, tabs=kind == "tsv", header=header, text=text)


def _from_stream(
    stream: Any, path: Path, *, header: bool, text: Collection[str]
) -> Iterator[tuple[Any, int]]:
    kind = format_of(name_of(path), stream.peek(_BEGINNING)[:_BEGINNING])
    if kind in {"csv", "tsv"}:
        yield from _from_text(stream, path, tabs=kind == "tsv", header=header, text=text)
    else:
        yield read_table(str(path), text=text), 0


def _from_text(
    stream: BinaryIO, path: Path, *, tabs: bool, header: bool, text: Collection[str]
) -> Iterator[tuple[Any, int]]:
    """Each part is parsed with the first line before it, which has the names."""
    first, done, size = b"", 0, 0
    for records in _records(stream):
        if done == 0 and header:
            first = _first_record(records)
        data = records if done == 0 else first + records
        try:
            frame = read_text(data, name_of(path), tabs=tabs, header=header, text=text)
        except ValueError as error:
            if done == 0:
                raise
            raise ValueError(f"{naming(path, error)} (counted from row {done + 1})") from error
        done += len(frame)
        size += len(records)
        yield frame, size
    if done == 0:
        raise ValueError(f"{name_of(path)}: the file is empty")


def _records(stream: BinaryIO) -> Iterator[bytes]:
    """Bytes of whole records: cut behind line breaks that are not within quotes."""
    rest = b""
    while block := stream.read(CHUNK):
        data = rest + block
        cut = _last_end(data)
        if data[:cut].strip():
            yield data[:cut]
        rest = data[cut:]
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


def _first_record(data: bytes) -> bytes:
    """The line with the names of the columns, blank lines before it left out."""
    data = data.lstrip(b"\r\n")
    at = data.find(b"\n")
    while at >= 0 and data.count(b'"', 0, at) % 2:
        at = data.find(b"\n", at + 1)
    return data[: at + 1] if at >= 0 else data + b"\n"
