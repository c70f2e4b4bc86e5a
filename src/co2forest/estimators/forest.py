# SPDX-License-Identifier: BSD-3-Clause
"""A forest of many trees: which rows a tree gets, warm starts, out-of-bag estimates."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._one_fit import of_one_fit
from co2forest.data.outputs.base import Floats, Outputs
from co2forest.data.outputs.calibration import LeftOut, fit_calibration
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.training_set import TrainingData, TrainingSet
from co2forest.estimators.model import Model
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.messages import shown, warn_caller
from co2forest.files.storable import ForestArrays
from co2forest.fitting.decide import decide_forest, insists_on_score
from co2forest.fitting.grow import grow_forest
from co2forest.fitting.mixture import Mixture
from co2forest.fitting.plan import Draws, Plan, kind_of_trees
from co2forest.fitting.trees import Grown


class Forest(Model):
    """A forest of many trees."""

    _oob_name: ClassVar[str]  # the attribute with the outputs for the rows left out
    _draws: Draws
    _mixture: Mixture | None
    n_estimators: int
    bootstrap: bool
    max_samples: float | None
    oob_score: bool | str | Callable[[Any, Any], float]
    warm_start: bool
    random_state: Any

    _decide = decide_forest
    _grow = grow_forest

    def _check_goes_on(self, outputs: Outputs, data: Any) -> None:
        """Raise unless trees for such data can follow those there are."""
        self._check_same_problem(outputs, data.n_features)
        if self._draws.partitioned:
            raise ValueError(
                "warm_start=True, but the trees there are were grown on Dask, from partitions; "
                "only the estimator of co2forest.dask can add trees to them"
            )
        if insists_on_score(self) and data.n_rows != self._draws.n_rows:
            raise ValueError(
                f"oob_score with warm_start=True needs the rows of the first fit: X has "
                f"{data.n_rows}, but the trees there are were drawn from {self._draws.n_rows}"
            )

    def _check_same_problem(self, outputs: Outputs, n_features: int) -> None:
        """Raise unless features and outputs are those of the trees there are."""
        check_enough_trees(self, self._forest)
        if self._forest.n_features != n_features:
            raise ValueError(
                "warm_start=True, but X has another number of features than in the first fit: "
                f"{n_features} features, not {self._forest.n_features}"
            )
        self._outputs.check_same(outputs)

    def _keep(self, outputs: Outputs, data: TrainingData, plan: Plan, grown: Grown | None) -> Self:
        if grown is None:
            warn_nothing_to_grow()
            return self
        # Only then is it known which rows the first trees of a warm start left out.
        goes_on = self.warm_start and hasattr(self, "_draws")
        same_rows = not goes_on or self._draws.n_rows == data.n_rows
        # Which rows were drawn does not depend on the weights of classes, and no file keeps these.
        self._outputs, self._draws = outputs, replace(plan.draws, balance=False)
        self._mixture, self._column_views = plan.mixture, getattr(data, "column_views", None)
        self.scale_, self._forest, self.n_iter_ = plan.scale, grown.forest, grown.steps
        if plan.solver is not None:
            self.solver_ = plan.solver
        self._drop_out_of_bag()  # from an earlier fit
        if plan.calibration is not None and getattr(self, "calibrate", False):
            self._outputs = replace(outputs, calibration=plan.calibration)  # type: ignore[type-var]
        if isinstance(data, TrainingSet) and plan.draws.leaves_rows_out and same_rows:
            self._use_rows_left_out(data)
        return self

    def _use_rows_left_out(self, data: TrainingSet) -> None:
        """Calibrate probabilities, and estimate the score, by rows that trees did not draw."""
        outputs: Any = self._outputs
        mixed = self._mixture is not None and type(outputs) is ClassOutputs
        calibrates = mixed and getattr(self, "calibrate", False)
        if not (calibrates or self.oob_score):
            return
        n_trees = self._forest.n_trees
        whole = self._left_out(n_trees, data)
        if calibrates:
            half = self._left_out(max(1, n_trees // 2), data)
            found = fit_calibration(half, whole, data.targets, data.weights, n_trees)
            self._outputs = replace(outputs, calibration=found)
        if self.oob_score:
            self._estimate_out_of_bag(data, *whole)

    def _left_out(self, n_trees: int, data: TrainingSet) -> LeftOut:
        """Predict rows by those of the first trees that did not draw them."""
        forest, draws, threads = self._forest, self._draws, self._n_threads()
        if n_trees < forest.n_trees:
            forest = _native.Forest.concatenate([forest.tree(i) for i in range(n_trees)])
        return LeftOut(*_native.out_of_bag(forest, data.rows, draws.native(), draws.seed, threads))

    @property
    @of_one_fit
    def mixture_(self) -> list[dict[str, Any]]:
        """The kinds of trees that were tried, and how many trees of each the forest has.

        One entry for each kind: ``split`` ("co2", "axis", "pair", "narrow" or "random"),
        ``min_samples_leaf``, ``loss`` of the rows that trees of a trial left out, and ``n_trees``.
        Empty if nothing was tried.
        """
        check_is_fitted(self, "_forest")
        if self._mixture is None:
            return []
        shares = [member.share for member in self._mixture.members]
        kinds = kind_of_trees(shares, self._forest.n_trees)
        counts = np.bincount(kinds, minlength=len(shares)).tolist()
        return [
            {
                "split": member.split,
                "min_samples_leaf": member.min_samples_leaf,
                "loss": member.loss,
                "n_trees": count,
            }
            for member, count in zip(self._mixture.members, counts, strict=True)
        ]

    def _estimate_out_of_bag(
        self, data: TrainingSet, raw: Floats, used: npt.NDArray[np.int64]
    ) -> None:
        """Predict each row by the trees that did not draw it."""
        outputs = self._outputs
        left_out = used > 0
        insists = insists_on_score(self)
        if not insists and not left_out.any():
            return
        if insists and not left_out.all():
            warn_caller(
                f"{np.count_nonzero(~left_out)} of {len(left_out)} rows were drawn by every tree "
                "and have no out-of-bag estimate; more trees would help"
            )
        if insists:  # it has a row for each of X, also in files
            setattr(self, self._oob_name, outputs.out_of_bag(raw, left_out))
        self._oob_score = float("nan")
        if left_out.any():
            score = self.oob_score if callable(self.oob_score) else outputs.score
            self._oob_score = score(
                outputs.truth(data.targets[left_out]), outputs.decide(raw[left_out])
            )

    @property
    @of_one_fit
    def oob_score_(self) -> float:
        """Score on the rows that trees left out."""
        check_is_fitted(self, "_forest")
        if not hasattr(self, "_oob_score"):
            raise AttributeError(
                f"there is no oob_score_ (oob_score={self.oob_score!r}): no rows were left out, or "
                "nobody asked; oob_score=True makes trees leave rows out"
            )
        return self._oob_score

    def _drop_out_of_bag(self) -> None:
        for name in ("_oob_score", self._oob_name):
            if name in vars(self):
                delattr(self, name)

    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        fields, arrays = super()._stored()
        fields |= self._draws.stored()
        if self._mixture is not None:
            fields["mixture"] = self._mixture.stored()
        if hasattr(self, "oob_score_"):
            score = self.oob_score_
            finite = isinstance(score, Real) and np.isfinite(score)
            if not finite and not (isinstance(score, Real) and np.isnan(score)):
                warn_caller(f"oob_score_={score!r} is no finite number and is stored as NaN")
            fields["oob_score"] = float(score) if finite else None
            if hasattr(self, self._oob_name):
                arrays[self._oob_name.removesuffix("_")] = getattr(self, self._oob_name)
        return fields, arrays

    def _restore(self, fields: Fields, forest: ForestArrays, *, borrow_weights: bool) -> None:
        super()._restore(fields, forest, borrow_weights=borrow_weights)
        self._draws = Draws.restore(fields)
        stored = fields.value("mixture") if "mixture" in fields else None
        self._mixture = None if stored is None else Mixture.restore(stored)
        if "oob_score" in fields:
            self._oob_score = fields.number("oob_score")
        name = self._oob_name.removesuffix("_")
        if name in fields:
            shape = self._outputs.out_of_bag_shape(self._draws.n_rows)
            setattr(self, self._oob_name, fields.array(name, shape))

    def _check_consistency(self) -> None:
        super()._check_consistency()
        draws: Any = self._draws  # from a pickle it may be anything
        if not isinstance(draws, Draws):
            raise ModelFormatError(f"_draws must be Draws, got {type(draws).__name__}")
        draws.check()
        mixture: Any = self._mixture  # from a pickle it may be anything
        if mixture is not None:
            if not isinstance(mixture, Mixture):
                raise ModelFormatError(f"_mixture must be a Mixture, got {shown(mixture)}")
            mixture.check()

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        return self._leaves(X)

    def decision_path(self, X: Any) -> tuple[sp.csr_array, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        indicator : csr_array of shape (n_samples, n_nodes)
            1 where the row passes the node; the trees' nodes side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` are those of tree ``i``.
        """
        return self._decision_path(X)

    @property
    @of_one_fit
    def estimators_samples_(self) -> list[npt.NDArray[np.intp]]:
        """Rows that each tree drew, derived again from the seed."""
        check_is_fitted(self, "_forest")
        counts = map(self._draws.counts, range(self._forest.n_trees))
        return [np.repeat(np.arange(len(count)), count) for count in counts]


def check_enough_trees(estimator: Any, forest: _native.Forest) -> None:
    """Raise if a warm start would have to drop trees."""
    if forest.n_trees > estimator.n_estimators:
        raise ValueError(
            f"n_estimators={estimator.n_estimators} must be at least the {forest.n_trees} "
            "trees there are, because warm_start=True"
        )


def warn_nothing_to_grow() -> None:
    """Warn that a warm start has all its trees."""
    warn_caller("warm_start=True and n_estimators has not grown, so fit added no trees")
