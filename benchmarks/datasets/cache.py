# SPDX-License-Identifier: BSD-3-Clause
"""Downloaded files: fetched whole or not at all, and checked each time they are used."""

import contextlib
import hashlib
import importlib
import os
import re
import secrets
from pathlib import Path
from typing import Any

from co2forest.files.messages import one_line
from datasets.origins import OriginFile

_TIMEOUT = 30  # seconds without an answer


class DownloadFailedError(Exception):
    """No address of a file could be reached."""


def default_cache() -> Path:
    """The user's cache folder."""
    if named := os.environ.get("CO2FOREST_CACHE"):
        return Path(named).expanduser()
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:  # then nothing is downloaded, but a file may be there
        return Path("~/.cache/co2forest").expanduser()
    return Path(pooch.os_cache("co2forest"))


def cached_file(file: OriginFile, folder: Path) -> Path | None:
    """The file in the cache, or None if it is missing or damaged.

    A file without published checksum must be what was downloaded first, if that was recorded.
    """
    path = folder / file.name
    if not path.is_file():
        return None
    recorded = recorded_checksum(file, folder)
    if recorded is not None and not has_checksum(path, recorded):
        raise ValueError(
            f"{path}: has changed since it was first used; "
            f"delete it, or {_record(file, folder).name} to accept it"
        )
    if file.checksum is not None and not has_checksum(path, file.checksum):
        return None
    return path


def download(file: OriginFile, folder: Path) -> Path:
    """Fetch a file from the first address that has it, through a temporary file."""
    try:
        pooch, exceptions = map(importlib.import_module, ("pooch", "requests.exceptions"))
        importlib.import_module("tqdm")
    except ImportError as error:
        raise ImportError(
            f"downloading {file.name} needs pooch and tqdm: pip install pooch tqdm"
        ) from error
    expected = file.checksum or recorded_checksum(file, folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures, wrong = [], []
    for address in file.addresses:
        # Some servers would pack the file once more, and its checksum would be another.
        fetch = pooch.HTTPDownloader(
            progressbar=True, timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"}
        )
        try:
            pooch.retrieve(address, expected, fname=file.name, path=folder, downloader=fetch)
        except exceptions.RequestException as error:
            failures.append(f"{address}: {one_line(error)}")
        except ValueError:  # pooch compares checksums before it keeps a file
            wrong.append(address)
        else:
            return folder / file.name
    if wrong:
        raise ValueError(
            f"{', '.join(wrong)}: the file's checksum is not {expected}; it was not kept"
        )
    raise DownloadFailedError("; ".join(failures))


def recorded_checksum(file: OriginFile, folder: Path) -> str | None:
    """What `record_checksum` wrote."""
    record = _record(file, folder)
    if file.checksum is not None or not record.is_file():
        return None
    text = record.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
        raise ValueError(f"{record}: not a checksum; delete it to accept {file.name} as it is")
    return text


def record_checksum(file: OriginFile, folder: Path) -> None:
    """Remember what a file without published checksum was when it was first used."""
    record = _record(file, folder)
    if file.checksum is not None or record.exists():
        return
    temporary = record.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_text(_checksum(folder / file.name, "sha256") + "\n", encoding="utf-8")
        temporary.replace(record)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def has_checksum(path: Path, expected: str) -> bool:
    """Whether a file has the checksum "algorithm:hex"."""
    return _checksum(path, expected.partition(":")[0]) == expected


def _checksum(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, _hash(algorithm)).hexdigest()}"


def _hash(algorithm: str) -> Any:
    # MD5 notices damage, not malice; it is used where nothing better has been published.
    return lambda: hashlib.new(algorithm, usedforsecurity=False)


def _record(file: OriginFile, folder: Path) -> Path:
    return folder / f"{file.name}.sha256"
