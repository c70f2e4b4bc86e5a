# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of columns: each knows the features that it becomes."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from co2forest.tables._optional import library
from co2forest.tables.cells import InfiniteCellError, Words, numbers_of, seconds_of

_DAY = 86_400
_ORIGIN = 946_684_800  # 2000-01-01: days since then keep 2 minutes in float32, seconds do not
DATE_PARTS = ("days", "month", "weekday", "hour")


class Column(Protocol):
    """What all kinds have."""

    kind: ClassVar[str]
    wanted: ClassVar[str]  # what a cell must be, for messages

    @property
    def name(self) -> str:
        """The name of the column in the table."""

    def feature_names(self) -> list[str]:
        """Names of the features that it becomes."""

    def encode(self, series: Any) -> list[Any]:
        """The cells of each feature."""

    def describe(self) -> str:
        """What becomes of it, in words."""


@dataclass(frozen=True)
class Numbers:
    """A column of numbers."""

    kind: ClassVar[str] = "number"
    wanted: ClassVar[str] = "a number"
    name: str

    def feature_names(self) -> list[str]:
        return [self.name]

    def encode(self, series: Any) -> list[Any]:
        return [finite_numbers(series)]

    def describe(self) -> str:
        return "a number"


def finite_numbers(series: Any) -> Any:
    """The column itself if its dtype is one of numbers, else its cells as float64.

    A large table must not be copied whole: the estimator makes float32 of it anyway.
    """
    dtype = series.dtype
    if getattr(dtype, "kind", "O") not in "biuf":
        numbers = values = numbers_of(series)
    else:
        numbers, values = series, _stored_values(series)
    with np.errstate(over="ignore"):
        if values.dtype.kind == "f" and values.size and np.isinf(_largest(values)):
            every = numbers_of(series)
            row = int(np.flatnonzero(np.isinf(every.astype(np.float32)))[0])
            raise InfiniteCellError(row, float(every[row]))
    return numbers


def _stored_values(series: Any) -> npt.NDArray[Any]:
    """The numbers of a column, without those that a sparse one does not store."""
    if isinstance(series.dtype, library("pandas").SparseDtype):
        return np.asarray(series.array.sp_values)
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else numbers_of(series)


def _largest(values: npt.NDArray[Any]) -> np.float32:
    """The largest absolute value as float32; NaN if there is none."""
    return np.float32(max(np.fmax.reduce(values), -np.fmin.reduce(values)))


@dataclass(frozen=True)
class Dates:
    """A column of dates as days since 2000, month, weekday and hour."""

    kind: ClassVar[str] = "date"
    wanted: ClassVar[str] = "a date such as 2015-12-24 or 2015-12-24 18:30:00"
    name: str
    parts: tuple[str, ...]

    def feature_names(self) -> list[str]:
        return [f"{self.name}:{part}" for part in self.parts]

    def encode(self, series: Any) -> list[Any]:
        parts = date_parts(seconds_of(series))
        return [parts[part].astype(np.float32) for part in self.parts]

    def describe(self) -> str:
        return f"a date, as {', '.join(self.parts)}"


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
    """A column of words, for an estimator that takes categories."""

    kind: ClassVar[str] = "category"
    wanted: ClassVar[str] = "a word"
    name: str
    count: int  # of different words in training

    def feature_names(self) -> list[str]:
        return [self.name]

    def encode(self, series: Any) -> list[Any]:
        column = Words.of(series)
        return [library("pandas").Categorical.from_codes(column.codes, column.words)]

    def describe(self) -> str:
        return f"{self.count} categories"


@dataclass(frozen=True)
class Gaps:
    """A column whose cells say nothing except whether they are there."""

    kind: ClassVar[str] = "gaps"
    wanted: ClassVar[str] = "a word"
    name: str

    def feature_names(self) -> list[str]:
        return [f"{self.name} is missing"]

    def encode(self, series: Any) -> list[Any]:
        return [(Words.of(series).codes < 0).astype(np.uint8)]

    def describe(self) -> str:
        return "only whether it is missing, because its text does not repeat or vary"
