# SPDX-License-Identifier: BSD-3-Clause
"""What the cells of a column hold: numbers, dates, words, or nothing."""

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.tables._optional import library

Floats = npt.NDArray[np.float64]

# Cells that say that a value is missing. "None" is not among them: in a column of words it is
# mostly an answer ("None", "Mild", "Severe"). Among numbers it says that a value is missing.
MISSING_WORDS = frozenset(
    ["", "?", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>"]  # as people, R and Excel write it
) | {"NaN", "nan", "-nan", "1.#QNAN", "-1.#IND", "NULL", "null"}
MISSING_NUMBERS = MISSING_WORDS | {"None", "none", "-", "."}

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE
)
_CODE = re.compile(r"[+-]?0\d", re.ASCII)  # 01234 is not a number but a code, such as a postcode
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
    r"( ?(Z|UTC|[+-]\d{2}:?\d{2}(:\d{2})?))?)?",
    re.ASCII,
)
_DOTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", re.ASCII)  # 24.12.2015
_SURROGATE = re.compile("[\ud800-\udfff]")  # which no file in UTF-8 can hold
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class CellError(ValueError):
    """A cell of another kind than its column: its row, and what it says."""

    def __init__(self, row: int, cell: object) -> None:
        text = str(cell)
        super().__init__(f"row {row + 1}: {(text if len(text) <= 40 else text[:37] + '...')!r}")


class InfiniteCellError(CellError):
    """A number that is infinite, or too large for the float32 of a forest."""

    def __init__(self, row: int, value: float) -> None:
        super().__init__(row, value)
        what = "infinite" if math.isinf(value) else f"{value:g}, which float32 cannot hold"
        right = "a finite number" if math.isinf(value) else "a number below 3.4e38"
        self.args = (f"row {row + 1} is {what}; leave it empty or give {right}",)


@dataclass(frozen=True)
class Words:
    """A column of text: the different words in it, and which of them each row has."""

    codes: npt.NDArray[np.int64]  # -1: missing
    words: list[str]

    @classmethod
    def of(cls, series: Any) -> "Words":
        """Take the words of any column, without white space around them."""
        pandas = library("pandas")
        if isinstance(series.dtype, pandas.SparseDtype):
            series = series.sparse.to_dense()
        codes, values = pandas.factorize(series)
        if series.dtype == object and not all(isinstance(value, str) for value in values):
            # True and 1.0 are equal, but not as words: chance would decide which of them stays.
            codes, values = pandas.factorize(series.map(word_of, na_action="ignore"))
        places: dict[str, int] = {}
        texts = [word_of(value) for value in values]
        # The last one is for -1.
        new = np.array(
            [-1 if t in MISSING_WORDS else places.setdefault(t, len(places)) for t in texts] + [-1],
            dtype=np.int64,
        )
        return cls(new[codes], list(places))

    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows have each word."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    def numbers(self) -> Floats:
        """Read the words as numbers; raise CellError if one of them is something else."""
        return self._each(number_of)

    def seconds(self) -> Floats:
        """Read the words as moments, in seconds since 1970; raise CellError likewise."""
        return self._each(second_of)

    def are_codes(self) -> bool:
        """Whether a word begins with a zero that a number would lose."""
        return any(map(_CODE.match, self.words))

    def _each(self, meaning: Any) -> Floats:
        values = np.empty(len(self.words) + 1)
        values[-1] = math.nan
        for code, word in enumerate(self.words):
            value = meaning(word)
            if value is None:
                raise CellError(int(np.flatnonzero(self.codes == code)[0]), word)
            values[code] = value
        return values[self.codes]


def word_of(value: Any) -> str:
    """Write a cell as a word, as a text file would have it."""
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: ascii(match[0])[1:-1], value).strip()
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))  # a column of whole numbers where one is missing has floats
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace").strip()
    return str(value)


def number_of(word: str) -> float | None:
    """Read a word as a number: NaN if it says that one is missing, None if it is something else.

    Separators of thousands make it something else, because elsewhere 1,234 lies between 1 and 2.
    """
    if word in MISSING_NUMBERS:
        return math.nan
    return float(word) if _NUMBER.fullmatch(word) else None


def second_of(word: str) -> float | None:
    """Read a word as a moment, as in ISO 8601 or as 24.12.2015; None if it is something else."""
    try:
        if _ISO.fullmatch(word):
            moment = dt.datetime.fromisoformat(word.replace("UTC", "Z").replace(" Z", "Z"))
        elif match := _DOTS.fullmatch(word):
            day, month, year = map(int, match.groups())
            moment = dt.datetime(year, month, day)  # noqa: DTZ001 (has one in the next line)
        else:
            return None
    except ValueError:  # the 31st of February
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return (moment - _EPOCH).total_seconds()


def kind_of(series: Any) -> str:
    """The kind of a column by its dtype: numbers, dates, category, text or nested."""
    types = library("pandas").api.types
    dtype = getattr(series.dtype, "subtype", series.dtype)  # of a sparse column
    if isinstance(series.dtype, library("pandas").CategoricalDtype):
        return "category"
    if types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype):
        return "nested" if types.is_complex_dtype(dtype) else "numbers"
    if types.is_timedelta64_dtype(dtype):
        return "numbers"
    if types.is_datetime64_any_dtype(dtype):
        return "dates"
    if not (types.is_object_dtype(dtype) or types.is_string_dtype(dtype)):
        return "nested"
    return _kind_of_objects(series)


def _kind_of_objects(series: Any) -> str:
    inferred = library("pandas").api.types.infer_dtype(series, skipna=True)
    if inferred in {"integer", "floating", "mixed-integer-float", "boolean", "decimal"}:
        return "numbers"
    if inferred in {"datetime", "datetime64", "date"}:
        return "dates"
    plain = (str, bytes, bool, int, float, Decimal, dt.date, dt.time, np.generic)
    cells = series.dropna()
    if inferred != "string" and not all(isinstance(cell, plain) for cell in cells):
        return "nested"
    return "text"


def is_whole(series: Any) -> bool:
    """Whether the dtype of a column promises whole numbers."""
    types = library("pandas").api.types
    return bool(types.is_integer_dtype(series.dtype)) or (
        types.is_object_dtype(series.dtype) and types.infer_dtype(series, skipna=True) == "integer"
    )


def is_boolean(series: Any) -> bool:
    """Whether a column holds true and false."""
    types = library("pandas").api.types
    if types.is_object_dtype(series.dtype):
        return bool(types.infer_dtype(series, skipna=True) == "boolean")
    return bool(types.is_bool_dtype(series.dtype))


def numbers_of(series: Any) -> Floats:
    """Read a column as numbers, NaN where one is missing; raise CellError at anything else."""
    kind = kind_of(series)
    if kind == "numbers":
        if series.dtype.kind == "m":
            return np.asarray(series.dt.total_seconds().to_numpy(dtype=np.float64))
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in {"dates", "nested"} and series.notna().any():
        raise _first_cell(series)
    return Words.of(series).numbers()


def seconds_of(series: Any) -> Floats:
    """Read a column as moments in seconds since 1970; raise CellError at anything else."""
    kind = kind_of(series)
    if kind == "dates" and series.dtype != object:  # objects may be out of the range of pandas
        moments = library("pandas").to_datetime(series, utc=True).dt.tz_localize(None)
        exact = moments.to_numpy().astype("M8[us]")
        return np.where(np.isnat(exact), np.nan, exact.astype(np.int64) / 1e6)
    if kind in {"numbers", "nested"} and series.notna().any():
        raise _first_cell(series)
    return Words.of(series).seconds()


def _first_cell(series: Any) -> CellError:
    row = int(np.flatnonzero(series.notna().to_numpy())[0])
    return CellError(row, series.iloc[row])
