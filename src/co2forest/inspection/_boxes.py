# SPDX-License-Identifier: BSD-3-Clause
"""What the boxes of a tree's picture contain."""

from typing import Any, NamedTuple

from co2forest.data.outputs.base import Floats
from co2forest.inspection._drawing import (
    DOWN,
    INK,
    LINE,
    PAPER,
    QUIET,
    UP,
    output_colour,
    show_weights,
)
from co2forest.inspection._words import said_of, shorten, typographic
from co2forest.models.view import ModelView

_NAME = 0.55  # fraction of a line that is for a name
_CHARACTERS = 17  # that fit there
_THICK = 0.62  # fraction of a line's height that a bar has


class Box(NamedTuple):
    """A rectangle, from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.y - self.height

    def inside(self, margin: float) -> "Box":
        return Box(
            self.x + margin, self.y - margin, self.width - 2 * margin, self.height - 2 * margin
        )

    def cut(self, height: float) -> tuple["Box", "Box"]:
        """The upper piece with this height, and the rest."""
        upper = Box(self.x, self.y, self.width, height)
        return upper, Box(self.x, self.y - height, self.width, self.height - height)

    def write(self, ax: Any, text: str, **style: Any) -> None:
        """A line of text in the middle."""
        place = self.x + self.width / 2, self.y - self.height / 2
        _write(ax, place, text, ha="center", **style)


def _write(ax: Any, place: tuple[float, float], text: str, **style: Any) -> None:
    """A text in which nothing is a formula."""
    ax.text(*place, text, va="center", zorder=5, parse_math=False, **style)


def _add_bar(
    ax: Any, corner: tuple[float, float], length: float, thick: float, **style: Any
) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle(corner, length, thick, **style))


def draw_bars(
    ax: Any, lines: list[tuple[str, float]], rest: str, box: Box, line: float, scale: float
) -> None:
    """Names with bars of both signs, whose lengths are fractions."""
    middle = box.x + box.width * (1 + _NAME) / 2
    longest = box.width * (1 - _NAME) / 2
    for name, strength in lines:
        here, box = box.cut(line)
        height = here.y - here.height / 2
        text = shorten(name, _CHARACTERS)
        _write(ax, (here.x, height), text, fontsize=7 * scale, color=INK, ha="left")
        corner, thick = (middle, height - line * _THICK / 2), line * _THICK
        style = {"facecolor": UP if strength > 0 else DOWN, "gid": f"weight of {name}"}
        _add_bar(ax, corner, strength * longest, thick, zorder=5, **style)
    top, bottom = box.y + line * len(lines), box.y
    ax.plot([middle, middle], [bottom, top], color=LINE, linewidth=0.8 * scale, zorder=6)
    if rest:
        place = box.x, box.y - line / 2
        _write(ax, place, rest, fontsize=6.5 * scale, color=QUIET, ha="left")


def draw_outputs(
    ax: Any,
    view: ModelView,
    outputs: list[tuple[int, float]],
    rest: str,
    box: Box,
    line: float,
    scale: float,
) -> None:
    """What a node answers: a bar for each class or label, else numbers."""
    bars = view.kind in ("classes", "labels")
    for output, value in outputs:
        here, box = box.cut(line)
        height = here.y - here.height / 2
        name = shorten(view.output_names[output], _CHARACTERS - 4)
        _write(ax, (here.x, height), name, fontsize=7 * scale, color=INK, ha="left")
        text = typographic(said_of(view, value))
        right = here.x + here.width
        _write(ax, (right, height), text, fontsize=7 * scale, color=INK, ha="right")
        if not bars:
            continue
        begin, room = here.x + 0.44 * here.width, 0.36 * here.width
        corner, thick = (begin, height - line * _THICK / 2), line * _THICK
        frame = {"facecolor": PAPER, "edgecolor": LINE, "linewidth": 0.5}
        _add_bar(ax, corner, room, thick, zorder=4, **frame)
        about = f"part of {view.output_names[output]}"
        colour = output_colour(view, output)
        _add_bar(ax, corner, room * value, thick, zorder=5, facecolor=colour, gid=about)
    if rest:
        box.cut(line)[0].write(ax, rest, fontsize=6.5 * scale, color=QUIET)


def draw_image(ax: Any, image: Floats, box: Box) -> None:
    """An image of weights in the middle of a box, as large as fits."""
    height, width = image.shape
    size = min(box.width / width, box.height / height)
    left = box.x + (box.width - size * width) / 2
    top = box.y - (box.height - size * height) / 2
    limits = ax.get_xlim(), ax.get_ylim()
    extent = (left, left + size * width, top - size * height, top)
    show_weights(ax, image, extent=extent, zorder=5)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
