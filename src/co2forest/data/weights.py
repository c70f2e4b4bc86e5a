# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows, as the native core takes them."""

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import compute_sample_weight

from co2forest._sklearn_compat import check_sample_weight
from co2forest.files.arrays import aligned

ALL_ONE = np.empty(0, dtype=np.float32)


def checked_weights(X: Any, sample_weight: Any) -> npt.NDArray[np.float32]:
    """Weights that are finite, not negative and not all zero; empty if all are one."""
    if sample_weight is None:
        return ALL_ONE
    weights = check_sample_weight(sample_weight, X, dtype=np.float32, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    return in_range(weights)


def in_range(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Weights whose sums and squares float32 can hold; a power of two changes no ratio."""
    weights = aligned(weights)
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) < 40 else np.ldexp(weights, -exponent)


def class_weighted(
    X: Any, y: npt.NDArray[Any], sample_weight: Any, class_weight: Any
) -> npt.NDArray[np.float32]:
    """Checked weights of rows, multiplied by those of their classes."""
    if class_weight in (None, "balanced_subsample"):
        return checked_weights(X, sample_weight)
    weights = checked_weights(X, np.ones(len(y)) if sample_weight is None else sample_weight)
    weights = weights * compute_sample_weight(class_weight, y).astype(np.float32)
    if not weights.any():
        raise ValueError(
            f"class_weight={class_weight!r} gives every row with a positive "
            "sample_weight the weight zero"
        )
    return in_range(weights)


def check_class_weight(class_weight: Any) -> None:
    """Raise unless the weights of a dictionary are weights."""
    if not isinstance(class_weight, dict):
        return
    for label, weight in class_weight.items():
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise ValueError(
                f"class_weight[{label!r}] must be a finite number that is not negative, "
                f"got {weight!r}"
            )
