"""Frames that a user brings: what they must be like, and how messages speak of their columns."""

import difflib
from collections.abc import Iterable
from typing import Any

from co2forest._stored import shown
from co2forest.tables._optional import library

MOST_COLUMNS = 100_000
_MOST_LISTED = 10


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
            f"{name}: {n_columns} columns, at most {MOST_COLUMNS} can be read; of wider rows make "
            "a scipy.sparse matrix, which the estimators take"
        )


def listed(names: Iterable[str]) -> str:
    """Some names for a message, and how many more there are."""
    names = [name if len(name) <= 60 else name[:57] + "..." for name in names]
    text = ", ".join(names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{text} and {more} more" if more > 0 else text


def find_column(frame: Any, name: str, role: str) -> Any:
    """A column by its name; if there is none, the message has one of a similar name."""
    if name not in frame.columns:
        near = difflib.get_close_matches(name, list(frame.columns), n=1, cutoff=0.6)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(
            f"{role}={name!r} is no column of the table{hint}, which has {listed(frame.columns)}"
        )
    return frame[name]
