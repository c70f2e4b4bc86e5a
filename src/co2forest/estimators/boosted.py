# SPDX-License-Identifier: BSD-3-Clause
"""What boosted trees for classes and for numbers have in common: rounds and raw scores."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import of_one_fit
from co2forest._sklearn_compat import Interval, StrOptions
from co2forest.data.outputs.base import Outputs
from co2forest.data.training_set import TrainingSet
from co2forest.estimators.forest import check_enough_trees, warn_nothing_to_grow
from co2forest.estimators.model import Model
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields, check_integer
from co2forest.files.messages import shown
from co2forest.files.storable import ForestArrays
from co2forest.fitting.boost import Boosted, BoostPlan, Losses, boost, hold_rows_out
from co2forest.fitting.boost_splits import SPLITS, Resolved, choose_split, plan_boosting
from co2forest.fitting.decide import draw_seed
from co2forest.fitting.parameters import GROWTH_CONSTRAINTS, SCALE_CONSTRAINTS, Constraints
from co2forest.fitting.plan import SEEDS, Draws

_AUTO = StrOptions({"auto"})
_LIMITS = ("max_features", "min_samples_leaf", "max_leaf_nodes")  # "auto" depends on the split
_GROWTH = ("max_depth", "categorical_features", "random_state")

BOOSTING_CONSTRAINTS: Constraints = (
    {name: [_AUTO, *GROWTH_CONSTRAINTS[name]] for name in _LIMITS}
    | {name: GROWTH_CONSTRAINTS[name] for name in _GROWTH}
    | SCALE_CONSTRAINTS
    | {
        "split": [StrOptions({"auto", *SPLITS})],
        "learning_rate": [_AUTO, Interval(Real, 0, 1, closed="right")],
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "l2_regularization": [_AUTO, Interval(Real, 0, 1e30, closed="both")],
        "early_stopping": ["boolean", _AUTO],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_folds": [_AUTO, Interval(Integral, 1, 200, closed="both")],
        "n_iter_no_change": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "tol": [Interval(Real, 0, 1e300, closed="both")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
)


class Boosting(Model):
    """Trees whose leaves hold steps of raw scores."""

    n_estimators: int
    split: str
    split_: str
    warm_start: bool
    random_state: Any
    train_score_: npt.NDArray[np.float64]
    validation_score_: npt.NDArray[np.float64]
    _seed: int
    _outputs: Any  # ClassScores or NumberScores

    def _decide(self, outputs: Outputs, data: TrainingSet) -> BoostPlan:
        goes_on = self.warm_start and hasattr(self, "_forest")
        if goes_on:
            check_enough_trees(self, self._forest)
            if self._forest.n_features != data.n_features:
                raise ValueError(
                    "warm_start=True, but X has another number of features than in the first fit: "
                    f"{data.n_features} features, not {self._forest.n_features}"
                )
            self._outputs.check_same(outputs)
        draws = Draws.every_row(
            data.n_rows, self._seed if goes_on else draw_seed(self.random_state)
        )
        if goes_on:
            parameters = Resolved.of(self, self.split_)
        elif self.split == "auto":
            parameters = choose_split(self, data, draws)
        else:
            parameters = Resolved.of(self, self.split)
        plan = plan_boosting(parameters, data, draws, self.scale_ if goes_on else "auto")
        return hold_rows_out(plan, parameters, data)

    def _grow(self, plan: BoostPlan, data: TrainingSet) -> Boosted | None:
        earlier = None
        if self.warm_start and hasattr(self, "_forest"):
            earlier = Boosted(self._forest, self.n_iter_, self._outputs.start)
            if earlier.n_trees == plan.trees.n_trees:
                warn_nothing_to_grow()
                return None
        return boost(plan, data, earlier)

    def _keep(
        self, outputs: Any, data: TrainingSet, plan: BoostPlan, grown: Boosted | None
    ) -> Self:
        if grown is None:
            return self
        training, validation = self._scores(grown.training), self._scores(grown.validation)
        if self.warm_start and hasattr(self, "_forest"):
            training = np.concatenate([self.train_score_, training])
            validation = np.concatenate([self.validation_score_, validation])
        self._seed, self.scale_ = plan.trees.draws.seed, plan.trees.scale
        self.split_ = plan.split
        self._forest, self.n_iter_ = grown.forest, grown.steps
        self._column_views = data.column_views
        self.train_score_, self.validation_score_ = training, validation
        self._outputs = self._score_outputs(outputs, grown, data)
        return self

    @abstractmethod
    def _score_outputs(self, outputs: Any, grown: Boosted, data: TrainingSet) -> Any:
        """What raw scores mean, learned from the rows held out if there are any."""

    @abstractmethod
    def _scores(self, losses: Losses) -> npt.NDArray[np.float64]:
        """What is shown of the losses after each round."""

    @property
    def n_estimators_(self) -> int:
        """Number of rounds kept, one tree each."""
        check_is_fitted(self, "_forest")
        return self._forest.n_trees

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, ``n_estimators_``)
        """
        return self._leaves(X)

    @of_one_fit
    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predictions after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        for raw in self._staged_raw(X):
            yield self._outputs.decide(raw)

    @of_one_fit
    def _staged_raw(self, X: Any) -> Iterator[npt.NDArray[np.float64]]:
        """Raw scores after each round; the last are those of `_raw`, but for rounding."""
        leaves = self._leaves(X)
        arrays = self._forest.arrays()
        outputs = np.arange(self._forest.n_outputs)
        scores = np.tile(self._outputs.start, (len(leaves), 1))
        for tree, leaf in enumerate(leaves.T):
            first = arrays["value_begin"][arrays["tree_begin"][tree] + leaf]
            scores = scores + arrays["value"][first[:, None] + outputs]
            yield scores

    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        fields, arrays = super()._stored()
        fields |= {"seed": self._seed, "n_validated": len(self.validation_score_)}
        fields["split"] = self.split_
        return fields, arrays | {
            "train_score": self.train_score_,
            "validation_score": self.validation_score_,
        }

    def _restore(self, fields: Fields, forest: ForestArrays, *, borrow_weights: bool) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._seed = fields.value("seed")
        self.split_ = fields.value("split") if "split" in fields else "co2"  # the only one at first
        n_validated = fields.value("n_validated")
        check_integer("n_validated", n_validated, 0, self._forest.n_trees)
        self.train_score_ = fields.array("train_score", (self._forest.n_trees,))
        self.validation_score_ = fields.array("validation_score", (n_validated,))

    def _check_consistency(self) -> None:
        super()._check_consistency()
        check_integer("seed", self._seed, 0, SEEDS - 1)
        if self.split_ not in SPLITS:
            raise ModelFormatError(f"split must be one of {SPLITS}, got {shown(self.split_)}")
