# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: SLF001 (members are its own)
"""What ensembles for classes and for numbers have in common: a forest, boosting, and a weight."""

from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import at_once, of_one_fit
from co2forest._sklearn_compat import Interval, fit_context
from co2forest.data.columns.views import ColumnViews
from co2forest.data.outputs.base import Floats, Outputs
from co2forest.data.training_set import TrainingSet
from co2forest.estimators.row_reader import RowReader
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.messages import shown
from co2forest.files.storable import ForestArrays, StorableEnsemble, StorableForest
from co2forest.fitting.blend import EQUAL_SHARES, Judged, forest_share
from co2forest.fitting.parameters import FOREST_CONSTRAINTS, GROWTH_CONSTRAINTS, Constraints

_SEEDS = np.iinfo(np.int32).max  # all of them are a parameter ``random_state``
_DRAWN = 0.9  # of the rows, by each tree of the forest, so that some trees leave a row out

ENSEMBLE_CONSTRAINTS: Constraints = {
    "n_estimators": FOREST_CONSTRAINTS["n_estimators"],
    "n_rounds": [Interval(Integral, 1, 2**31 - 1, closed="both")],
    "n_jobs": FOREST_CONSTRAINTS["n_jobs"],
    "categorical_features": GROWTH_CONSTRAINTS["categorical_features"],
    "random_state": GROWTH_CONSTRAINTS["random_state"],
    "verbose": FOREST_CONSTRAINTS["verbose"],
}


class Ensemble(RowReader, StorableEnsemble):
    """A forest and boosting, fitted to the same rows and blended."""

    _fitted_by = "forest_share_"
    n_estimators: int
    n_rounds: int
    n_jobs: int | None
    categorical_features: Any
    random_state: Any
    verbose: int
    forest_: Any
    boosting_: Any
    forest_share_: float

    @fit_context
    @at_once
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the forest, then boosting, and weigh them by rows that neither has seen.

        An interrupted or failed fit leaves a fitted estimator as it was. Other threads may predict
        meanwhile: they see the last fit until this one is complete.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Read without a copy where the forest does.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classifiers take one label per row, regressors finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, also where the members are weighed.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        outputs, data = self._read(X, y, sample_weight)
        forest, boosting = self._new_members()
        forest._learn(outputs, data)
        boosted = boosting._learn(outputs, data)
        self.forest_, self.boosting_ = forest, boosting
        self.forest_share_ = self._weigh(boosted.held_out_scores, data)
        return self

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Outputs, TrainingSet]:
        """Check the data; find out what the outputs mean."""

    @abstractmethod
    def _judged(self, scores: Floats, targets: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """What raw scores of boosting say in the terms of the forest's votes, and what is true."""

    @abstractmethod
    def _answers(self, outputs: Any, raw: Floats) -> Floats:
        """What raw outputs of a member stand for: what is blended."""

    def _new_members(self) -> tuple[Any, Any]:
        """A forest and boosting, not yet fitted, that know the columns of this fit."""
        seeds = check_random_state(self.random_state).randint(_SEEDS, size=2).tolist()
        own: dict[str, dict[str, Any]] = {
            "forest": {
                "n_estimators": self.n_estimators,
                "max_samples": _DRAWN,
                "oob_score": False,
            },
            "boosting": {"n_estimators": self.n_rounds},
        }
        shared = ("class_weight", "n_jobs", "categorical_features", "verbose")
        common = {name: getattr(self, name) for name in shared if hasattr(self, name)}
        members = []
        for (name, kind), seed in zip(self._member_kinds.items(), seeds, strict=True):
            member: Any = kind(**own[name], **common, random_state=seed)
            for attribute in ("n_features_in_", "feature_names_in_"):
                if hasattr(self, attribute):
                    setattr(member, attribute, getattr(self, attribute))
            members.append(member)
        forest, boosting = members
        return forest, boosting

    def _weigh(self, scores: Floats, data: TrainingSet) -> float:
        """The weight of the forest, by rows that neither member has been grown on."""
        forest, n_trees = self.forest_, self.n_estimators
        if len(scores) == 0 or not forest._draws.leaves_rows_out:
            return EQUAL_SHARES
        held_out = np.flatnonzero(~np.isnan(scores).any(axis=1))
        half, whole = (
            forest._left_out(n, data).some(held_out) for n in (max(1, n_trees // 2), n_trees)
        )
        weights = data.weights[held_out] if data.weights.size else data.weights
        said = self._judged(scores[held_out], data.targets[held_out])
        return forest_share(Judged.by_both(half, whole, *said, weights), n_trees)

    def _predicted(self, X: Any) -> Floats:
        """The blend of what both members say of rows, which are read only once."""
        rows = self._rows_to_predict(X)
        threads = self._n_threads(rows)
        members = self.forest_, self.boosting_
        return self._blend(*(self._answers(m._outputs, m._raw_of(rows, threads)) for m in members))

    def _blend(self, of_forest: Floats, of_boosting: Floats) -> Floats:
        share = self.forest_share_
        return share * of_forest + (1 - share) * of_boosting

    @property
    def _column_views(self) -> ColumnViews | None:  # type: ignore[override]
        views: ColumnViews | None = self.forest_._column_views
        return views

    @property
    @of_one_fit
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The weighted mean of the importances that features have in the forest and in boosting."""
        check_is_fitted(self)
        return self._blend(self.forest_.feature_importances_, self.boosting_.feature_importances_)

    def _members(self) -> dict[str, StorableForest]:
        return {"forest": self.forest_, "boosting": self.boosting_}

    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        return {"forest_share": self.forest_share_}, {}

    def _restore(self, fields: Fields, members: dict[str, StorableForest]) -> None:
        self.forest_, self.boosting_ = members["forest"], members["boosting"]
        self.forest_share_ = fields.value("forest_share")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.forest_, name):
                setattr(self, name, getattr(self.forest_, name))

    def _check_consistency(self) -> None:
        for name, member in self._members().items():
            kind = self._member_kinds[name]
            if type(member) is not kind:
                raise ModelFormatError(f"{name}_ must be a {kind.__name__}, got {shown(member)}")
            member._check_consistency()
        share: Any = self.forest_share_  # from a file it may be anything
        if type(share) is not float or not 0.0 <= share <= 1.0:
            raise ModelFormatError(f"forest_share must be in [0, 1], got {shown(share)}")
        forest, boosting = self.forest_, self.boosting_
        if not _same(_described(forest), _described(boosting)):
            raise ModelFormatError("the forest and boosting were not fitted to the same data")
        if not _same(_columns_of(self), _columns_of(forest)):
            raise ModelFormatError("the columns of the ensemble are not those of its members")


def _described(member: Any) -> tuple[Any, ...]:
    """What members have in common: columns, what features are of them, and outputs."""
    views = member._column_views
    outputs = member._outputs
    seen = {} if views is None else views.stored()
    meaning = [outputs.classes] if hasattr(outputs, "classes") else [outputs.units]
    return *_columns_of(member), sorted(seen), *(seen[name] for name in sorted(seen)), *meaning


def _columns_of(estimator: Any) -> tuple[Any, Any]:
    return estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)


def _same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(np.array_equal(a, b) for a, b in pairs)
