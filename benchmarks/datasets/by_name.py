# SPDX-License-Identifier: BSD-3-Clause
"""Data sets by name: from a folder, from the cache, or from where they are published."""

import os
from pathlib import Path
from typing import Any

from co2forest.files.messages import shown
from datasets import cache as downloads
from datasets.content import Parts, check_parts, content_digest, read_npz
from datasets.dataset import Dataset, scale_by_training_range
from datasets.origins import FaultyFileError, Origin, OriginFile
from datasets.registry import REGISTRY, Entry

_PathLike = str | os.PathLike[str]


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in a folder nor in the cache, and was not downloaded."""


def load_dataset(
    name: str,
    *,
    scaled: bool = False,
    folder: _PathLike | None = None,
    cache: _PathLike | None = None,
    download: bool = True,
) -> Dataset:
    """Load a data set of the CO2 forest paper (Norouzi et al. 2015), split as there.

    It is looked for in `folder`, then in the cache, and then downloaded from where it is published.
    What is found is checked (benchmarks/README.md says how).

    Parameters
    ----------
    name : str
        One of `list_datasets()`.
    scaled : bool, default=False
        Whether to map each feature's range in the training part to [-1, 1], in float32, as the
        paper's sets are. A feature that is constant there becomes 0; test values may lie outside.
    folder : path or None, default=None
        Where files were put by hand: ``NAME.npz`` with arrays X_train, y_train, X_test and y_test,
        in ``paper/`` or else in the folder itself; or the published files, in ``NAME/`` or else in
        the folder itself. None means the environment variable CO2FOREST_DATA, if it is set.
    cache : path or None, default=None
        Where downloaded files are kept. None means the environment variable CO2FOREST_CACHE or
        else the user's cache folder.
    download : bool, default=True
        Whether to download what is missing. Needs pooch and tqdm.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetNotFoundError
        If a file is missing. The message says which, where it is published and where to put it.
    ValueError
        If `name` is unknown, or a file is malformed or not what it should be.
    """
    entry = _entry(name)
    by_hand = _folder(folder)
    parts = None if by_hand is None else _from_folder(name, entry, by_hand)
    if parts is None:
        kept = downloads.default_cache() if cache is None else Path(cache).expanduser()
        parts = _from_origin(name, entry, by_hand, kept, download)
    if scaled:
        X_train, X_test = scale_by_training_range(parts.X_train, parts.X_test)
    else:
        X_train, X_test = parts.X_train, parts.X_test
    return Dataset(
        name=name,
        kind=entry.kind,
        X_train=X_train,
        y_train=parts.y_train,
        X_test=X_test,
        y_test=parts.y_test,
        description=entry.description,
        origin=entry.origin,
    )


def list_datasets(*, downloadable: bool = False) -> list[str]:
    """The names that `load_dataset` knows; `downloadable`: those that need no file by hand."""
    return [name for name, entry in REGISTRY.items() if entry.origins or not downloadable]


def _entry(name: Any) -> Entry:
    if not isinstance(name, str) or name not in REGISTRY:
        raise ValueError(f"name must be one of {', '.join(REGISTRY)}, got {shown(name)}")
    return REGISTRY[name]


def _folder(folder: _PathLike | None) -> Path | None:
    variable = os.environ.get("CO2FOREST_DATA")
    if folder is None and not variable:
        return None
    path = Path(variable or "" if folder is None else folder).expanduser()
    if not path.is_dir():
        who = "CO2FOREST_DATA" if folder is None else "folder"
        raise DatasetNotFoundError(f"{who} must name a folder that exists, got {str(path)!r}")
    return path


def _from_folder(name: str, entry: Entry, folder: Path) -> Parts | None:
    """The set from files that were put there by hand, if all of them are there."""
    for path in (folder / "paper" / f"{name}.npz", folder / f"{name}.npz"):
        if path.is_file():
            parts = check_parts(read_npz(path, entry.sizes), entry.sizes, str(path))
            return _check_digest(parts, entry, str(path))
    for origin in entry.origins:
        paths = [_by_hand(file, name, folder) for file in origin.files]
        found = [path for path in paths if path is not None]
        if len(found) == len(paths):
            return _read(entry, origin, found)
    return None


def _by_hand(file: OriginFile, name: str, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    for place in (folder / name, folder):
        for called in file.names():
            path = place / called
            if not path.is_file():
                continue
            known = file.checksum if called == file.name else None
            if known is not None and not downloads.has_checksum(path, known):
                raise ValueError(f"{path}: the file's checksum is not {known}")
            return path
    return None


def _from_origin(
    name: str, entry: Entry, by_hand: Path | None, cache: Path, download: bool
) -> Parts:
    """The set from its published files, each by hand, from the cache or downloaded."""
    if not entry.origins:
        where = "the folder named by folder= or CO2FOREST_DATA" if by_hand is None else by_hand
        raise DatasetNotFoundError(f"{name} is not downloaded: put {name}.npz into {where}")
    origin = entry.origins[0]
    kept = cache / name
    paths: list[Path] = []
    unproven: list[OriginFile] = []
    new: list[Path] = []
    for file in origin.files:
        path = _by_hand(file, name, by_hand)
        if path is None and (path := downloads.cached_file(file, kept)) is None:
            path = _download(file, name, by_hand, kept, download)
            new.append(path)
        if path == kept / file.name and file.checksum is None:
            unproven.append(file)
        paths.append(path)
    try:
        parts = _read(entry, origin, paths)
    except ValueError as error:
        # Such as a page that says "moved". It must not be found again in place of the data.
        suspects = [*new, error.path] if isinstance(error, FaultyFileError) else new
        _forget(suspects, unproven, kept)
        if suspects or not unproven:
            raise
        raise ValueError(f"{error}; delete the wrong one in {kept} to download it again") from error
    if not origin.same_content:
        for file in unproven:
            downloads.record_checksum(file, kept)
    return parts


def _forget(suspects: list[Path], unproven: list[OriginFile], kept: Path) -> None:
    """Remove from the cache what may not be the data, and has never been used as such."""
    for file in unproven:
        if kept / file.name in suspects and downloads.recorded_checksum(file, kept) is None:
            (kept / file.name).unlink(missing_ok=True)


def _download(
    file: OriginFile, name: str, by_hand: Path | None, kept: Path, download: bool
) -> Path:
    reason = "download=False"
    if download:
        try:
            return downloads.download(file, kept)
        except downloads.DownloadFailedError as error:
            reason = f"the download failed: {error}"
    where = "a folder and name it by folder= or CO2FOREST_DATA" if by_hand is None else by_hand
    raise DatasetNotFoundError(
        f"{name} needs {file.name}: get it from {file.addresses[0]} "
        f"and put it into {where} ({reason})"
    )


def _read(entry: Entry, origin: Origin, paths: list[Path]) -> Parts:
    where = ", ".join(map(str, paths))
    parts = origin.read(paths, entry.sizes)
    try:
        parts = check_parts(parts, entry.sizes, where)
        return _check_digest(parts, entry, where) if origin.same_content else parts
    except ValueError as error:
        if len(paths) > 1:  # any of them
            raise
        raise FaultyFileError(str(error), paths[0]) from error


def _check_digest(parts: Parts, entry: Entry, where: str) -> Parts:
    if entry.digest is not None and content_digest(parts, entry.digest_factor) != entry.digest:
        raise ValueError(f"{where}: right sizes, but not the values of this data set")
    return parts
