"""Pieces of HTML in which all text is escaped, whoever wrote it."""

import html
import json
import re
from collections.abc import Iterable
from typing import Any

# Characters that HTML has no place for, and halves of pairs, which UTF-8 has none for.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DRAWN = {"circle", "line", "path", "polyline", "rect"}  # elements of SVG that hold nothing


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def escaped(text: str) -> Html:
    """Text as it has to be written in HTML, in attributes, too."""
    return Html(html.escape(_IMPOSSIBLE.sub("\ufffd", text)))


def tag(name: str, *children: Child, **attributes: Any) -> Html:
    """An element; strings among the children are escaped unless they are Html.

    ``class_`` stands for class, and underscores for hyphens. An attribute that is None or False is
    left out, one that is True has no value.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")  # noqa: PLW2901
        parts.append(key if value is True else f'{key}="{escaped(_written(value))}"')
    start = " ".join(parts)
    return Html(f"<{start}/>" if name in _DRAWN else f"<{start}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Children one after the other."""
    parts = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, str | int):
            parts.append(escaped(str(child)))
        else:
            parts.append(joined(*child))
    return Html("".join(parts))


def _written(value: Any) -> str:
    """A number of a drawing with as many digits as it needs."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def embedded_json(document: Any) -> Html:
    """JSON for the inside of a script element, which no text in it can end."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(text)
