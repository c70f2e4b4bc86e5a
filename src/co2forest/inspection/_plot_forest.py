# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a whole forest: its error against the number of its trees, and its importances."""

from typing import Any

import numpy as np

from co2forest.inspection._drawing import DOWN, QUIET, UP, axes_for, name_bars
from co2forest.inspection._words import number, shorten, typographic
from co2forest.models.arguments import column_names, whole_number
from co2forest.models.curves import error_by_trees, is_random_forest
from co2forest.models.ensemble import EnsembleView, view_of_features
from co2forest.models.view import ModelView

_LONGEST = 32  # characters of a name beside a bar


def plot_error_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool = False,
    reference: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the error after one, two, three, ... trees.

    Parameters
    ----------
    model : fitted estimator or TableModel
        The forest; for boosting, the trees are its rounds.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Test rows, or the training rows with ``out_of_bag``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true answers for these rows.
    out_of_bag : bool, default=False
        Whether a row is judged only by the trees that did not draw it.
    reference : None, True, tuple (X_train, y_train) or fitted forest, default=None
        What to compare with. For a tuple, a random forest of scikit-learn with as many trees is
        trained on these data. True does the same on X and y and needs ``out_of_bag=True``. Or a
        forest that is fitted already, of this library or of scikit-learn.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    curves = [(_name(model), *error_by_trees(model, X, y, out_of_bag=out_of_bag))]
    view = ModelView.of(model)
    if reference is not None:
        other = _reference(view, X, y, reference, out_of_bag)
        rows = view.checked(X) if is_random_forest(other) else X
        curves.append((_name(other), *error_by_trees(other, rows, y, out_of_bag=out_of_bag)))
    with axes_for(ax, (6.4, 4.0)) as axes:
        for (name, trees, errors), colour in zip(curves, (UP, DOWN), strict=False):
            label = f"{name}: {number(errors[-1])}"
            marker = "o" if len(trees) == 1 else None
            axes.plot(trees, errors, color=colour, label=label, marker=marker, linewidth=1.8)
        axes.set_xlabel("trees")
        quantity = "RMSE" if _predicts_numbers(view) else "error"
        axes.set_ylabel(f"out-of-bag {quantity}" if out_of_bag else f"test {quantity}")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.02)
        axes.xaxis.set_major_locator(_whole_numbers(len(curves[0][1])))
        axes.grid(color="#e6e6e6")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    return axes


def _whole_numbers(n_trees: int) -> Any:
    """Ticks at whole trees, even if there is only one."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    if n_trees == 1:
        return FixedLocator([1])
    return MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10])


def _predicts_numbers(view: ModelView) -> bool:
    return view.kind in ("numbers", "logarithms")


def _name(model: Any) -> str:
    if is_random_forest(model):
        return f"{type(model).__name__} (scikit-learn)"
    return type(ModelView.of(model).estimator).__name__


def _reference(view: ModelView, X: Any, y: Any, reference: Any, out_of_bag: bool) -> Any:
    """A fitted forest to compare with."""
    if reference is True:
        if not out_of_bag:
            raise ValueError(
                "reference=True needs out_of_bag=True, because only then are X and y training "
                "data; otherwise it must be a tuple (X_train, y_train) or a fitted forest"
            )
        return _random_forest(view, X, y)
    if isinstance(reference, tuple):
        if len(reference) != 2:
            raise ValueError(
                f"reference must be a tuple (X_train, y_train), got one of {len(reference)}"
            )
        return _random_forest(view, *reference)
    if is_random_forest(reference):
        return reference
    try:
        ModelView.of(reference)
    except TypeError as error:
        raise TypeError(
            "reference must be None, True, a tuple (X_train, y_train), or a fitted forest of this "
            f"library or scikit-learn's, got {type(reference).__name__}"
        ) from error
    return reference


def _random_forest(view: ModelView, X: Any, y: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if _predicts_numbers(view) else RandomForestClassifier
    n_jobs = getattr(view.estimator, "n_jobs", None)
    return kind(view.n_trees, random_state=0, n_jobs=n_jobs).fit(view.checked(X), y)


def plot_importances(model: Any, *, n: int = 20, feature_names: Any = None, ax: Any = None) -> Any:
    """Draw the most important features: their fractions of the decrease of impurity.

    Features that are made of one column of a table, such as indicators of its categories, are
    drawn as one.

    Parameters
    ----------
    model : fitted estimator or TableModel
        With the attribute ``feature_importances_``, whose numbers are drawn.
    n : int, default=20
        Most features to draw; the others are counted below, and their fractions are summed.
    feature_names : list of str, default=None
        Names to use instead of those that the model knows.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    ensemble = EnsembleView.of(model)
    view: ModelView | EnsembleView = ModelView.of(model) if ensemble is None else ensemble
    all_names = column_names(view_of_features(model), feature_names)
    n = whole_number(n, "n", 1)
    importances = view.importances
    order = np.argsort(-importances, kind="stable")[:n]
    lengths = importances[order]
    names = [shorten(all_names[j], _LONGEST) for j in order]
    with axes_for(ax, (6.4, 0.9 + 0.24 * len(names))) as axes:
        bars = axes.barh(range(len(names)), lengths, color=UP, height=0.7)
        texts = [typographic(number(length)) for length in lengths]
        axes.bar_label(bars, texts, padding=3, fontsize=8, color=QUIET)
        name_bars(axes, names)
        # Room for the numbers; all are zero if no tree has a split.
        axes.set_xlim(0, 1.12 * float(lengths.max()) or 1.0)
        hidden = len(importances) - len(order)
        rest = typographic(number(max(float(importances.sum() - lengths.sum()), 0.0)))
        others = f" ({hidden} others together: {rest})" if hidden else ""
        axes.set_xlabel(f"fraction of the decrease of impurity{others}")
    return axes
