# SPDX-License-Identifier: BSD-3-Clause
"""The target of a table: classes or numbers, and which rows have one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.files.messages import listed, shown
from co2forest.tables.cells import CellError, Words, is_boolean, kind_of, number_of, numbers_of

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = ("auto", CLASSIFICATION, REGRESSION)

# Whole numbers are classes if there are few different ones, each with some rows.
MOST_NUMBERED_CLASSES = 30
_ROWS_OF_A_CLASS = 10  # on average
_LARGEST_LABEL = 2**53  # beyond it float64 skips whole numbers

Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Target:
    """The answers of the rows that have one."""

    values: Labels  # float64 for regression
    known: npt.NDArray[np.bool_]  # for each row of the table
    task: str
    reason: str  # why it is this task, in words


def read_target(series: Any, task: str) -> Target:
    """Decide whether a column holds classes or numbers, and take them from it."""
    name = "the target" if series.name is None else f"the target {series.name!r}"
    reason = "as asked"
    if task == "auto" and (kind_of(series) == "category" or is_boolean(series)):
        task = CLASSIFICATION
        reason = f"{name} has {'true and false' if is_boolean(series) else 'categories'}"
    if kind_of(series) == "category":
        series = series.astype(object)
    kind = kind_of(series)
    if kind in {"dates", "nested"}:
        what = "dates" if kind == "dates" else "cells that are not single numbers or words"
        raise ValueError(f"{name} has {what}; it must have classes or numbers")
    words = Words.of(series) if kind == "text" else None
    try:
        numbers = words.numbers() if words else numbers_of(series)
    except CellError as error:
        if task == REGRESSION:
            raise ValueError(
                f"{name}, {error} is not a number, as task='regression' needs"
            ) from None
        return _classes_of(words, name, f"{name} is text" if task == "auto" else reason)
    known = ~np.isnan(numbers)
    _check_known(known, name)
    if task == "auto":
        task, reason = _task_of(numbers[known], name)
    if task == REGRESSION:
        if np.isinf(numbers[known]).any():
            raise ValueError(f"{name} has an infinite number")
        return Target(numbers[known], known, task, reason)
    if words is not None:
        return _classes_of(words, name, reason)
    labels: Labels = _whole(numbers[known], name)
    labels = labels.astype(bool) if is_boolean(series) else labels
    return Target(_several(labels, name), known, task, reason)


def _task_of(numbers: npt.NDArray[np.float64], name: str) -> tuple[str, str]:
    """The task that numbers are for, and why."""
    distinct = np.unique(numbers)
    few = len(distinct) <= MOST_NUMBERED_CLASSES
    enough = len(distinct) <= max(2, len(numbers) / _ROWS_OF_A_CLASS)
    if few and enough and (distinct == np.floor(distinct)).all():
        return CLASSIFICATION, f"{name} has {len(distinct)} different whole numbers"
    return REGRESSION, f"{name} has {len(distinct)} different numbers"


def _classes_of(words: Any, name: str, reason: str) -> Target:
    known = words.codes >= 0
    _check_known(known, name)
    labels = np.array(words.words, dtype=object)[words.codes[known]]
    if len(words.words) > max(MOST_NUMBERED_CLASSES, known.sum() / 2):
        raise ValueError(
            f"{name} has {len(words.words)} different texts in {known.sum()} rows, too many for "
            f"classes, such as {listed(words.words[:3])}; is it the right column?"
        )
    return Target(_several(labels, name), known, CLASSIFICATION, reason)


def _check_known(known: npt.NDArray[np.bool_], name: str) -> None:
    if not known.any():
        raise ValueError(f"{name} is missing in every row")


def _several(labels: Labels, name: str) -> Labels:
    if (labels == labels[0]).all():
        raise ValueError(
            f"{name} is {shown(labels[:1].tolist()[0])} in every row; there must be two classes"
        )
    return labels


def _whole(numbers: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.int64]:
    bad = (numbers != np.floor(numbers)) | (np.abs(numbers) > _LARGEST_LABEL)
    if bad.any():
        raise ValueError(
            f"{name} has {numbers[bad][0]}, but classes must be text or whole numbers up to 2^53; "
            "task='regression' predicts numbers"
        )
    return numbers.astype(np.int64)


def truth(series: Any, classes: Labels | None) -> tuple[Labels, npt.NDArray[np.bool_]]:
    """Read answers as the classes that a model predicts, or as numbers; and which rows have one.

    A class that was not in training stays: any prediction of it is wrong.
    """
    if classes is None:
        try:
            numbers = numbers_of(series)
        except CellError as error:
            raise ValueError(f"the target {series.name!r}, {error} is not a number") from None
        known = ~np.isnan(numbers)
        return numbers[known], known
    words = Words.of(series)
    known = words.codes >= 0
    _check_known(known, f"the target {series.name!r}")
    label_of = {str(label): label for label in classes.tolist()}
    labels = [
        label_of[word] if word in label_of else _new_label(word, classes) for word in words.words
    ]
    dtype = object if isinstance(labels[0], str) else None
    return np.array(labels, dtype=dtype)[words.codes[known]], known


def _new_label(word: str, classes: Labels) -> Any:
    if classes.dtype.kind not in "biuf":
        return word
    number = number_of(word)
    if number is None or not float(number).is_integer() or classes.dtype.kind == "b":
        raise ValueError(
            f"the target has {shown(word)}, but the classes of training are "
            f"{listed(map(str, classes.tolist()))}"
        )
    return int(number)
