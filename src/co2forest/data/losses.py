# SPDX-License-Identifier: BSD-3-Clause
"""The losses of numbers: what the native core says about each, and a loss with its level."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native


def traits_of(name: str) -> _native.LossTraits:
    """The traits that a loss states in its own file of the native core.

    They are not kept: where a thread outlives the interpreter, nanobind would complain of them.
    """
    return {traits.name: traits for traits in _native.losses()}[name]


@cache
def chosen_by_users() -> frozenset[str]:
    """The names that the parameter ``loss`` of regressors takes."""
    return frozenset(traits.name for traits in _native.losses() if traits.chosen_by_user)


@dataclass(frozen=True)
class Loss:
    """A loss of numbers, its level if it has one, and its costs if it has any."""

    name: str = "squared"
    level: float = 0.5
    text: str = "squared"  # the name with its level, as files and messages show it
    costs: tuple[float, ...] = ()

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Take the loss from the parameters ``loss``, ``alpha`` and ``delta``."""
        name = estimator.loss
        parameter = traits_of(name).level
        if parameter is None:
            return cls(name, text=name)
        level = getattr(estimator, parameter)
        return cls(name, float(level), f"{name} {parameter}={level}")

    @classmethod
    def parse(cls, text: Any) -> Self:
        """Read what a file says about a loss; a ValueError if that is no loss."""
        found = re.fullmatch(r"(\w+)(?: (\w+)=([-+.\w()]+))?", text) if type(text) is str else None
        if found is None or found[1] not in chosen_by_users():
            raise ValueError(f"the loss must be one of {sorted(chosen_by_users())}, got {text!r}")
        name, parameter, level = found.groups()
        if parameter != traits_of(name).level:
            raise ValueError(f"the loss {name!r} has no level {parameter!r}")
        return cls(name, 0.5 if level is None else float(level), text)

    def check(self) -> None:
        """Raise a ValueError unless values from a pickle are those of a loss that users choose."""
        if self.parse(self.text).name != self.name or type(self.level) is not float:
            raise ValueError(f"the loss {self.text!r} is not {self.name!r} of level {self.level!r}")

    @property
    def traits(self) -> _native.LossTraits:
        """What the native core says about it."""
        return traits_of(self.name)

    def native(self) -> _native.ValueLossParams:
        """The loss as the native core takes it."""
        params = _native.ValueLossParams()
        params.kind = self.traits.kind
        params.level = self.level
        params.cost = list(self.costs)
        return params

    def of_rows(
        self, targets: npt.NDArray[Any], outputs: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """The loss of each row, up to terms that do not depend on the outputs."""
        return _native.row_losses(self.native(), targets, outputs)


SQUARED = Loss()
