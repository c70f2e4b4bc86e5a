# SPDX-License-Identifier: BSD-3-Clause
"""Values, names and errors as a message shows them; and warnings."""

import inspect
import math
import warnings
from collections.abc import Iterable
from typing import Any

_INSIDE = frozenset({"co2forest", "sklearn"})


def warn_caller(message: str) -> None:
    """Warn at the user's line, however many calls of this package and scikit-learn led here."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def shown(value: Any) -> str:
    """A value that is short enough for a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def printable(error: Exception) -> str:
    """The message of an error in ASCII, whatever a file has put into it."""
    text = str(error)
    text = text if len(text) <= 300 else text[:297] + "..."
    return "".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text)


def escaped(text: str) -> str:
    """A line whose control characters, those of line breaks included, reach no terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def escaped_lines(text: str) -> str:
    """The same of a text, whose lines stay lines."""
    return "\n".join(map(escaped, text.split("\n")))


def one_line(text: object) -> str:
    """A text without line breaks and control characters; an empty error is shown by its type."""
    words = " ".join(str(text).split())
    if not words and isinstance(text, BaseException):
        words = type(text).__name__
    return escaped(words)


def listed(names: Iterable[str], width: int = 50) -> str:
    """As many names as fit, at least one, and how many more there are."""
    names = [one_line(name if len(name) <= 60 else name[:57] + "...") for name in names]
    text = ""
    for number, name in enumerate(names):
        if text and len(text) + len(name) > width:
            return f"{text} and {len(names) - number} more"
        text += f", {name}" if text else name
    return text


def finite(value: Any) -> Any:
    """A value as JSON can hold it: no NumPy scalars, and None for NaN and infinity."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
