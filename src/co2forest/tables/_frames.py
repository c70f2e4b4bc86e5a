# SPDX-License-Identifier: BSD-3-Clause
"""Checks of data frames, and what all of them have in common."""

import difflib
from typing import Any

import numpy.typing as npt

from co2forest.files.messages import listed, shown
from co2forest.tables._optional import library

MOST_COLUMNS = 100_000
TARGET = "y"  # what the labels of NPZ and LIBSVM files are called


def check_frame(frame: Any) -> None:
    """Raise unless it is a data frame with rows, and columns whose names are different strings."""
    if not isinstance(frame, library("pandas").DataFrame):
        raise TypeError(f"frame must be a pandas.DataFrame, got {type(frame).__name__}")
    for name in frame.columns:
        if not is_text(name):
            raise TypeError(f"names of columns must be strings, got {shown(name)}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].unique()
        raise ValueError(f"names of columns must be different, but these repeat: {listed(twice)}")
    if len(frame) == 0:
        raise ValueError("the table has no rows")


def is_text(value: Any) -> bool:
    """Whether it is a string that a file in UTF-8 can hold."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a character
        return False
    return True


def check_width(n_columns: int, name: str) -> None:
    """Raise if a file has too many columns."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{name}: {n_columns} columns, at most {MOST_COLUMNS} can be read; make a "
            "scipy.sparse matrix of wider rows, which the estimators take"
        )


def find_column(frame: Any, name: str, role: str) -> Any:
    """Find a column by its name; if it does not exist, raise with a similar name."""
    if name not in frame.columns:
        near = difflib.get_close_matches(name, list(frame.columns), n=1, cutoff=0.6)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(
            f"{role}={name!r} is not a column of the table{hint}, which has {listed(frame.columns)}"
        )
    return frame[name]


def with_target(frame: Any, labels: npt.NDArray[Any]) -> Any:
    """Append the labels of a file that says what is to be predicted."""
    pandas = library("pandas")
    frame = pandas.concat([frame, pandas.Series(labels, name=TARGET)], axis=1)
    frame.attrs["target"] = TARGET
    return frame
