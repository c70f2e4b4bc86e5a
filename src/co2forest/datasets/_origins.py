"""The files that data sets are published as, and how each becomes four arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.datasets._content import Parts
from co2forest.datasets._open import one_line
from co2forest.datasets.readers import read_idx, read_libsvm, read_uci

_PACKED = (".gz", ".bz2", ".xz", ".Z")


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
    read: Callable[[Sequence[Path]], Parts]
    same_content: bool = False


def uci_parts(
    separator: str | None,
    label: str,
    classes: Sequence[Any],
    n_features: int,
    dtype: str = "uint8",
) -> Callable[[Sequence[Path]], Parts]:
    """Two tables of text, training and test. Labels are numbers if `classes` are."""
    read = partial(
        _read_table,
        separator=separator,
        label=label,
        classes=classes,
        n_features=n_features,
        dtype=dtype,
    )
    return lambda paths: Parts(*read(paths[0]), *read(paths[1]))


def uci_whole(
    classes: Sequence[Any],
    n_features: int,
    n_train: int,
    *,
    label: str = "last",
    dtype: str = "uint8",
    shuffled: bool = False,
    categories: str | None = None,
) -> Callable[[Sequence[Path]], Parts]:
    """One table of text; the first `n_train` rows are for training, perhaps of a permutation."""

    def read(paths: Sequence[Path]) -> Parts:
        X, y = _read_table(
            paths[0],
            separator=",",
            label=label,
            classes=classes,
            n_features=n_features,
            dtype=dtype,
            categories=categories,
        )
        if shuffled:
            # The legacy generator, because its permutations never change between versions.
            order = np.random.RandomState(0).permutation(len(y))
            X, y = X[order], y[order]
        return Parts(X[:n_train], y[:n_train], X[n_train:], y[n_train:])

    return read


def libsvm_parts(classes: Sequence[Any], n_features: int) -> Callable[[Sequence[Path]], Parts]:
    """Two LIBSVM files, training and test."""

    def read_one(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        X, labels = read_libsvm(path, n_features)
        return X.toarray(), encode_labels(labels, classes, path)

    return lambda paths: Parts(*read_one(paths[0]), *read_one(paths[1]))


def idx_parts(paths: Sequence[Path]) -> Parts:
    """Four IDX files: images and labels for training, images and labels for the test."""
    X_train, y_train, X_test, y_test = map(read_idx, paths)
    for array, path in ((X_train, paths[0]), (X_test, paths[2])):
        if array.ndim < 2 or array.size == 0:
            raise ValueError(f"{path}: shape {array.shape} is none of images")
    return Parts(
        X_train.reshape(len(X_train), -1), y_train, X_test.reshape(len(X_test), -1), y_test
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


def _read_table(
    path: Path, *, classes: Sequence[Any], dtype: str, **options: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    X, names = read_uci(path, **options)
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
