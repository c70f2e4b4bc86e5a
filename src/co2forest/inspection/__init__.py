# SPDX-License-Identifier: BSD-3-Clause
"""Looking inside of forests: trees, weights, importances, and why a row got its answer."""

from co2forest.inspection._explain import Explanation, explain
from co2forest.inspection._plot_forest import plot_error_curve, plot_importances
from co2forest.inspection._plot_path import plot_path
from co2forest.inspection._plot_tree import plot_tree
from co2forest.inspection._plot_weights import plot_weights
from co2forest.inspection._texts import export_dot, export_text

__all__ = [
    "Explanation",
    "explain",
    "export_dot",
    "export_text",
    "plot_error_curve",
    "plot_importances",
    "plot_path",
    "plot_tree",
    "plot_weights",
]
