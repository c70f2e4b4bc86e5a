# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments that several functions take. Errors name the argument and its value."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from co2forest.models.view import ModelView


def named_view(model: Any, feature_names: Any = None, class_names: Any = None) -> ModelView:
    """A view of a model, with other names if some are given."""
    view = ModelView.of(model)
    features = _names(feature_names, "feature_names", view.feature_names, "features")
    noun = "classes" if view.kind in ("classes", "scores") else "outputs"
    outputs = _names(class_names, "class_names", view.output_names, noun)
    return replace(view, feature_names=features, output_names=outputs)


def column_names(view: ModelView, given: Any) -> list[str]:
    """Names of the columns that features are made of, or others if some are given."""
    return _names(given, "feature_names", view.column_names, "features")


def _names(given: Any, argument: str, own: list[str], noun: str) -> list[str]:
    if given is None:
        return own
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise TypeError(f"{argument} must be a list of {len(own)} names, got {given!r}")
    if len(given) != len(own):
        raise ValueError(f"{argument} has {len(given)} names, but the model has {len(own)} {noun}")
    return [str(name) for name in given]


def whole_number(value: Any, argument: str, least: int, most: int | None = None) -> int:
    """A whole number within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    message = f"{argument}={value!r} must be a whole number {bounds}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(message)
    whole = int(value)
    if whole < least or (most is not None and whole > most):
        raise ValueError(message)
    return whole


def whole_number_or_none(value: Any, argument: str, least: int) -> int | None:
    """A whole number, or None for no limit."""
    return None if value is None else whole_number(value, argument, least)


def whole_numbers(given: Any, argument: str, count: int) -> list[int]:
    """A list of whole numbers, each below a count."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{argument} must be a whole number or a list of them, got {given!r}")
    return [whole_number(number, argument, 0, count - 1) for number in given]


def tree_number(view: ModelView, tree: Any) -> int:
    """The number of one of the trees."""
    return whole_number(tree, "tree", 0, view.n_trees - 1)


def image_size(image_shape: Any, n_features: int) -> tuple[int, int, int]:
    """Height, width and channels of an image whose pixels are the features."""
    right = "image_shape must be (height, width) or (height, width, channels)"
    if isinstance(image_shape, str) or not isinstance(image_shape, Sequence | np.ndarray):
        raise TypeError(f"{right}, got {image_shape!r}")
    shape = [whole_number(size, "a number of image_shape", 1) for size in image_shape]
    if len(shape) not in (2, 3):
        raise ValueError(f"{right}, got {image_shape!r}")
    if int(np.prod(shape)) != n_features:
        raise ValueError(
            f"image_shape={tuple(shape)} has {int(np.prod(shape))} pixels, but the model has "
            f"{n_features} features"
        )
    height, width, channels = [*shape, 1][:3]
    return height, width, channels


def output_number(view: ModelView, output: Any, outputs: npt.NDArray[np.float64]) -> int:
    """The output that is meant, by name or number; for None, the one that the model decides for."""
    if output is None:
        decides = view.kind in ("classes", "scores", "labels")
        return int(outputs.argmax()) if decides else 0
    if str(output) in view.output_names:
        return view.output_names.index(str(output))
    is_number = isinstance(output, Integral) and view.kind not in ("classes", "scores")
    if is_number and 0 <= int(output) < view.n_outputs:
        return int(output)
    known = ", ".join(view.output_names[:10]) + (", ..." if view.n_outputs > 10 else "")
    raise ValueError(f"output={output!r} must be one of: {known}")
