# SPDX-License-Identifier: BSD-3-Clause
"""Digests of data and parameters, by which a checkpoint knows its problem again."""

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

_EXACT = 2**53  # whole numbers below are the same in float64


def digest(value: Any) -> str:
    """A digest of data or parameters that is the same in every process."""
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, np.generic):
        value = value.item()
    if sp.issparse(value):
        _feed(found, [value.shape, value.indptr, value.indices, value.data])
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        found.update(f"{value.dtype.str}{value.shape}".encode())
        found.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    elif isinstance(value, Mapping):
        _feed(found, [pair for key in sorted(value, key=str) for pair in (key, value[key])])
    elif isinstance(value, list | tuple | np.ndarray):
        found.update(f"[{len(value)}".encode())
        for item in value:
            _feed(found, item)
    elif callable(value):
        _feed_callable(found, value)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT:
        _feed(found, float(value))  # 1 and 1.0 are the same number
    else:
        found.update(f"{type(value).__name__}:{value!r};".encode())


def _feed_callable(found: Any, value: Any) -> None:
    """What a callable does, as far as that can be seen: its name, and arguments that it keeps."""
    if isinstance(value, functools.partial):
        _feed(found, ["partial", value.func, value.args, value.keywords])
    elif hasattr(value, "_score_func"):  # a scorer of scikit-learn
        names = ("_score_func", "_sign", "_kwargs", "_response_method")
        _feed(found, ["scorer", *(getattr(value, name, None) for name in names)])
    else:
        name = getattr(value, "__qualname__", type(value).__qualname__)
        found.update(f"{getattr(value, '__module__', '')}.{name};".encode())
