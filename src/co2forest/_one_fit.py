# SPDX-License-Identifier: BSD-3-Clause
"""Fits whose results appear at once, and predictions that see the results of one fit.

While a thread fits an estimator, others may use it. What is fitted is many attributes. So a fit
fills a copy, whose attributes then replace those of the estimator in one assignment; and what needs
several of them works on an estimator that no fit changes.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Estimator = TypeVar("_Estimator")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def as_it_is(estimator: _Estimator) -> _Estimator:
    """The estimator as the last fit has left it, whatever comes."""
    return _with_attributes(estimator, vars(estimator))


def changed(estimator: _Estimator, **attributes: Any) -> _Estimator:
    """The same estimator with some other attributes; the given one stays as it is."""
    return _with_attributes(estimator, vars(estimator) | attributes)


def at_once(fit: _Method) -> _Method:
    """Decorate a method that fits, so that its results appear at once, and only if it succeeds."""

    @functools.wraps(fit)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        copy = _with_attributes(self, dict(vars(self)))
        fit(copy, *args, **options)
        self.__dict__ = vars(copy)
        return self

    return call  # type: ignore[return-value]  # it has the same parameters


def of_one_fit(method: _Method) -> _Method:
    """Decorate a method that reads what a fit has set, to read it all from the same fit."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        return method(as_it_is(self), *args, **options)

    return call  # type: ignore[return-value]  # it has the same parameters


def _with_attributes(estimator: _Estimator, attributes: dict[str, Any]) -> _Estimator:
    """Make an estimator with these attributes, in time for the prediction of a single row."""
    other = object.__new__(type(estimator))
    other.__dict__ = attributes
    return other
