# SPDX-License-Identifier: BSD-3-Clause
"""Figures and axes: where pictures are drawn."""

import contextlib
from collections.abc import Iterator
from typing import Any


def pyplot() -> Any:
    """Matplotlib's module for figures, or an error that says where it comes from."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'co2forest[plot]'") from error
    return plt


@contextlib.contextmanager
def axes_for(ax: Any, size: tuple[float, float]) -> Iterator[Any]:
    """The axes given, or those of a new figure, which goes away again if drawing fails."""
    plt = pyplot()
    if ax is not None:
        if not hasattr(ax, "add_patch"):
            raise TypeError(f"ax must be matplotlib axes or None, got {ax!r}")
        yield ax
        return
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    try:
        yield ax
    except BaseException:
        plt.close(figure)
        raise


def name_bars(ax: Any, names: list[str]) -> None:
    """Names from the top down, and no more lines than needed."""
    ax.set_yticks(range(len(names)), names, fontsize=8, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
