"""ARFF files: attributes with their types, then rows of values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from co2forest._stored import shown
from co2forest.tables._cells import number_of
from co2forest.tables._frames import check_width
from co2forest.tables._optional import library

_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_VALUE}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_VALUE}|[^,\t'\"]*?)\s*(?:[,\t]|$)")
_NUMBERS = {"numeric", "real", "integer"}
_MISSING = "?"
_ROWS_AT_ONCE = 10_000  # text needs ten times the memory of the numbers in it


class _ArffError(ValueError):
    """What is wrong, without the file and the line."""


@dataclass
class _Attribute:
    """A column that is being read."""

    name: str
    categories: dict[str, int] | None  # of a nominal one
    numeric: bool
    blocks: list[Any] = field(default_factory=list)

    def add(self, cells: list[str | None], line_numbers: list[int]) -> None:
        """More rows; raises with the number of a line."""
        if self.numeric:
            numbers = [np.nan if cell is None else number_of(cell) for cell in cells]
            _refuse_first(None, numbers, cells, line_numbers, f"{self.name}: not a number")
            self.blocks.append(np.array(numbers, dtype=np.float64))
        elif self.categories is not None:
            codes = [-1 if cell is None else self.categories.get(cell, -2) for cell in cells]
            _refuse_first(-2, codes, cells, line_numbers, f"{self.name}: not one of its values")
            self.blocks.append(np.array(codes, dtype=np.int32))
        else:
            self.blocks.append(np.array(cells, dtype=object))

    def column(self) -> Any:
        values = np.concatenate(self.blocks)
        if self.categories is None:
            return values
        return library("pandas").Categorical.from_codes(values, categories=list(self.categories))


def read_arff(data: bytes, name: str) -> Any:
    """A frame: numbers are float64, nominal attributes categories, all others text."""
    try:
        lines = iter(enumerate(data.decode("utf-8-sig").splitlines(), 1))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}, line {line}: not UTF-8; save the file as UTF-8") from None
    attributes = _header(lines, name)
    check_width(len(attributes), name)
    n_rows = 0
    for line_numbers, rows in _blocks(lines, len(attributes), name):
        n_rows += len(rows)
        for attribute, cells in zip(attributes, zip(*rows, strict=True), strict=True):
            try:
                attribute.add(list(cells), line_numbers)
            except _ArffError as error:
                raise ValueError(f"{name}, {error}") from None
    if n_rows == 0:
        raise ValueError(f"{name}: no rows after @data")
    frame = library("pandas").DataFrame({a.name: a.column() for a in attributes})
    if attributes[-1].name.lower() == "class":
        frame.attrs["target"] = attributes[-1].name
    return frame


def _header(lines: Iterator[tuple[int, str]], name: str) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    taken: set[str] = set()
    for number, text in lines:
        line = text.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if word == "@data":
            if not attributes:
                raise ValueError(f"{name}, line {number}: @data before any @attribute")
            return attributes
        if not line or word == "@relation" or line.startswith("%"):
            continue
        try:
            attributes.append(_attribute(line, taken))
        except _ArffError as error:
            raise ValueError(f"{name}, line {number}: {error}") from None
        taken.add(attributes[-1].name)
    raise ValueError(f"{name}: has no line @data, so it is no ARFF file or cut off")


def _attribute(line: str, taken: set[str]) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if not match:
        raise _ArffError(f"expected '@attribute name type', got {shown(line)}")
    name, kind = _plain(match[1]), match[2].strip()
    if name in taken:
        raise _ArffError(f"a second attribute {shown(name)}")
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise _ArffError(f"the values of {shown(name)} do not end with '}}'")
        values = _cells(kind[1:-1])
        if len(set(values)) != len(values):
            raise _ArffError(f"{shown(name)} has a value twice")
        places = {value: number for number, value in enumerate(values) if value is not None}
        return _Attribute(name, places, numeric=False)
    word = kind.split(None, 1)[0].lower()
    if word not in _NUMBERS | {"string", "date"}:
        raise _ArffError(
            f"{shown(name)} is of type {shown(kind)}; numeric, {{values}}, string and date are read"
        )
    return _Attribute(name, None, numeric=word in _NUMBERS)


def _blocks(
    lines: Iterator[tuple[int, str]], n_columns: int, name: str
) -> Iterator[tuple[list[int], list[list[str | None]]]]:
    """Rows with the numbers of their lines, some thousands at once."""
    numbers: list[int] = []
    rows: list[list[str | None]] = []
    for number, text in lines:
        line = text.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise ValueError(
                f"{name}, line {number}: a row in braces, as sparse ARFF files have; these are not "
                "read: save it as LIBSVM or CSV"
            )
        try:
            cells = _cells(line)
        except _ArffError as error:
            raise ValueError(f"{name}, line {number}: {error}") from None
        if len(cells) != n_columns:
            raise ValueError(
                f"{name}, line {number}: {len(cells)} values for {n_columns} attributes"
            )
        numbers.append(number)
        rows.append(cells)
        if len(rows) == _ROWS_AT_ONCE:
            yield numbers, rows
            numbers, rows = [], []
    if rows:
        yield numbers, rows


def _cells(line: str) -> list[str | None]:
    """The values of a line; None is a missing one."""
    if "'" not in line and '"' not in line and "\t" not in line:
        return [None if cell == _MISSING else cell for cell in map(str.strip, line.split(","))]
    cells: list[str | None] = []
    at = 0
    while at < len(line) or line[-1] in ",\t":
        match = _CELL.match(line, at)
        if not match:
            raise _ArffError(f"a quote is not closed, or something follows it: {shown(line[at:])}")
        cells.append(None if match[1] == _MISSING else _plain(match[1]))
        if match.end() == at or (match.end() == len(line) and line[-1] not in ",\t"):
            break
        at = match.end()
    return cells


def _plain(value: str) -> str:
    """A value without its quotes."""
    if value[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _refuse_first(
    bad: Any, values: list[Any], cells: list[str | None], line_numbers: list[int], what: str
) -> None:
    """Raise if a value is the bad one, with its line."""
    if bad in values:
        _at(values.index(bad), cells, line_numbers, what)


def _at(row: int, cells: list[str | None], line_numbers: list[int], what: str) -> NoReturn:
    raise _ArffError(f"line {line_numbers[row]}: {what}: {shown(cells[row])}")
