# SPDX-License-Identifier: BSD-3-Clause
"""The files that data sets are published as, and how each becomes four arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import one_line
from datasets.content import Parts, Sizes
from datasets.readers import read_idx, read_libsvm
from datasets.table import read_table

# Takes files, and the sizes that the set should have.
_Reader = Callable[[Sequence[Path], Sizes], Parts]

_Found = TypeVar("_Found")


_ReadFile = Callable[..., _Found]  # of one path

_PACKED = (".gz", ".bz2", ".xz", ".Z")


class FaultyFileError(ValueError):
    """One file is not what it should be, whatever the others are."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message, path)
        self.path = path

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class OriginFile:
    """One file at its origin.

    `checksum` is "sha256:..." or "md5:..." where one has been published. The first address is
    tried first; the others are mirrors.
    """

    name: str
    addresses: tuple[str, ...]
    checksum: str | None = None

    def names(self) -> list[str]:
        """What the file may be called in a folder: as published, unpacked, or packed otherwise."""
        plain = self.name
        for suffix in _PACKED:
            plain = plain.removesuffix(suffix)
        others = [plain, *(plain + suffix for suffix in _PACKED)]
        return [self.name, *(name for name in others if name != self.name)]


@dataclass(frozen=True)
class Origin:
    """Files that together are a data set. `same_content`: its values have a known digest."""

    files: tuple[OriginFile, ...]
    read: _Reader
    same_content: bool = False


def uci_parts(
    separator: str | None,
    label: str,
    classes: Sequence[Any],
    n_features: int,
    dtype: str = "uint8",
) -> _Reader:
    """Two tables of text, training and test. Labels are numbers if `classes` are."""
    read = partial(
        _read_table,
        separator=separator,
        label=label,
        classes=classes,
        n_features=n_features,
        dtype=dtype,
        categories=None,
    )
    return lambda paths, sizes: Parts(
        *read(paths[0], max_rows=sizes.train), *read(paths[1], max_rows=sizes.test)
    )


def uci_whole(
    classes: Sequence[Any],
    n_features: int,
    n_train: int,
    *,
    label: str = "last",
    dtype: str = "uint8",
    shuffled: bool = False,
    categories: str | None = None,
) -> _Reader:
    """One table of text; the first `n_train` rows are for training, perhaps of a permutation."""

    def read(paths: Sequence[Path], sizes: Sizes) -> Parts:
        X, y = _read_table(
            paths[0],
            separator=",",
            label=label,
            classes=classes,
            n_features=n_features,
            dtype=dtype,
            categories=categories,
            max_rows=sizes.train + sizes.test,
        )
        if shuffled:
            # The legacy generator, because its permutations never change between versions.
            order = np.random.RandomState(0).permutation(len(y))
            X, y = X[order], y[order]
        return Parts(X[:n_train], y[:n_train], X[n_train:], y[n_train:])

    return read


def libsvm_parts(classes: Sequence[Any], n_features: int) -> _Reader:
    """Two LIBSVM files, training and test."""
    read = partial(_read_sparse, classes=classes, n_features=n_features)
    return lambda paths, sizes: Parts(
        *read(paths[0], max_rows=sizes.train), *read(paths[1], max_rows=sizes.test)
    )


def idx_parts(paths: Sequence[Path], sizes: Sizes) -> Parts:
    """Four IDX files: images and labels for training, images and labels for the test."""
    del sizes  # a header says how long a file is
    return Parts(
        _read_images(paths[0]), _read_array(paths[1]), _read_images(paths[2]), _read_array(paths[3])
    )


def encode_labels(
    labels: npt.NDArray[Any], classes: Sequence[Any], path: Path
) -> npt.NDArray[np.int64]:
    """The place of each label in `classes`."""
    known, inverse = np.unique(labels, return_inverse=True)
    places = {name: place for place, name in enumerate(classes)}
    for name in known.tolist():
        if name not in places:
            raise ValueError(f"{path}: label {name!r} is none of {', '.join(map(str, classes))}")
    return np.array([places[name] for name in known.tolist()], dtype=np.int64)[inverse]


def _blamed(read: _ReadFile[_Found]) -> _ReadFile[_Found]:
    """Say of a reader's errors that they are due to its file."""

    @wraps(read)
    def read_or_blame(path: Path, **options: Any) -> _Found:
        try:
            return read(path, **options)
        except ValueError as error:
            raise FaultyFileError(str(error), path) from error

    return read_or_blame


@_blamed
def _read_sparse(
    path: Path, *, classes: Sequence[Any], n_features: int, max_rows: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    X, labels = read_libsvm(path, n_features)
    if len(labels) > max_rows:  # not to be made dense
        raise ValueError(f"{path}: {len(labels)} rows, expected {max_rows}")
    return X.toarray(), encode_labels(labels, classes, path)


@_blamed
def _read_array(path: Path) -> npt.NDArray[Any]:
    return read_idx(path)


@_blamed
def _read_images(path: Path) -> npt.NDArray[Any]:
    array = read_idx(path)
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"{path}: shape {array.shape} is none of images")
    return array.reshape(len(array), -1)


@_blamed
def _read_table(
    path: Path, *, classes: Sequence[Any], dtype: str, **options: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    X, names = read_table(path, **options)
    labels: npt.NDArray[Any] = names
    if not isinstance(classes[0], str):
        try:
            labels = names.astype(np.float64)
        except ValueError as error:
            raise ValueError(f"{path}: a label is not a number ({one_line(error)})") from error
    if dtype == "uint8" and X.dtype != np.uint8:
        with np.errstate(invalid="ignore"):
            small = X.astype(np.uint8)
        if not np.array_equal(small, X):
            raise ValueError(f"{path}: contains values that are not whole numbers from 0 to 255")
        X = small
    return X, encode_labels(labels, classes, path)
