"""The choice of a loss that regressors offer."""

from numbers import Real
from typing import Any

import numpy.typing as npt

from co2forest import _native
from co2forest._parameters import Constraints
from co2forest._regression import BaseCO2Regressor
from co2forest._sklearn_compat import Interval, StrOptions
from co2forest._stored import Fields, shown
from co2forest.exceptions import ModelFormatError

LOSS_CONSTRAINTS: Constraints = {
    "loss": [StrOptions({"squared", "huber", "quantile", "poisson"})],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    # Beyond, Huber's loss is the absolute or the squared one, and rounding would eat its corners.
    "delta": [Interval(Real, 1e-6, 1e6, closed="both")],
}


class ChoosesLoss(BaseCO2Regressor):
    """A regressor with parameters ``loss``, ``alpha`` and ``delta``."""

    loss: str
    alpha: float
    delta: float
    _loss_used: str  # in the last fit, with its level

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def _native_loss(self) -> _native.ValueLossParams:
        loss = _native.ValueLossParams()
        loss.kind = _native.ValueLossKind[self.loss]
        if self.loss == "quantile":
            loss.level = float(self.alpha)
        elif self.loss == "huber":
            loss.level = float(self.delta)
        return loss

    def _loss_now(self) -> str:
        """The loss as the parameters say."""
        level = {"quantile": f"alpha={self.alpha}", "huber": f"delta={self.delta}"}
        return f"{self.loss} {level.get(self.loss, '')}".strip()

    def _note_loss(self) -> None:
        """Keep what the trees were grown with."""
        self._loss_used = self._loss_now()

    def _check_same_loss(self) -> None:
        if self._loss_now() != self._loss_used:
            raise ValueError(
                "warm_start=True, but the loss is another one than in the first fit: "
                f"{self._loss_now()}, not {self._loss_used}"
            )

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        return fields | {"loss": self._loss_used}, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._loss_used = fields.value("loss")

    def _check_consistency(self) -> None:
        super()._check_consistency()
        if type(self._loss_used) is not str:
            raise ModelFormatError(f"the loss must be a string, got {shown(self._loss_used)}")
