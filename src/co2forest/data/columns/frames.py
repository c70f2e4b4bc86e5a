# SPDX-License-Identifier: BSD-3-Clause
"""Columns of data frames (pandas, polars, pyarrow) and of arrays, as numbers or distinct values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import shown

Value = str | bool | int | float  # of a category


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column: numbers with NaN for gaps, or codes of distinct values."""

    name: str
    numbers: npt.NDArray[Any] | None = None
    codes: npt.NDArray[np.int32] | None = None  # -1 for gaps
    values: tuple[Value, ...] = ()

    @property
    def are_numbers(self) -> bool:
        """Whether no cell is a word; a column without any value is one of numbers."""
        return self.codes is None or not any(isinstance(value, str) for value in self.values)

    def as_numbers(self) -> npt.NDArray[Any]:
        """Numbers, with NaN for gaps; an error that shows a word if there is one."""
        if self.numbers is not None:
            return self.numbers
        words = [value for value in self.values if isinstance(value, str)]
        if words:
            raise ValueError(
                f"column {self.name!r} must hold numbers, as in training; it has {shown(words[0])}"
            )
        assert self.codes is not None  # noqa: S101 (one of the two is there)
        try:
            table = np.array([*map(float, self.values), np.nan])
        except OverflowError as error:
            raise ValueError(f"column {self.name!r} has a number too large for float32") from error
        numbers: npt.NDArray[Any] = table[self.codes]
        return numbers

    def as_codes(self) -> tuple[npt.NDArray[np.int32], tuple[Value, ...]]:
        """Codes of distinct values, -1 for gaps."""
        if self.codes is not None:
            return self.codes, self.values
        assert self.numbers is not None  # noqa: S101 (one of the two is there)
        distinct, codes = np.unique(self.numbers, return_inverse=True)  # NaN comes last, once
        n_known = len(distinct) - int(len(distinct) > 0 and distinct[-1] != distinct[-1])
        codes = np.where(codes < n_known, codes, -1)
        values = tuple(plain_value(value) for value in distinct[:n_known].tolist())
        return codes.ravel().astype(np.int32), values

    def at(self, rows: npt.NDArray[np.intp]) -> list[Value | None]:
        """The cells of some rows; None for gaps, which are NaN among numbers."""
        if self.numbers is not None:
            numbers: list[Value | None] = self.numbers[rows].tolist()
            return numbers
        codes, values = self.as_codes()
        return [(*values, None)[code] for code in codes[rows]]

    @classmethod
    def of_objects(cls, name: str, cells: Iterable[Any]) -> Self:
        """Cells that may be anything; None, NaN and their like are gaps."""
        number_of: dict[Any, int] = {}
        values: list[Value] = []
        places: dict[Value, int] = {}
        codes = np.fromiter(
            (_code(cell, name, number_of, values, places) for cell in cells), dtype=np.int32
        )
        return cls(name, codes=codes, values=tuple(values))


def _code(
    cell: Any, name: str, number_of: dict[Any, int], values: list[Value], places: dict[Value, int]
) -> int:
    """Number a cell; ``number_of`` remembers cells, ``places`` the values that they stand for."""
    try:
        known = number_of.get(cell)
    except TypeError as error:
        raise ValueError(
            f"column {name!r} has a cell of type {type(cell).__name__}, which cannot be a "
            f"category: {shown(cell)}; categories are strings, numbers or booleans"
        ) from error
    if known is not None:
        return known
    if _is_gap(cell):
        code = -1
    else:
        try:
            value = plain_value(cell)
        except TypeError as error:
            raise ValueError(
                f"column {name!r} has a cell of type {type(cell).__name__}: {shown(cell)}; "
                "it must be a string, a number or a boolean"
            ) from error
        code = places.setdefault(value, len(values))
        if code == len(values):
            values.append(value)
    number_of[cell] = code
    return code


def _is_gap(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas.NA."""
    if cell is None:
        return True
    if isinstance(cell, str):
        return False
    different = cell != cell  # noqa: PLR0124 (true of NaN and NaT)
    return different is True or different is np.True_ or type(different).__name__ == "NAType"


def plain_value(cell: Any) -> Value:
    """A cell as a model file can hold it; a TypeError if it cannot."""
    if isinstance(cell, str):
        return str.__str__(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, Real):
        number = float(cell)
        return int(number) if number.is_integer() else number
    raise TypeError(type(cell).__name__)


@dataclass(frozen=True, eq=False)
class Frame:
    """A table: how many rows, the names of its columns, and how to get the cells of one."""

    n_rows: int
    names: list[str]
    column: Callable[[int], Cells]
    # Whether the dtype of a column says that its values are categories, even if all are numbers.
    is_category: Callable[[int], bool]

    @classmethod
    def of(cls, X: Any) -> Self:
        """Read a data frame, or a two-dimensional array."""
        if hasattr(X, "iloc"):
            return cls(
                len(X),
                list(map(str, X.columns)),
                lambda j: _pandas_cells(str(X.columns[j]), X.iloc[:, j]),
                lambda j: getattr(X.dtypes.iloc[j], "name", "") == "category",
            )
        if hasattr(X, "column_names"):
            types = [str(column.type) for column in X.columns]
            return cls(
                X.num_rows,
                list(X.column_names),
                lambda j: _arrow_cells(X.column_names[j], X.column(j), types[j]),
                lambda j: types[j].startswith("dictionary"),
            )
        if hasattr(X, "get_column"):
            types = [str(dtype) for dtype in X.dtypes]
            return cls(
                X.height,
                list(X.columns),
                lambda j: _polars_cells(X.columns[j], X.get_column(X.columns[j]), types[j]),
                lambda j: types[j].startswith(("Categorical", "Enum")),
            )
        array = np.asarray(X) if not isinstance(X, list) else np.array(X, dtype=object)
        if array.ndim != 2:
            raise ValueError(
                f"X must be a table of two dimensions, got an array of shape {array.shape}"
            )
        return cls(
            array.shape[0],
            [f"x{j}" for j in range(array.shape[1])],
            lambda j: _array_cells(f"x{j}", array[:, j]),
            lambda _: False,
        )

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.names)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or pyarrow, or of a library like them."""
    return any(hasattr(X, name) for name in ("iloc", "column_names", "get_column"))


def _array_cells(name: str, cells: npt.NDArray[Any]) -> Cells:
    if cells.dtype.kind in "biuf":
        return Cells(name, numbers=cells)
    if cells.dtype.kind in "OU":
        return Cells.of_objects(name, cells.tolist())
    raise ValueError(
        f"column {name!r} has the dtype {cells.dtype}; it must hold numbers, strings or booleans"
    )


def _pandas_cells(name: str, series: Any) -> Cells:
    dtype = series.dtype
    if getattr(dtype, "name", "") == "category":
        listed = Cells.of_objects(name, series.cat.categories.tolist())
        assert listed.codes is not None  # noqa: S101 (cells of objects have codes)
        codes = np.append(listed.codes, -1)[series.cat.codes.to_numpy()]
        return Cells(name, codes=codes, values=listed.values)
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":
        if isinstance(dtype, np.dtype):
            return Cells(name, numbers=series.to_numpy())
        return Cells(name, numbers=series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "mM":
        raise _no_dates(name, dtype)
    return Cells.of_objects(name, series.astype(object).tolist())


def _polars_cells(name: str, series: Any, dtype: str) -> Cells:
    if series.dtype.is_numeric() or dtype == "Boolean":
        return Cells(name, numbers=series.cast(float).to_numpy())
    if series.dtype.is_temporal():
        raise _no_dates(name, dtype)
    return Cells.of_objects(name, series.to_list())


def _arrow_cells(name: str, column: Any, dtype: str) -> Cells:
    if dtype == "null":
        return Cells(name, numbers=np.full(len(column), np.nan))
    if dtype == "bool":
        column = column.cast("uint8")
    if dtype == "bool" or dtype.startswith(("int", "uint", "float", "double", "half", "decimal")):
        return Cells(name, numbers=column.cast("float64").to_numpy())
    if dtype.startswith(("date", "time", "duration")):
        raise _no_dates(name, dtype)
    return Cells.of_objects(name, column.to_pylist())


def _no_dates(name: str, dtype: Any) -> ValueError:
    return ValueError(
        f"column {name!r} holds dates or times ({dtype}), which are neither numbers nor "
        "categories; make numbers of them, or use co2forest.tables.TableModel, which does"
    )
