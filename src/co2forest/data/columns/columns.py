# SPDX-License-Identifier: BSD-3-Clause
"""What a fit has learned of the columns of X: which are categories, and the number of each one.

The native core takes one matrix of float32: numbers as they are, and categories as codes in the
order of how often they occur. Categories that occur once, and those that training did not have, all
have the code behind the last one. Gaps are NaN.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest.data.columns.frames import Cells, Frame, Value, is_frame
from co2forest.exceptions import ModelFormatError
from co2forest.files.messages import listed, shown

# A category that occurs once says nothing about another row.
_FEWEST_ROWS = 2
# Codes are float32, which counts to 2**24. Statistics of more categories would fill the memory.
_MOST_CATEGORIES = 2**20


@dataclass(frozen=True)
class Column:
    """A column by its name; without categories it holds numbers."""

    name: str
    categories: tuple[Value, ...] | None = None

    @property
    def n_categories(self) -> int:
        """The number of categories that have a code."""
        return len(self.categories or ())

    @classmethod
    def of_categories(cls, cells: Cells) -> Self:
        """Learn which categories occur, the most frequent first."""
        codes, values = cells.as_codes()
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        kept = np.flatnonzero(counts >= _FEWEST_ROWS)
        # The order of rows must not matter, so equal counts are ordered by the value.
        order = sorted(kept.tolist(), key=lambda i: (-counts[i], str(values[i])))
        return cls(cells.name, tuple(values[i] for i in order[:_MOST_CATEGORIES]))

    def encode(self, cells: Cells) -> npt.NDArray[Any]:
        """Numbers, or codes of categories, with NaN for gaps."""
        if self.categories is None:
            return _finite(cells.as_numbers(), self.name)
        codes, values = cells.as_codes()
        known = {value: float(code) for code, value in enumerate(self.categories)}
        other = float(len(known))
        found = [known.get(value, known.get(str(value), other)) for value in values]
        self._check_kind(cells, found, other)
        encoded: npt.NDArray[Any] = np.array([*found, np.nan], dtype=np.float32)[codes]
        return encoded

    def unknown(self, cells: Cells) -> dict[str, int]:
        """Categories that have no code, and the number of rows with each."""
        codes, values = cells.as_codes()
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
        known = set(self.categories or ())
        return {
            str(value): count
            for value, count in zip(values, counts, strict=True)
            if count and value not in known and str(value) not in known
        }

    def _check_kind(self, cells: Cells, found: list[float], other: float) -> None:
        """Raise if numbers have taken the place of words: each would be an unknown category."""
        words = bool(self.categories) and all(isinstance(c, str) for c in self.categories or ())
        strange = words and found and min(found) == other
        if strange and cells.numbers is not None and cells.numbers.dtype.kind != "b":
            raise ValueError(
                f"column {self.name!r} holds numbers, but its categories in training were words: "
                f"{listed(map(str, self.categories or ()))}"
            )


@dataclass(frozen=True)
class Columns:
    """The columns of X, in order."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns)

    @classmethod
    def numbers(cls, names: Sequence[str]) -> Self:
        """Columns that all hold numbers."""
        return cls(tuple(map(Column, names)))

    @classmethod
    def learn(
        cls, frame: Frame, is_categorical: Callable[[int, Cells], bool]
    ) -> tuple[Self, npt.NDArray[np.float32]]:
        """Find the categories of the columns that have them, and the matrix for the core."""
        columns: list[Column] = []
        matrix = np.empty((frame.n_rows, frame.n_columns), dtype=np.float32)
        for j in range(frame.n_columns):  # one by one: the cells of a column may take much memory
            cells = frame.column(j)
            learned = Column.of_categories(cells) if is_categorical(j, cells) else None
            columns.append(learned or Column(cells.name))
            matrix[:, j] = columns[-1].encode(cells)
        return cls(tuple(columns)), matrix

    @property
    def has_categories(self) -> bool:
        """Whether a column holds categories."""
        return any(column.categories is not None for column in self.columns)

    def encode(self, frame: Frame) -> npt.NDArray[np.float32]:
        """The matrix that the native core takes."""
        if frame.n_columns != len(self):
            raise ValueError(
                f"X has {frame.n_columns} columns, but the estimator was trained with {len(self)}"
            )
        matrix = np.empty((frame.n_rows, len(self)), dtype=np.float32)
        for j, column in enumerate(self.columns):
            matrix[:, j] = column.encode(frame.column(j))
        return matrix

    def unknown(self, frame: Frame) -> dict[str, dict[str, int]]:
        """By column, categories that have no code, and the number of rows with each."""
        found = {
            column.name: column.unknown(frame.column(j))
            for j, column in enumerate(self.columns)
            if column.categories is not None
        }
        return {name: counts for name, counts in found.items() if counts}

    # --- files

    def stored(self, described: Mapping[str, Sequence[Any]]) -> npt.NDArray[np.uint8]:
        """What a model file keeps: bytes of JSON, because there may be many categories."""
        columns = [[column.name, column.categories] for column in self.columns]
        text = json.dumps({"columns": columns, **described}, ensure_ascii=False, allow_nan=False)
        # Half of a pair of surrogates, which a string of Python may have, has no UTF-8.
        return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)

    @classmethod
    def restore(cls, stored: npt.NDArray[Any]) -> tuple[Self, dict[str, list[Any]]]:
        """Read columns, and what describes their features, from a file, which is not trusted."""
        if stored.dtype != np.uint8 or stored.ndim != 1:
            raise ModelFormatError("the array 'columns' must hold bytes")
        try:
            content = json.loads(stored.tobytes().decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError) as error:
            raise ModelFormatError(f"the array 'columns' is not JSON: {error}") from error
        lists = isinstance(content, dict) and all(isinstance(v, list) for v in content.values())
        if not lists or content.keys() != {"columns", "features", "means"}:
            raise ModelFormatError("the array 'columns' must list columns, features and means")
        pairs = content.pop("columns")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFormatError("the array 'columns' must list names and categories")
        columns = [
            Column(name, tuple(found) if isinstance(found, list) else found)
            for name, found in pairs
        ]
        return cls(tuple(columns)), content

    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""
        columns: Any = self.columns
        if not isinstance(columns, tuple) or not columns:
            raise ModelFormatError(f"the columns must be a tuple, got {shown(columns)}")
        for column in columns:
            if not isinstance(column, Column) or type(column.name) is not str:
                raise ModelFormatError(f"a column must have a name, got {shown(column)}")
            if column.categories is not None:
                _check_categories(column.name, column.categories)


def _check_categories(name: str, categories: Any) -> None:
    if not isinstance(categories, tuple) or len(categories) > _MOST_CATEGORIES:
        raise ModelFormatError(
            f"the categories of column {name!r} must be a list of at most {_MOST_CATEGORIES}"
        )
    for value in categories:
        plain = type(value) in (str, bool, int) or (type(value) is float and np.isfinite(value))
        if not plain:
            raise ModelFormatError(
                f"a category of column {name!r} must be a string, a number or a boolean, "
                f"got {shown(value)}"
            )
    if len(set(categories)) != len(categories):
        raise ModelFormatError(f"column {name!r} has a category twice")


def _finite(numbers: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
    """Numbers as float32; an error that names the column if one is too large for that."""
    with np.errstate(over="ignore"):
        small = numbers.astype(np.float32, copy=False)
    if np.isinf(small).any():
        raise ValueError(
            f"column {name!r} has infinity or a value too large for float32; "
            "leave the cell empty if the value is not known"
        )
    return small


def categorical_columns(frame: Frame, given: Any, *, named: bool) -> Callable[[int, Cells], bool]:
    """Whether a column holds categories, by what ``categorical_features`` says.

    ``named`` is for frames, whose columns have names and dtypes of their own.
    """
    if isinstance(given, str):
        return lambda j, cells: named and (frame.is_category(j) or not cells.are_numbers)
    wanted = [] if given is None else list(given) if np.ndim(given) == 1 else None
    if wanted is None:
        raise ValueError(
            'categorical_features must be "from_dtype", None, or a list of names, indices or '
            f"booleans; got {shown(given)}"
        )
    if wanted and all(isinstance(each, bool | np.bool_) for each in wanted):
        if len(wanted) != frame.n_columns:
            raise ValueError(
                f"categorical_features has {len(wanted)} booleans for {frame.n_columns} columns"
            )
        wanted = [j for j, each in enumerate(wanted) if each]
    chosen = {_index(each, frame, named=named) for each in wanted}
    return lambda j, _: j in chosen


def _index(given: Any, frame: Frame, *, named: bool) -> int:
    if isinstance(given, str):
        if not named:
            raise ValueError(
                f"categorical_features names {given!r}, but X has no names of columns; "
                "use their indices"
            )
        if given not in frame.names:
            raise ValueError(
                f"categorical_features names the column {given!r}, which X does not have; "
                f"it has {listed(frame.names)}"
            )
        return frame.names.index(given)
    if not isinstance(given, Integral) or not 0 <= int(given) < frame.n_columns:
        raise ValueError(
            f"categorical_features must name columns, or have indices from 0 to "
            f"{frame.n_columns - 1}; got {shown(given)}"
        )
    return int(given)


def has_columns(X: Any, given: Any) -> bool:
    """Whether X must be read column by column: it may hold categories, or others than numbers."""
    if not isinstance(given, str | None):
        return True
    if not is_frame(X):
        return False
    if hasattr(X, "iloc"):
        return not all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes)
    return True
