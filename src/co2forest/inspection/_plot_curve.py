# SPDX-License-Identifier: BSD-3-Clause
"""The error of a forest against the number of its trees."""

from typing import Any

from co2forest.inspection._axes import axes_for
from co2forest.inspection._colours import DOWN, UP
from co2forest.inspection._words import number
from co2forest.models.curves import error_by_trees, is_random_forest
from co2forest.models.view import ModelView


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
        The forest; of boosting, trees are rounds.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Test rows, or with ``out_of_bag`` the training rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        What is true of these rows.
    out_of_bag : bool, default=False
        Whether a row is judged by those trees alone that did not draw it.
    reference : None, True, tuple (X_train, y_train) or fitted forest, default=None
        What to compare with: a random forest of scikit-learn that is trained here, with as many
        trees, on the training data given, which with ``out_of_bag=True`` are X and y (True); or a
        forest that is fitted already, of this library or of scikit-learn.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes
    """
    curves = [(_name(model), *error_by_trees(model, X, y, out_of_bag=out_of_bag))]
    if reference is not None:
        view = ModelView.of(model)
        other = _reference(view, X, y, reference, out_of_bag)
        rows = view.checked(X) if is_random_forest(other) else X
        curves.append((_name(other), *error_by_trees(other, rows, y, out_of_bag=out_of_bag)))
    with axes_for(ax, (6.4, 4.0)) as axes:
        for (name, trees, errors), colour in zip(curves, (UP, DOWN), strict=False):
            label = f"{name}: {number(errors[-1])}"
            marker = "o" if len(trees) == 1 else None
            axes.plot(trees, errors, color=colour, label=label, marker=marker, linewidth=1.8)
        axes.set_xlabel("trees")
        axes.set_ylabel(_quantity(model, out_of_bag))
        axes.set_ylim(bottom=0)
        axes.margins(x=0.02)
        axes.xaxis.set_major_locator(_whole_numbers(len(curves[0][1])))
        axes.grid(color="#e6e6e6")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    return axes


def _whole_numbers(n_trees: int) -> Any:
    """Ticks: no part of a tree, even if there is but one."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    if n_trees == 1:
        return FixedLocator([1])
    return MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10])


def _name(model: Any) -> str:
    if is_random_forest(model):
        return f"{type(model).__name__} (scikit-learn)"
    return type(ModelView.of(model).estimator).__name__


def _quantity(model: Any, out_of_bag: bool) -> str:
    numbers = ModelView.of(model).kind in ("numbers", "logarithms")
    return ("out-of-bag " if out_of_bag else "test ") + ("RMSE" if numbers else "error")


def _reference(view: ModelView, X: Any, y: Any, reference: Any, out_of_bag: bool) -> Any:
    """A fitted forest to compare with."""
    if reference is True:
        if not out_of_bag:
            raise ValueError(
                "reference=True needs out_of_bag=True, because only then X and y are training "
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

    numbers = view.kind in ("numbers", "logarithms")
    kind = RandomForestRegressor if numbers else RandomForestClassifier
    n_jobs = getattr(view.estimator, "n_jobs", None)
    return kind(view.n_trees, random_state=0, n_jobs=n_jobs).fit(view.checked(X), y)
