# SPDX-License-Identifier: BSD-3-Clause
"""CSV and TSV files: fields between separators, perhaps in quotes."""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import Any

from co2forest.files.messages import listed, one_line, shown
from co2forest.tables._frames import check_width
from co2forest.tables._optional import library
from co2forest.tables.cells import MISSING_NUMBERS, MISSING_WORDS, number_of

_SEPARATORS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"[\r\n]+")
_LINES_TO_LOOK_AT = 5
_BEGINNING = 1 << 22  # bytes among which the first lines are looked for
_BLOCK = 1 << 24  # bytes: no row may be longer
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def read_text(data: bytes, name: str, *, tabs: bool, header: bool, text: Collection[str]) -> Any:
    """A data frame: columns are int64 or float64 if all of their fields are numbers, else text."""
    _check_encoding(data, name)
    lines = _first_lines(data)
    if not lines:
        raise ValueError(f"{name}: the file is empty")
    separator = "\t" if tabs else _separator(lines)
    table = _parse(data, name, separator, lines[0].count(separator) + 1)
    names = [f"x{number}" for number in range(table.num_columns)]
    if header:
        names = _names([column[0].as_py() for column in table.columns], name)
        table = table.slice(1)
    if table.num_rows == 0:
        raise ValueError(f"{name}: has names of columns, but no rows")
    pandas = library("pandas")
    decimal_comma = separator == ";"
    columns = {}
    for number, column_name in enumerate(names):
        fields = library("pyarrow.compute").utf8_trim_whitespace(table.column(number))
        columns[column_name] = _column(fields, column_name in text, decimal_comma)
    return pandas.DataFrame(columns, copy=False)


def _check_encoding(data: bytes, name: str) -> None:
    if data.startswith(_UTF16):
        raise ValueError(f"{name}: in UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise ValueError(f"{name}, line {line}: has a zero byte, so it is not a table of text")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as "
            "UTF-8 (iconv -f LATIN1 -t UTF-8)"
        ) from None


def _first_lines(data: bytes) -> list[str]:
    """The first lines that are not blank, without what is in quotes."""
    beginning = data[:_BEGINNING].removeprefix(_UTF8_MARK).decode("utf-8", errors="ignore")
    # splitlines() would break lines at form feeds, too.
    lines = (line for line in _LINE_END.split(_QUOTED.sub("_", beginning)) if line.strip())
    return list(islice(lines, _LINES_TO_LOOK_AT))


def _separator(lines: list[str]) -> str:
    """The separator that gives the first lines the most columns, the same number for each line."""
    best, most = ",", (False, 0)
    for separator in _SEPARATORS:
        counts = {line.count(separator) for line in lines}
        found = (len(counts) == 1 and counts != {0}, max(counts))
        if found > most:
            best, most = separator, found
    return best


def _names(first: list[str], name: str) -> list[str]:
    names = [field.strip() or f"Unnamed: {number}" for number, field in enumerate(first)]
    if all(number_of(field.strip()) is not None for field in first):
        raise ValueError(
            f"{name}, line 1: {shown(first)} are numbers, not names of columns; if the file has "
            "no names, say so (header=False, --no-header)"
        )
    repeated = [field for field, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{name}, line 1: columns have the same name: {listed(repeated)}")
    return names


def _parse(data: bytes, name: str, separator: str, expected: int) -> Any:
    """All fields as text, in columns f0, f1, ..., about as many as expected."""
    check_width(expected, name)
    table = _read(data, name, separator, expected)
    if table.num_columns > expected:  # quotes inside of fields hide separators from us
        check_width(table.num_columns, name)
        table = _read(data, name, separator, table.num_columns)
    _check_last_quote(table, data, name)
    return table


def _read(data: bytes, name: str, separator: str, n_columns: int) -> Any:
    """Columns after those of this number become whatever they look like."""
    pyarrow, reader = library("pyarrow"), library("pyarrow.csv")
    wrong: list[Any] = []

    def remember(row: Any) -> str:
        wrong.append(row)
        return "error"

    text = pyarrow.string()
    try:
        table = reader.read_csv(
            pyarrow.BufferReader(data),
            # Without threads, because only then does a wrong row have a number.
            reader.ReadOptions(
                autogenerate_column_names=True, use_threads=False, block_size=_BLOCK
            ),
            reader.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=remember
            ),
            reader.ConvertOptions(
                column_types={f"f{number}": text for number in range(n_columns)},
                strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowInvalid as error:
        if wrong:
            raise ValueError(_ragged(wrong[0], name, separator)) from None
        if "straddling" in str(error):
            raise ValueError(
                f"{name}: a row is longer than {_BLOCK} bytes; is a quote not closed?"
            ) from None
        raise ValueError(f"{name}: not a table ({one_line(error)[:200]})") from None
    return table


def _ragged(row: Any, name: str, separator: str) -> str:
    shown_separator = "tab" if separator == "\t" else separator
    return (
        f"{name}, row {row.number} (the first one is 1): {row.actual_columns} fields, but the "
        f"first row has {row.expected_columns}; fields are separated by {shown_separator!r}, and "
        'one that has it inside must be in "quotes"'
    )


def _check_last_quote(table: Any, data: bytes, name: str) -> None:
    """Raise if an unclosed quote has made one field of the rest of the file."""
    last = str(table.column(table.num_columns - 1)[-1].as_py()) if table.num_rows else ""
    if "\n" in last and data.count(b'"') % 2:
        raise ValueError(f"{name}, row {table.num_rows}: a quote is not closed")


def _column(fields: Any, stays_text: bool, decimal_comma: bool) -> Any:
    """Fields as int64 or float64 if they are all numbers, else as text where NA words are None."""
    pyarrow, compute = library("pyarrow"), library("pyarrow.compute")
    numbers = None if stays_text else _numbers(fields, decimal_comma)
    if numbers is not None:
        return numbers.to_pandas()
    missing = compute.is_in(fields, value_set=pyarrow.array(sorted(MISSING_WORDS)))
    return compute.if_else(missing, None, fields).to_pandas()


def _numbers(fields: Any, decimal_comma: bool) -> Any:
    """Read fields as numbers, or return None. 007 is not a number: it would lose its zeros."""
    pyarrow, compute = library("pyarrow"), library("pyarrow.compute")
    missing = compute.is_in(fields, value_set=pyarrow.array(sorted(MISSING_NUMBERS)))
    fields = compute.if_else(missing, None, fields)
    if fields.null_count == len(fields) or _any(fields, r"^[+-]?0[0-9]"):
        return None
    if decimal_comma and not _any(fields, r"[^0-9,+-]|,.*,"):
        fields = compute.replace_substring(fields, ",", ".")
    for kind in (pyarrow.int64(), pyarrow.float64()):
        try:
            return compute.cast(fields, kind)
        except pyarrow.ArrowInvalid:
            continue
    return None


def _any(fields: Any, pattern: str) -> bool:
    compute = library("pyarrow.compute")
    return bool(compute.any(compute.match_substring_regex(fields, pattern)).as_py())
