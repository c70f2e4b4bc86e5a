# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text: one row per line, one column of it the label."""

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import shown
from datasets.packed import open_binary

_LONGEST_LINE = 1 << 20  # bytes; longer ones are no table
_LONGEST_LABEL = 100  # characters; an array of text takes the longest one's width for every row
_LINES_AT_ONCE = 10_000  # text needs ten times the memory of the numbers in it


def read_table(
    path: Path,
    *,
    separator: str | None,
    label: str,
    n_features: int | None,
    categories: Sequence[str] | None,
    max_rows: int | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.str_]]:
    """What `read_uci` says; more than `max_rows` rows are refused as soon as they are met."""
    _check_layout(separator, label, categories)
    check_count("n_features", n_features)
    blocks: list[npt.NDArray[Any]] = []
    labels: list[str] = []
    with open_binary(path) as stream:
        lines = _lines(stream, path)
        while chunk := list(islice(lines, _LINES_AT_ONCE)):
            rows = []
            for number, line in chunk:
                if len(labels) == max_rows:
                    raise ValueError(f"{path}, line {number}: more than {max_rows} rows")
                name, text = _split_label(line, separator, label, f"{path}, line {number}")
                labels.append(name)
                rows.append((number, text))
            if n_features is None:
                n_features = len(rows[0][1].split(separator))
            if categories is None:
                blocks.append(_parse_numbers(rows, path, separator, n_features))
            else:
                blocks.append(_one_hot(rows, path, separator, n_features, categories))
    if not blocks:
        raise ValueError(f"{path}: the file is empty")
    return np.concatenate(blocks), np.array(labels)


def check_count(name: str, value: Any) -> None:
    """Raise unless it is None or a number of things."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (whole and 1 <= value <= sys.maxsize):
        raise ValueError(f"{name} must be None or a whole number of at least 1, got {shown(value)}")


def _check_layout(separator: Any, label: Any, categories: Any) -> None:
    if not isinstance(label, str) or label not in {"first", "last"}:
        raise ValueError(f"label must be 'first' or 'last', got {shown(label)}")
    one = isinstance(separator, str) and len(separator) == 1 and separator not in "\r\n"
    if separator is not None and not one:
        raise ValueError(
            "separator must be None, for white space, or one character that does not end a line, "
            f"got {shown(separator)}"
        )
    if categories is None:
        return
    names = list(categories) if np.iterable(categories) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"categories must be None or a list of names, got {shown(categories)}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"categories must be different names, got {shown(twice)} twice in {shown(categories)}"
        )


def _lines(stream: BinaryIO, path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank."""
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"{path}, line {number}: longer than {_LONGEST_LINE} bytes")
        try:
            text = line.decode("ascii").strip()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not plain text") from error
        if text:
            yield number, text


def _split_label(line: str, separator: str | None, label: str, where: str) -> tuple[str, str]:
    """The label, and the rest of the line."""
    cells = line.split(separator, 1) if label == "first" else line.rsplit(separator, 1)
    if len(cells) == 1:
        raise ValueError(f"{where}: only one column")
    name = cells.pop(0 if label == "first" else -1).strip()
    if len(name) > _LONGEST_LABEL:
        raise ValueError(
            f"{where}: a label of {len(name)} characters, expected at most {_LONGEST_LABEL}"
        )
    return name, cells[0]


def _parse_numbers(
    rows: list[tuple[int, str]], path: Path, separator: str | None, n_features: int
) -> npt.NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            X = np.loadtxt(
                [text for _, text in rows],
                dtype=np.float32,
                delimiter=separator,
                comments=None,
                ndmin=2,
            )
    except ValueError:
        X = np.empty((0, 0), dtype=np.float32)
    if X.shape == (len(rows), n_features) and np.isfinite(X).all():
        return X
    for number, text in rows:  # slowly, to say where it is
        for cell in _cells(number, text, path, separator, n_features):
            if not _is_finite(cell):
                raise ValueError(f"{path}, line {number}: {cell[:20]!r} is not a finite number")
    raise ValueError(f"{path}, lines {rows[0][0]} to {rows[-1][0]}: not a table of numbers")


def _is_finite(cell: str) -> bool:
    try:
        return abs(float(cell)) <= float(np.finfo(np.float32).max)
    except ValueError:
        return False


def _one_hot(
    rows: list[tuple[int, str]],
    path: Path,
    separator: str | None,
    n_features: int,
    categories: Sequence[str],
) -> npt.NDArray[np.uint8]:
    place = {name: index for index, name in enumerate(categories)}
    codes = []
    for number, text in rows:
        cells = _cells(number, text, path, separator, n_features)
        try:
            codes.append([place[cell] for cell in cells])
        except KeyError as error:
            raise ValueError(
                f"{path}, line {number}: {error.args[0][:20]!r} is none of {', '.join(place)}"
            ) from None
    X = np.zeros((len(rows), n_features, len(place)), dtype=np.uint8)
    np.put_along_axis(X, np.array(codes)[:, :, None], 1, axis=2)
    return X.reshape(len(rows), -1)


def _cells(number: int, text: str, path: Path, separator: str | None, n_features: int) -> list[str]:
    cells = [cell.strip() for cell in text.split(separator)]
    if len(cells) != n_features:
        raise ValueError(
            f"{path}, line {number}: {len(cells)} features and a label, expected {n_features}"
        )
    return cells
