# SPDX-License-Identifier: BSD-3-Clause
"""Importances of features as bars."""

from typing import Any

import numpy as np

from co2forest.inspection._axes import axes_for, name_bars
from co2forest.inspection._colours import QUIET, UP
from co2forest.inspection._words import number, shorten, typographic
from co2forest.models.arguments import named_view, whole_number

_LONGEST = 32  # characters of a name beside a bar


def plot_importances(model: Any, *, n: int = 20, feature_names: Any = None, ax: Any = None) -> Any:
    """Draw the most important features: their parts in the decrease of impurity.

    Parameters
    ----------
    model : fitted estimator or TableModel
        With the attribute ``feature_importances_``, whose numbers are drawn.
    n : int, default=20
        Most features to draw; the others are counted below, and their parts are summed up.
    feature_names : list of str, default=None
        Other names than those that the model knows.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    view = named_view(model, feature_names)
    n = whole_number(n, "n", 1)
    importances = view.estimator.feature_importances_
    order = np.argsort(-importances, kind="stable")[:n]
    lengths = importances[order]
    names = [shorten(view.feature_names[j], _LONGEST) for j in order]
    with axes_for(ax, (6.4, 0.9 + 0.24 * len(names))) as axes:
        bars = axes.barh(range(len(names)), lengths, color=UP, height=0.7)
        texts = [typographic(number(length)) for length in lengths]
        axes.bar_label(bars, texts, padding=3, fontsize=8, color=QUIET)
        name_bars(axes, names)
        # Room for the numbers; all are zero if no tree has a split.
        axes.set_xlim(0, 1.12 * float(lengths.max()) or 1.0)
        hidden = view.n_features - len(order)
        rest = typographic(number(max(float(importances.sum() - lengths.sum()), 0.0)))
        others = f" (of {hidden} others together: {rest})" if hidden else ""
        axes.set_xlabel(f"part of the decrease of impurity{others}")
    return axes
