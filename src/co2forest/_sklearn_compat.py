# SPDX-License-Identifier: BSD-3-Clause
"""Every name of scikit-learn that is not part of its documented interface.

They are what its own estimators use, and other libraries too; if one moves, this file follows.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "safe_indexing",
]

_Method = TypeVar("_Method", bound=Callable[..., Any])

check_sample_weight = _check_sample_weight
safe_indexing = _safe_indexing


def fit_context(method: _Method) -> _Method:
    """Decorate ``fit`` to check the estimator's parameters against their constraints first."""
    decorated: _Method = _fit_context(prefer_skip_nested_validation=True)(method)
    return decorated
