# SPDX-License-Identifier: BSD-3-Clause
"""Columns as plain values, for model files, and back."""

from dataclasses import asdict, fields
from typing import Any

from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import shown
from co2forest.tables._columns import DATE_PARTS, Categories, Column, Dates, Gaps, Numbers
from co2forest.tables._earlier import CategoriesAndGaps, DatesAndGaps, NumbersAndGaps
from co2forest.tables._frames import is_text

_LONGEST_NAME = 10_000  # characters of a column's name
_KINDS = {kind.kind: kind for kind in (Numbers, Dates, Categories, Gaps)}
_EARLIER_KINDS = {kind.kind: kind for kind in (NumbersAndGaps, DatesAndGaps, CategoriesAndGaps)}


def column_to_json(column: Column) -> dict[str, Any]:
    """Plain values."""
    values: dict[str, Any] = asdict(column)  # type: ignore[call-overload]
    return {"kind": column.kind} | values


def column_from_json(stored: Any) -> Column:
    """Read a column from plain values that are not trusted; raise ModelFormatError."""
    if not isinstance(stored, dict) or not isinstance(stored.get("kind"), str):
        raise ModelFormatError(f"a column must be an object with a kind, got {shown(stored)}")
    known = _EARLIER_KINDS if "missing" in stored else _KINDS
    kind: Any = known.get(stored["kind"])
    if kind is None:
        raise ModelFormatError(f"unknown kind of column: {shown(stored['kind'])}")
    values = {name: value for name, value in stored.items() if name != "kind"}
    names = [field.name for field in fields(kind)]
    if values.keys() != set(names):
        raise ModelFormatError(
            f"a column of kind {kind.kind!r} must have {', '.join(names)}, "
            f"got {shown(sorted(values))}"
        )
    for name, value in values.items():
        _CHECKS[name](name, value)
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    column: Column = kind(**values | lists)
    if not column.feature_names():
        raise ModelFormatError(f"the column {shown(column.name)} has no features")
    return column


def check_name(name: str, value: Any) -> None:
    """Raise unless it is a column's name."""
    if not is_text(value) or len(value) > _LONGEST_NAME:
        raise ModelFormatError(
            f"{name!r} must be a string of at most {_LONGEST_NAME} characters, got {shown(value)}"
        )


def check_strings(name: str, value: Any) -> None:
    """Raise unless it is a list of different strings."""
    if not isinstance(value, list | tuple) or not all(map(is_text, value)):
        raise ModelFormatError(f"{name!r} must be a list of strings, got {shown(value)}")
    if len(set(value)) != len(value):
        raise ModelFormatError(f"{name!r} must be different from each other, got {shown(value)}")


def _check_flag(name: str, value: Any) -> None:
    if type(value) is not bool:
        raise ModelFormatError(f"{name!r} must be true or false, got {shown(value)}")


def _check_count(name: str, value: Any) -> None:
    if type(value) is not int or not 0 < value < 2**63:
        raise ModelFormatError(f"{name!r} must be a number of categories, got {shown(value)}")


def _check_parts(name: str, value: Any) -> None:
    check_strings(name, value)
    if list(value) != [part for part in DATE_PARTS if part in value]:
        raise ModelFormatError(f"{name!r} must be some of {DATE_PARTS}, got {shown(value)}")


_CHECKS = {
    "name": check_name,
    "parts": _check_parts,
    "count": _check_count,
    "missing": _check_flag,  # this and the following are of earlier files
    "other": _check_flag,
    "categories": check_strings,
}
