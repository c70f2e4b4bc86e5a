# SPDX-License-Identifier: BSD-3-Clause
"""What regressors have in common: targets, losses, predictions and quantiles."""

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from co2forest._one_fit import of_one_fit
from co2forest.data.losses import SQUARED, Loss, chosen_by_users, traits_of
from co2forest.data.outputs.base import Outputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.data.outputs.quantiles import KeptTargets, checked_levels
from co2forest.data.outputs.units import check_range, units_of
from co2forest.data.rows import rows_to_fit
from co2forest.data.training_set import TrainingSet
from co2forest.data.weights import checked_weights
from co2forest.estimators.model import Model
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.storable import ForestArrays


def _can_keep_targets(estimator: Any) -> bool:
    return hasattr(estimator, "keep_targets")


class Regressor(RegressorMixin, Model):
    """A model whose outputs are numbers."""

    _oob_name: ClassVar[str] = "oob_prediction_"
    _kinds_of_outputs: ClassVar[tuple[type[Outputs], ...]] = (NumberOutputs,)
    _outputs: Any  # NumberOutputs
    _kept: KeptTargets  # if keep_targets=True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        loss: Any = getattr(self, "loss", None)  # not checked yet
        known = isinstance(loss, str) and loss in chosen_by_users()
        tags.target_tags.positive_only = known and traits_of(loss).lowest == 0
        return tags

    def _loss(self) -> Loss | None:
        """The loss of the parameters; None where an estimator offers no choice."""
        return Loss.of(self) if hasattr(self, "loss") else None

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        n_outputs: int = self._outputs.n_outputs
        return n_outputs

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Outputs, TrainingSet]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, read = rows_to_fit(self, X)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        check_consistent_length(X, y)
        one_dimensional = y.ndim == 1 or y.shape[1] == 1
        columns = column_or_1d(y, warn=True)[:, None] if one_dimensional else y
        weights = checked_weights(X, sample_weight)
        chosen = self._loss()
        loss = chosen or SQUARED
        check_range(columns, weights, loss)
        # With another number of outputs the warm start will say that it cannot go on.
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "_forest")
        if goes_on and self._outputs.n_outputs == columns.shape[1]:
            units = self._outputs.units
        else:
            units = units_of(columns, weights, loss)
        outputs = NumberOutputs(units, one_dimensional, chosen)
        data = outputs.training_set(X, columns, weights)
        return outputs, data.seen(read, self._earlier_views)

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
