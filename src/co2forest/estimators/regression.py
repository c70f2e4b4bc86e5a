# SPDX-License-Identifier: BSD-3-Clause
"""What regressors have in common: targets, losses, predictions and quantiles."""

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import of_one_fit
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.outputs.quantiles import KeptTargets, checked_levels
from co2forest.estimators.model import Model
from co2forest.estimators.target_readers import NumberReader
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.storable import ForestArrays


def _can_keep_targets(estimator: Any) -> bool:
    return hasattr(estimator, "keep_targets")


class Regressor(NumberReader, Model):
    """A model whose outputs are numbers."""

    _oob_name: ClassVar[str] = "oob_prediction_"
    _kinds_of_outputs: ClassVar[tuple[type[Outputs], ...]] = (NumberOutputs,)
    _outputs: Any  # NumberOutputs
    _kept: KeptTargets  # if keep_targets=True

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        n_outputs: int = self._outputs.n_outputs
        return n_outputs

    def _decide(self, outputs: Outputs, data: Any) -> Any:
        plan = super()._decide(outputs, data)  # type: ignore[safe-super]  # the next in the MRO has it
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        if goes_on and getattr(self, "keep_targets", False):
            before, now = self._draws, plan.draws
            same = hasattr(self, "_kept") and self._kept.same_rows(data)
            if not (same and (before.bootstrap, before.n_draws) == (now.bootstrap, now.n_draws)):
                raise ValueError(
                    "keep_targets=True with warm_start=True needs the y, sample_weight, bootstrap "
                    "and max_samples of the first fit, and keep_targets=True there"
                )
        return plan

    def _keep(self, outputs: Outputs, data: Any, plan: Any, grown: Any) -> Self:
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        earlier = getattr(self, "_kept", None)
        super()._keep(outputs, data, plan, grown)  # type: ignore[safe-super]
        if grown is None or not _can_keep_targets(self):
            return self
        if earlier is not None:
            del self._kept
        if self.keep_targets:
            before = earlier if goes_on else None
            self._kept = KeptTargets.of(self._forest, data, before, self._n_threads())
        return self

    def _take_tree(self, forest: Model, i: int) -> Self:
        super()._take_tree(forest, i)
        if hasattr(forest, "_kept"):
            self._kept = forest._kept.tree(i, forest._draws.counts(i))  # noqa: SLF001
        return self

    @of_one_fit
    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict numbers: the mean over the trees of the leaf that a row reaches.

        Boosting adds the leaves up instead.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        raw = self._raw(X)  # first, because it checks that there is a fit
        numbers: npt.NDArray[np.float64] = self._outputs.decide(raw)
        return numbers

    @available_if(_can_keep_targets)  # type: ignore[untyped-decorator]
    @of_one_fit
    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.1, 0.5, 0.9)
    ) -> npt.NDArray[np.float64]:
        """Predict quantiles of the targets that are likely for each row.

        A training row weighs what it weighs in the leaf that the row reaches, averaged over trees
        (Meinshausen 2006). The quantile is the least training target with at least that fraction of
        the weight at or below it. It does not depend on the loss in training.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            NaN stands for the mean that the feature had in training.
        quantiles : float or sequence of float, default=(0.1, 0.5, 0.9)
            Each from 0 to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_outputs, n_quantiles)
            A single number as ``quantiles`` gives an array without the last axis.
        """
        check_is_fitted(self)
        single = checked_levels(quantiles).ndim == 0
        if not hasattr(self, "_kept"):
            raise ValueError(
                f"predict_quantiles needs the training targets: fit {type(self).__name__} with "
                "keep_targets=True, and the last fit did not have that"
            )
        draws = self._draws.counts if hasattr(self, "_draws") else lambda _: 1
        found = self._kept.quantiles(self._forest, self._leaves(X), draws, quantiles)
        found = found[:, 0] if self._outputs.one_dimensional else found
        return found[..., 0] if single else found

    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        fields, arrays = super()._stored()
        return fields, arrays | (self._kept.stored() if hasattr(self, "_kept") else {})

    def _restore_outputs(self, fields: Fields) -> Outputs:
        return NumberOutputs.restore(fields, chooses_loss=hasattr(self, "loss"))

    def _restore(self, fields: Fields, forest: ForestArrays, *, borrow_weights: bool) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        if _can_keep_targets(self) and "kept_leaves" in fields:
            self._kept = KeptTargets.restore(fields)

    def _check_consistency(self) -> None:
        super()._check_consistency()
        if (self._outputs.loss is not None) != hasattr(self, "loss"):
            raise ModelFormatError(f"the loss of {type(self).__name__} is {self._outputs.loss}")
        kept: Any = getattr(self, "_kept", None)
        if kept is not None:
            if not isinstance(kept, KeptTargets):
                raise ModelFormatError(f"_kept must be KeptTargets, got {type(kept).__name__}")
            draws = getattr(self, "_draws", None)
            kept.check(self._forest, None if draws is None else draws.n_rows)
