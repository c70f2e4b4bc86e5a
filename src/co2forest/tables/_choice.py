# SPDX-License-Identifier: BSD-3-Clause
"""The rules by which an encoder decides what becomes of a column."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.tables._columns import (
    DATE_PARTS,
    Categories,
    Column,
    Dates,
    Gaps,
    Numbers,
    date_parts,
)
from co2forest.tables.cells import (
    CellError,
    Words,
    is_whole,
    kind_of,
    numbers_of,
    seconds_of,
)

# Names of identifiers: id, PassengerId, user_id, "Unnamed: 0" (of a saved index).
_IDENTIFIER = re.compile(
    r"(?i:(.*[ _.-])?(id|uuid|guid|rowid)|index|idx|row[ _]?(number|num))"
    r"|.*[a-z](Id|ID)|Unnamed: \d+|__index_level_\d+__"
)
# Text is names, tickets or remarks if more than half of the rows have a text of their own.
_MOST_DIFFERENT = 0.5
# Above this, different whole numbers of a file may have become the same float64.
_LAST_EXACT = 2**53


def choose(name: str, series: Any, *, categorical: bool, keep: bool) -> Column | str:
    """How a column is encoded, or why it is dropped; model files keep these reasons."""
    kind = "category" if categorical else kind_of(series)
    if kind == "nested":
        return "its cells are no single numbers or words"
    if kind == "category":
        return _categories(name, Words.of(series), keep=True)
    if kind == "dates":
        return _dates(name, seconds_of(series))
    if kind == "numbers":
        whole = not keep and is_whole(series)
        return _numbers(name, numbers_of(series), may_be_identifier=whole)
    words = Words.of(series)
    column = None if words.are_codes() else _numbers_of_words(name, words, keep)
    column = column or _dates_of_words(name, words)
    if column is not None:
        return column
    return _categories(name, words, keep=keep)


def _numbers_of_words(name: str, words: Words, keep: bool) -> Column | str | None:
    try:
        whole = not keep and all(word.isdecimal() for word in words.words)
        return _numbers(name, words.numbers(), may_be_identifier=whole)
    except CellError:
        return None


def _dates_of_words(name: str, words: Words) -> Column | str | None:
    try:
        return _dates(name, words.seconds())
    except CellError:
        return None


def _numbers(
    name: str, values: npt.NDArray[np.float64], *, may_be_identifier: bool
) -> Column | str:
    missing = np.isnan(values)
    known = values[~missing]
    if len(known) == 0:
        return "empty"
    same = bool((known == known[0]).all())
    if same and not _LAST_EXACT < abs(known[0]) < np.inf:
        return _dropped(name, missing)
    with np.errstate(over="ignore"):
        single = known.astype(np.float32)
    if same or (np.isfinite(single[0]) and (single == single[0]).all()):
        return _dropped(name, missing, "the same number in every row, as float32 has it")
    if may_be_identifier and not missing.any() and _is_identifier(name, known):
        return "an identifier: every row has a whole number of its own"
    return Numbers(name)


def _dropped(name: str, missing: npt.NDArray[np.bool_], reason: str = "constant") -> Column | str:
    """Drop a column, except for where its gaps are."""
    return Gaps(name) if missing.any() else reason


def _is_identifier(name: str, values: npt.NDArray[np.float64]) -> bool:
    """Whether whole numbers without repeats are identifiers, by their name or by counting rows.

    Counting begins at 0 or 1; years do not.
    """
    if len(np.unique(values)) < len(values):
        return False
    counting = values.min() in (0, 1) and np.ptp(values) == len(values) - 1
    return bool(counting) or _IDENTIFIER.fullmatch(name) is not None


def _dates(name: str, seconds: npt.NDArray[np.float64]) -> Column | str:
    missing = np.isnan(seconds)
    if missing.all():
        return "empty"
    if len(np.unique(seconds[~missing])) == 1:
        return _dropped(name, missing)
    parts = date_parts(seconds[~missing])
    varied = tuple(part for part in DATE_PARTS if np.ptp(parts[part]) > 0)
    return Dates(name, varied)


def _categories(name: str, words: Words, *, keep: bool) -> Column | str:
    missing = words.codes < 0
    counts = words.counts()
    n_known = int(counts.sum())
    if n_known == 0:
        return "empty"
    if len(counts) == 1:
        return _dropped(name, missing)
    if not keep and len(counts) > _MOST_DIFFERENT * n_known:
        return _dropped(name, missing, f"{len(counts)} different texts in {n_known} rows")
    if counts.max() == 1:
        return _dropped(name, missing, "no text comes twice")
    return Categories(name, len(counts))
