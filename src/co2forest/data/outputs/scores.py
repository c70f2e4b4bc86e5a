# SPDX-License-Identifier: BSD-3-Clause
"""Raw scores of boosting: the sum of a start and of all trees' leaves."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.base import Floats, Outputs, Stored
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields

_NO_START = np.empty(0)  # before the first round


@dataclass(frozen=True, eq=False)
class ScoreOutputs(Outputs):
    """Scores that trees add to, beginning with ``start``."""

    start: Floats = field(default_factory=lambda: _NO_START)

    def raw(self, mean: Floats, n_trees: int) -> Floats:
        """Add up all trees; a forest gives their mean."""
        return self.start + n_trees * mean

    def stored(self) -> Stored:
        """What plain outputs keep, and the start."""
        fields, arrays = super().stored()  # type: ignore[safe-super]  # the next in the MRO has it
        return fields, arrays | {"start": self.start}

    def check(self) -> None:
        """Raise unless the start is one finite number for each output."""
        super().check()  # type: ignore[safe-super]
        if np.shape(self.start) != (self.n_outputs,) or not np.isfinite(self.start).all():
            raise ModelFormatError(
                f"start must be {self.n_outputs} finite numbers, got {self.start!r}"
            )


@dataclass(frozen=True, eq=False)
class ClassScores(ScoreOutputs, ClassOutputs):
    """Scores of classes, whose softmax are the probabilities."""

    distributions: ClassVar[bool] = False
    inverse_temperature: float = 1.0  # scores are multiplied by it: above one is surer

    def calibrated(self, raw: Floats) -> Floats:
        """Scores times the inverse temperature."""
        return raw * self.inverse_temperature

    def log_proba(self, raw: Floats) -> Floats:
        """Logarithms of the probabilities."""
        return log_softmax(self.calibrated(raw))

    def proba(self, raw: Floats) -> Floats:
        """Softmax of the calibrated scores."""
        return np.exp(self.log_proba(raw))

    def stored(self) -> Stored:
        """The inverse temperature has had the name "temperature" since format 1."""
        fields, arrays = super().stored()
        return fields | {"temperature": self.inverse_temperature}, arrays

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read classes, start and temperature of a file."""
        outputs = super().restore(fields)
        start = fields.array("start", (outputs.n_outputs,))
        return replace(outputs, start=start, inverse_temperature=fields.value("temperature"))

    def check(self) -> None:
        """Raise unless the temperature is one."""
        super().check()
        factor: Any = self.inverse_temperature  # from a file it may be anything
        if type(factor) is not float or not 0.0 < factor < 1e6:
            raise ModelFormatError(f"temperature must be in (0, 1e6), got {factor!r}")


@dataclass(frozen=True, eq=False)
class NumberScores(ScoreOutputs, NumberOutputs):
    """Scores of numbers: the numbers themselves, or their logarithms."""

    def decide(self, raw: Floats) -> npt.NDArray[Any]:
        """Predictions in the units of y."""
        return self.in_units_of_y(np.exp(raw) if self.logarithmic else raw)

    @property
    def logarithmic(self) -> bool:
        """Whether scores are logarithms of what is predicted."""
        return self.loss is not None and self.loss.traits.link == "log"

    @classmethod
    def restore(cls, fields: Fields, *, chooses_loss: bool) -> Self:
        """Read what a file says about numbers, and the start."""
        outputs = super().restore(fields, chooses_loss=chooses_loss)
        return replace(outputs, start=fields.array("start", (outputs.n_outputs,)))


def log_softmax(scores: Floats) -> Floats:
    """Logarithms of probabilities that scores stand for."""
    scores = scores - scores.max(axis=1, keepdims=True)
    logs: Floats = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return logs


def best_inverse_temperature(
    raw: Floats, codes: npt.NDArray[Any], weights: npt.NDArray[np.float32] | None
) -> float:
    """Find the factor of raw scores, in (1/20, 5), with the lowest log loss.

    The loss is convex in the factor, so a search by thirds finds it.
    """
    rows = np.arange(len(codes))

    def log_loss(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * raw)[rows, codes]
        return -float(np.average(logs, weights=weights))

    low, high = np.log(0.05), np.log(5.0)
    for _ in range(40):
        third = (high - low) / 3
        if log_loss(low + third) <= log_loss(high - third):
            high -= third
        else:
            low += third
    return float(np.exp((low + high) / 2))
