"""Weights of rows, as the native core takes them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest._rows import aligned
from co2forest._sklearn_compat import check_sample_weight

_ALL_ONE = np.empty(0, dtype=np.float32)


def checked_weights(X: Any, sample_weight: Any) -> npt.NDArray[np.float32]:
    """Weights that are finite, not negative and not all zero; empty if all are one."""
    if sample_weight is None:
        return _ALL_ONE
    weights = check_sample_weight(sample_weight, X, dtype=np.float32, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    return in_range(weights)


def in_range(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Weights whose sums and squares float32 can hold; a power of two changes no ratio."""
    weights = aligned(weights)
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) < 40 else np.ldexp(weights, -exponent)
