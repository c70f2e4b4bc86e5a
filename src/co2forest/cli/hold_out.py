# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are held out of training, for an honest estimate of the error."""

from typing import Any

import numpy as np
import numpy.typing as npt

FEWEST_ROWS = 20  # of which some can be held out


def split(
    y: npt.NDArray[Any], part: float, seed: int, *, classes: bool
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows to train with, and rows held out: of each class its part, if it has enough rows."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    n_out = min(max(round(part * len(y)), 1), len(y) - 1)
    strata = _strata(y, n_out) if classes else None
    train, test = train_test_split(rows, test_size=n_out, random_state=seed, stratify=strata)
    return np.sort(train), np.sort(test)


def _strata(y: npt.NDArray[Any], n_out: int) -> npt.NDArray[Any] | None:
    """Classes by which rows can be parted; those with a single row are one class together."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    codes = np.where(counts[codes] < 2, len(counts), codes)
    kinds, sizes = np.unique(codes, return_counts=True)
    if sizes.min() < 2 or len(kinds) > min(n_out, len(y) - n_out):
        return None
    return np.asarray(codes)
