"""What CO2 regressors do alike: their losses, and the choice of a solver."""

from typing import Any

import numpy.typing as npt

from co2forest import _native
from co2forest._base import everything
from co2forest._loss_choice import ChoosesLoss
from co2forest._quantiles import KeepsTargets
from co2forest._rows import TrainingSet
from co2forest._scaling import native_scaling
from co2forest._solvers import DEFAULT_WAY, TRIAL_TREES, WAYS, choose_way, split_params
from co2forest._stored import Fields, shown
from co2forest.exceptions import ModelFormatError

# Rows of a leaf that are to be beyond a quantile. The quantiles of a single row are all the same:
# with such leaves, nine tenths became half (docs/regression.md).
_ROWS_BEYOND = 2


class CO2Numbers(ChoosesLoss, KeepsTargets):
    """A regressor with a choice of losses and solvers."""

    solver: str
    solver_: str  # a name in WAYS

    def _rows_of_a_leaf(self) -> Any:
        if self.min_samples_leaf != "auto":
            return self.min_samples_leaf
        if self.loss != "quantile":
            return 1
        return round(_ROWS_BEYOND / max(min(self.alpha, 1 - self.alpha), 1e-9))

    def _split_params(self, n_features: int) -> _native.Co2Params:
        return split_params(self, n_features, self.solver_)

    def _train(  # type: ignore[override]  # windows of images have no numbers
        self,
        data: TrainingSet,
        sampling: _native.SamplingParams,
        seed: int,
        n_trees: int,
        earlier: _native.Forest | None = None,
    ) -> None:
        if earlier is not None:
            self._check_kept(data, sampling)
        super()._train(data, sampling, seed, n_trees, earlier)
        self._note_loss()
        self._keep(data, 0 if earlier is None else earlier.n_trees)

    def _decide_by_trial(  # type: ignore[override]  # as above
        self, data: TrainingSet, seed: int
    ) -> None:
        # What a trial of scales uses; then a choice may follow.
        self.solver_ = self.solver if self.solver in WAYS else DEFAULT_WAY
        super()._decide_by_trial(data, seed)
        if self.solver != "select":
            return
        scaling = native_scaling(self.scale_)

        def fit_some(part: TrainingSet, way: str) -> _native.Forest:
            self.solver_ = way
            return self._train_native(part, everything(part), scaling, seed, TRIAL_TREES)[0]

        self.solver_ = choose_way(data, seed, fit_some)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = super()._stored()
        return fields | {"solver": self.solver_}, arrays

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self.solver_ = fields.value("solver")

    def _check_consistency(self) -> None:
        super()._check_consistency()
        if self.solver_ not in list(WAYS):  # of a file it may be anything
            raise ModelFormatError(
                f"solver_ must be one of {', '.join(WAYS)}, got {shown(self.solver_)}"
            )
