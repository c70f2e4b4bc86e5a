# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, strings and tables as C source, and the templates around them."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_PER_LINE = 16  # numbers

Table = tuple[str, npt.NDArray[Any], str]  # a name, its contents and what they are


def template(name: str) -> str:
    """A file of this package."""
    return files("co2forest.export").joinpath(name).read_text(encoding="ascii")


@cache
def pieces(name: str) -> dict[str, str]:
    """The pieces of a template by name."""
    named = re.split(r"^@@ (.*)\n", template(name), flags=re.MULTILINE)[1:]
    return dict(zip(named[::2], named[1::2], strict=True))


def offsets(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where items begin that lie one behind the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def smallest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers, none of them negative, in the smallest type that holds them all."""
    largest = values.max(initial=0)
    return values.astype(next(dtype for dtype in _UNSIGNED if largest <= np.iinfo(dtype).max))


def table(name: str, values: npt.NDArray[Any], comment: str) -> str:
    """A table of numbers with a comment."""
    if values.dtype == np.float32:
        c_type, items = "float", float_literals(values.tolist(), "F")
    elif values.dtype == np.float64:
        c_type, items = "double", float_literals(values.tolist(), "")
    else:
        c_type, items = f"{values.dtype.name}_t", list(map(str, values.tolist()))
    items = items or ["0"]  # C has no empty arrays
    head = f"/* {comment} */\nstatic const {c_type} {name}[{len(items)}] = {{\n"
    return f"{head}{lines(items, _PER_LINE)}\n}};\n"


def lines(items: Sequence[str], per_line: int) -> str:
    """Items of an initializer."""
    starts = range(0, len(items), per_line)
    return ",\n".join(",".join(items[start : start + per_line]) for start in starts)


def float_literals(values: list[float], suffix: str) -> list[str]:
    """Hexadecimal, which are exact with every compiler; without the zeros at their end."""
    return [re.sub(r"\.?0+p", "p", value.hex()) + suffix for value in values]


def integer_literal(value: int) -> str:
    """An integer of 64 bits."""
    if value == np.iinfo(np.int64).min:  # C takes the minus for an operator, behind which is 2**63
        return f"{value + 1}LL - 1"
    return f"{value}ULL" if value > np.iinfo(np.int64).max else f"{value}LL"


def string_literal(text: str, escaped: bytes = b"") -> str:
    """UTF-8. Octal escapes end after three digits, hexadecimal ones with the last digit."""
    octets = text.encode("utf-8", "surrogatepass")
    # Two question marks may begin a trigraph.
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\?' + escaped)
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in octets) + '"'
