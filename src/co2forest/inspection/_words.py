# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of trees in words and numbers, as texts and pictures show them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.base import Floats
from co2forest.models.trees import TreeView
from co2forest.models.view import ModelView


class Weight(NamedTuple):
    """A weight of a hyperplane."""

    feature: int
    raw: float  # what the feature is multiplied by
    strength: float  # times the feature's spread, in units of the hyperplane's strongest


def number(value: float) -> str:
    """Three digits that count, and all of those before the point up to a million."""
    size = abs(value)
    if size == 0:
        return "0"
    if not 1e-3 <= size < 1e6:
        return f"{value:.3g}"
    decimals = max(0, 2 - int(np.floor(np.log10(size))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: float) -> str:
    """The same with a plus."""
    return f"+{number(value)}" if value > 0 else number(value)


def typographic(text: str) -> str:
    """A number, or a test of one, as it is printed."""
    text = text.replace(">=", "\N{GREATER-THAN OR EQUAL TO}")
    text = text.replace("<=", "\N{LESS-THAN OR EQUAL TO}")
    return text.replace("-", "\N{MINUS SIGN}")


def shorten(text: str, most: int) -> str:
    """A text of at most so many characters, without its middle if it was longer."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    kept = max(most - 1, 1)
    head = -(-kept * 2 // 3)
    return text[:head] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - (kept - head) :]


def weights_of(view: ModelView, tree: TreeView, node: int) -> list[Weight]:
    """The weights of a node's hyperplane, the strongest first."""
    features, raw = tree.hyperplane(node)
    strength = standardised(view, features, raw)
    order = np.argsort(-np.abs(strength), kind="stable")
    return [Weight(int(features[j]), float(raw[j]), float(strength[j])) for j in order]


def standardised(view: ModelView, features: npt.NDArray[np.int64], weights: Floats) -> Floats:
    """Weights times spreads, whose largest is one; by weight if all features are constant."""
    strength: Floats = weights * view.spread[features]
    if not strength.any():
        strength = weights
    largest = np.abs(strength).max(initial=0.0)
    return np.asarray(strength / largest) if largest > 0 else strength


def counts(view: ModelView, tree: TreeView, node: int) -> str:
    """How many training rows a node had, and how different they were."""
    count = int(tree.sample_count[node])
    return f"n = {count}, {view.impurity.name} {number(tree.impurity[node])}"


def is_axis_aligned(tree: TreeView, node: int) -> bool:
    """Whether a node looks at only one feature."""
    return len(tree.hyperplane(node)[0]) == 1


def axis_test(view: ModelView, tree: TreeView, node: int) -> tuple[str, str, str]:
    """The feature of an axis-aligned node, and what it is like on the left and on the right."""
    features, weights = tree.hyperplane(node)
    threshold = number(float(tree.threshold[node]) / weights[0])
    # Right are those with weight * feature >= threshold.
    if weights[0] > 0:
        sides = f"< {threshold}", f">= {threshold}"
    else:
        sides = f"> {threshold}", f"<= {threshold}"
    return (view.feature_names[features[0]], *sides)


def strongest_outputs(view: ModelView, values: Floats, most: int) -> list[tuple[int, float]]:
    """The outputs of a node that are worth a line: the largest of classes, else the first."""
    if view.kind in ("classes", "scores"):
        order = np.argsort(-values, kind="stable")
        if view.kind == "classes":
            order = order[values[order] > 0]
    else:
        order = np.arange(len(values))
    return [(int(k), float(values[k])) for k in order[:most]]


def said_of(view: ModelView, value: float) -> str:
    """A value of a node: a percentage, or a number."""
    if view.kind not in ("classes", "labels"):
        return number(value)
    percent = 100 * value
    rounding = 1e-7
    if rounding < percent < 1 or 99 < percent < 100 - rounding:  # neither nothing nor all
        return "<1%" if percent < 1 else ">99%"
    return f"{percent:.0f}%"


def answer(view: ModelView, values: Floats) -> str:
    """What a node says, in a few words."""
    said = strongest_outputs(view, values, 3)
    if view.is_vector:
        return f"{view.output_names[0]} = {number(said[0][1])}"
    words = [f"{view.output_names[k]}: {said_of(view, value)}" for k, value in said]
    if len(said) < np.count_nonzero(values):
        words.append("...")
    return ", ".join(words)
