# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of columns: each knows the features that it becomes, and its JSON."""

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import shown
from co2forest.tables._frames import is_text
from co2forest.tables._optional import library
from co2forest.tables.cells import InfiniteCellError, Words, numbers_of, seconds_of

# The cells of a feature: rows and their values. Rows that are not listed have a zero.
Cells = tuple[slice | npt.NDArray[np.int64], Any]
ALL = slice(None)

MOST_CATEGORIES = 10_000  # per column; no model file of this library has more
LONGEST_CATEGORY = 200  # characters; longer ones are free text and count as rare
LONGEST_NAME = 10_000  # characters of a column's name

_DAY = 86_400
_ORIGIN = 946_684_800  # 2000-01-01: days since then keep 2 minutes in float32, seconds do not
_AND_MISSING = ", and whether it is missing"
DATE_PARTS = ("days", "month", "weekday", "hour")


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, and perhaps an indicator of missing ones."""

    kind: ClassVar[str] = "number"
    wanted: ClassVar[str] = "a number"
    name: str
    missing: bool  # whether there is an indicator

    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name}=(missing)"] if self.missing else [self.name]

    def encode(self, series: Any) -> list[Cells]:
        if isinstance(series.dtype, library("pandas").SparseDtype) and series.dtype.fill_value == 0:
            rows = series.array.sp_index.indices.astype(np.int64)
            values = np.asarray(series.array.sp_values, dtype=np.float64)
        else:
            rows, values = np.arange(len(series)), numbers_of(series)
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        if np.isinf(single).any():
            at = int(np.flatnonzero(np.isinf(single))[0])
            raise InfiniteCellError(int(rows[at]), float(values[at]))
        dense = len(rows) == len(series)
        cells: list[Cells] = [(ALL if dense else rows, single)]
        if self.missing:
            cells.append((rows[np.isnan(single)], 1.0))
        return cells

    def describe(self) -> str:
        return f"a number{_AND_MISSING * self.missing}"


@dataclass(frozen=True)
class Dates:
    """A column of dates as days since 2000, month, weekday and hour."""

    kind: ClassVar[str] = "date"
    wanted: ClassVar[str] = "a date such as 2015-12-24 or 2015-12-24 18:30:00"
    name: str
    parts: tuple[str, ...]
    missing: bool  # whether there is an indicator of missing ones

    def feature_names(self) -> list[str]:
        names = [f"{self.name}:{part}" for part in self.parts]
        return [*names, f"{self.name}=(missing)"] if self.missing else names

    def encode(self, series: Any) -> list[Cells]:
        seconds = seconds_of(series)
        parts = date_parts(seconds)
        cells: list[Cells] = [(ALL, parts[part].astype(np.float32)) for part in self.parts]
        if self.missing:
            cells.append((np.flatnonzero(np.isnan(seconds)), 1.0))
        return cells

    def describe(self) -> str:
        return f"a date, as {', '.join(self.parts)}{_AND_MISSING * self.missing}"


def date_parts(seconds: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.float64]]:
    """Days, month, weekday and hour of moments; NaN where there is none."""
    known = ~np.isnan(seconds)
    moments = np.where(known, seconds, 0.0).astype("M8[s]")
    days = moments.astype("M8[D]").astype(np.int64)
    parts = {
        "days": (seconds - _ORIGIN) / _DAY,
        "month": moments.astype("M8[M]").astype(np.int64) % 12 + 1,
        "weekday": (days + 3) % 7,  # 1970 began on a Thursday; Monday is 0
        "hour": (np.where(known, seconds, 0.0) - days * _DAY) / 3600,
    }
    return {name: np.where(known, part, np.nan) for name, part in parts.items()}


@dataclass(frozen=True)
class Categories:
    """A column of words, with an indicator for each frequent word."""

    kind: ClassVar[str] = "category"
    wanted: ClassVar[str] = "a word"
    name: str
    categories: tuple[str, ...]  # the most frequent first
    other: bool  # whether all other words share an indicator
    missing: bool  # whether missing ones have an indicator

    def feature_names(self) -> list[str]:
        extra = ["(other)"] * self.other + ["(missing)"] * self.missing
        return [f"{self.name}={category}" for category in [*self.categories, *extra]]

    def encode(self, series: Any) -> list[Cells]:
        column = Words.of(series)
        n_features = len(self.categories) + self.other + self.missing
        nowhere = n_features  # words without an indicator
        other = len(self.categories) if self.other else nowhere
        place = {category: number for number, category in enumerate(self.categories)}
        missing = n_features - 1 if self.missing else nowhere
        places = np.array([place.get(word, other) for word in column.words] + [missing])
        feature = places[column.codes]
        rows = np.argsort(feature, kind="stable")
        bounds = np.searchsorted(feature[rows], np.arange(n_features + 1))
        return [(rows[bounds[i] : bounds[i + 1]], 1.0) for i in range(n_features)]

    def unseen(self, series: Any) -> tuple[list[str], int]:
        """Words that were not in training, and the number of rows with them.

        There are none if rare words share an indicator, because rare words are not kept.
        """
        if self.other or not self.categories:
            return [], 0
        column = Words.of(series)
        new = np.array([word not in self.categories for word in column.words], dtype=bool)
        words = [word for word, is_new in zip(column.words, new, strict=True) if is_new]
        return words, int(column.counts()[new].sum())

    def describe(self) -> str:
        if not self.categories:
            return "only whether it is missing, because its text does not repeat or vary"
        count = len(self.categories)
        noun = "category" if count == 1 else "categories"
        rest = ", the other ones together" * self.other
        return f"{count} {noun}{rest}{_AND_MISSING * self.missing}"


Column = Numbers | Dates | Categories
_KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numbers, Dates, Categories)}


def column_to_json(column: Column) -> dict[str, Any]:
    """Plain values."""
    return {"kind": column.kind} | asdict(column)


def column_from_json(stored: Any) -> Column:
    """Read a column from plain values that are not trusted; raise ModelFormatError."""
    if not isinstance(stored, dict) or not isinstance(stored.get("kind"), str):
        raise ModelFormatError(f"a column must be an object with a kind, got {shown(stored)}")
    kind = _KINDS.get(stored["kind"])
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
    column = kind(**values | lists)
    if not column.feature_names():
        raise ModelFormatError(f"the column {shown(column.name)} has no features")
    return column


def check_name(name: str, value: Any) -> None:
    """Raise unless it is a column's name."""
    if not is_text(value) or len(value) > LONGEST_NAME:
        raise ModelFormatError(
            f"{name!r} must be a string of at most {LONGEST_NAME} characters, got {shown(value)}"
        )


def check_flag(name: str, value: Any) -> None:
    """Raise unless it is true or false."""
    if type(value) is not bool:
        raise ModelFormatError(f"{name!r} must be true or false, got {shown(value)}")


def check_strings(name: str, value: Any) -> None:
    """Raise unless it is a list of different strings."""
    if not isinstance(value, list | tuple) or not all(map(is_text, value)):
        raise ModelFormatError(f"{name!r} must be a list of strings, got {shown(value)}")
    if len(set(value)) != len(value):
        raise ModelFormatError(f"{name!r} must be different from each other, got {shown(value)}")


def _check_categories(name: str, value: Any) -> None:
    check_strings(name, value)
    if len(value) > MOST_CATEGORIES or any(len(item) > LONGEST_CATEGORY for item in value):
        raise ModelFormatError(
            f"{name!r} must be at most {MOST_CATEGORIES}, each of at most {LONGEST_CATEGORY} "
            f"characters, got {shown(value)}"
        )


def _check_parts(name: str, value: Any) -> None:
    check_strings(name, value)
    if list(value) != [part for part in DATE_PARTS if part in value]:
        raise ModelFormatError(f"{name!r} must be some of {DATE_PARTS}, got {shown(value)}")


_CHECKS = {
    "name": check_name,
    "missing": check_flag,
    "other": check_flag,
    "categories": _check_categories,
    "parts": _check_parts,
}
