# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM files: sparse rows of numbers with a label in front."""

import io
import re
from collections.abc import Collection
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_svmlight_file

from co2forest.files.messages import one_line
from co2forest.tables._frames import check_width, with_target
from co2forest.tables._optional import library

_NUMBERED = re.compile(r"x([1-9][0-9]{0,8})", re.ASCII)
# float32 numbers that are kept as an array (100 MB); a larger table stays sparse.
_MOST_DENSE = 25_000_000


def read_libsvm(data: bytes, name: str, columns: Collection[str]) -> Any:
    """Read columns x1, x2, ... as the file counts them, and y; a large table is sparse."""
    X, labels = parse_libsvm(io.BytesIO(data), name)
    # What a file of sparse rows does not mention is zero, even in the last column.
    numbered = [int(match[1]) for match in map(_NUMBERED.fullmatch, columns) if match]
    width = max([X.shape[1], *numbered])
    check_width(width, name)
    X.resize((len(labels), width))
    names = [f"x{j + 1}" for j in range(width)]
    frames = library("pandas").DataFrame
    if len(labels) * width <= _MOST_DENSE:
        frame = frames(X.toarray(), columns=names)
    else:
        frame = frames.sparse.from_spmatrix(X, columns=names)
    whole = (labels == np.floor(labels)).all() and (np.abs(labels) < 2**53).all()
    return with_target(frame, labels.astype(np.int64) if whole else labels)


def parse_libsvm(
    stream: BinaryIO, name: object, n_features: int | None = None
) -> tuple[Any, npt.NDArray[np.float64]]:
    """Read sparse rows of float32 and their labels; messages call the stream by ``name``."""
    try:
        X, labels = load_svmlight_file(
            stream, n_features=n_features, dtype=np.float32, zero_based=False
        )
    except (ValueError, IndexError, OverflowError, UnicodeError) as error:
        raise ValueError(f"{name}: not in LIBSVM's format ({one_line(error)})") from error
    if len(labels) == 0:
        raise ValueError(f"{name}: the file is empty")
    if not (np.isfinite(X.data).all() and np.isfinite(labels).all()):
        raise ValueError(f"{name}: contains a value that is not a finite number")
    return X, labels
