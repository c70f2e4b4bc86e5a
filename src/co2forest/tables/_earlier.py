# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of columns that earlier model files have, from before estimators took categories.

Their features are numbers alone: each category has an indicator, and so have gaps. They are only
read; a new fit has none of them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from co2forest.tables._columns import Categories, Dates, Numbers, finite_numbers
from co2forest.tables.cells import Words, numbers_of, seconds_of

_AND_MISSING = ", and whether it is missing"


@dataclass(frozen=True)
class NumbersAndGaps(Numbers):
    """A column of numbers, and perhaps an indicator of missing ones."""

    missing: bool

    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name}=(missing)"] if self.missing else [self.name]

    def encode(self, series: Any) -> list[Any]:
        cells = [finite_numbers(series)]
        return [*cells, np.isnan(numbers_of(series))] if self.missing else cells

    def describe(self) -> str:
        return super().describe() + _AND_MISSING * self.missing


@dataclass(frozen=True)
class DatesAndGaps(Dates):
    """The parts of dates, and perhaps an indicator of missing ones."""

    missing: bool

    def feature_names(self) -> list[str]:
        names = super().feature_names()
        return [*names, f"{self.name}=(missing)"] if self.missing else names

    def encode(self, series: Any) -> list[Any]:
        cells = super().encode(series)
        return [*cells, np.isnan(seconds_of(series))] if self.missing else cells

    def describe(self) -> str:
        return super().describe() + _AND_MISSING * self.missing


@dataclass(frozen=True)
class CategoriesAndGaps:
    """A column of words, with an indicator for each frequent word."""

    kind: ClassVar[str] = Categories.kind
    wanted: ClassVar[str] = Categories.wanted
    name: str
    categories: tuple[str, ...]  # the most frequent first
    other: bool  # whether all other words share an indicator
    missing: bool  # whether missing ones have an indicator

    def feature_names(self) -> list[str]:
        extra = ["(other)"] * self.other + ["(missing)"] * self.missing
        return [f"{self.name}={category}" for category in [*self.categories, *extra]]

    def encode(self, series: Any) -> list[Any]:
        column = Words.of(series)
        count = len(self.categories)
        code_of = {category: code for code, category in enumerate(self.categories)}
        # The last word is for the code -1.
        codes = np.array([code_of.get(word, count) for word in column.words] + [count + 1])
        kept = [*range(count), *[count] * self.other, *[count + 1] * self.missing]
        return [codes[column.codes] == code for code in kept]

    def describe(self) -> str:
        if not self.categories:
            return "only whether it is missing, because its text does not repeat or vary"
        count = len(self.categories)
        noun = "category" if count == 1 else "categories"
        rest = ", the other ones together" * self.other
        return f"{count} {noun}{rest}{_AND_MISSING * self.missing}"
