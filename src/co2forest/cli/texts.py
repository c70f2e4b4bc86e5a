# SPDX-License-Identifier: BSD-3-Clause
"""Texts of a data frame, in its cells and names, changed for those who will read them."""

import re
from collections.abc import Callable
from typing import Any

# Spreadsheets run what begins so; some take the full-width signs of East Asia, too.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_SIGNED_NUMBER = re.compile(r"[+-][\d.,]+(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def without_formula(text: str) -> str:
    """A text that a spreadsheet shows instead of running it; numbers stay numbers."""
    runs = _FORMULA.match(text) and not _SIGNED_NUMBER.fullmatch(text)
    return f"'{text}" if runs else text


def change_texts(frame: Any, change: Callable[[str], str]) -> Any:
    """The frame with all of its texts changed; other cells stay as they are."""
    changed = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biufcmM":  # perhaps strings, or categories that are strings
            cells = frame.iloc[:, place].astype(object)
            changed.isetitem(
                place, cells.map(lambda cell: change(cell) if isinstance(cell, str) else cell)
            )
    return changed.set_axis([change(name) for name in frame.columns], axis=1)
