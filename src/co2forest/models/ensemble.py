# SPDX-License-Identifier: BSD-3-Clause
"""A fitted ensemble as others read it: views of its members, and their weights."""

from dataclasses import dataclass
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from co2forest._one_fit import as_it_is, changed
from co2forest.data.outputs.base import Floats
from co2forest.estimators.members import Ensemble
from co2forest.models.view import ModelView, is_table_model


@dataclass(frozen=True)
class EnsembleView:
    """An ensemble, whose members see the same features and have the same outputs."""

    estimator: Ensemble
    forest: ModelView
    boosting: ModelView

    @classmethod
    def of(cls, model: Any) -> Self | None:
        """Read a fitted ensemble or a TableModel around one; None if it is neither."""
        if not is_table_model(model):
            return cls.of_estimator(model)
        check_is_fitted(model)
        model = as_it_is(model)
        if not isinstance(model.estimator_, Ensemble):
            return None
        estimator = as_it_is(model.estimator_)
        tables = (changed(model, estimator_=member) for member in _members(estimator))
        return cls(estimator, *(ModelView.of(table) for table in tables))

    @classmethod
    def of_estimator(cls, estimator: Any) -> Self | None:
        """The same for callers that cannot take a TableModel."""
        if not isinstance(estimator, Ensemble):
            return None
        check_is_fitted(estimator)
        estimator = as_it_is(estimator)
        return cls(estimator, *(ModelView.of(member) for member in _members(estimator)))

    @property
    def forest_share(self) -> float:
        """The weight of the forest."""
        return self.estimator.forest_share_

    @property
    def views(self) -> tuple[ModelView, ModelView]:
        """Both members."""
        return self.forest, self.boosting

    def blend(self, of_forest: Any, of_boosting: Any) -> Any:
        """The weighted mean of what is known of both."""
        return self.forest_share * of_forest + (1 - self.forest_share) * of_boosting

    @property
    def importances(self) -> Floats:
        """The importance of each column."""
        blended: Floats = self.blend(self.forest.importances, self.boosting.importances)
        return blended


def view_of_features(model: Any) -> ModelView:
    """A view that knows the features and outputs of a model: of an ensemble, that of the forest."""
    ensemble = EnsembleView.of(model)
    return ModelView.of(model) if ensemble is None else ensemble.forest


def _members(ensemble: Ensemble) -> tuple[Any, Any]:
    """The forest and boosting, with as many threads as the ensemble may use now."""
    forest, boosting = (
        changed(member, n_jobs=ensemble.n_jobs) for member in (ensemble.forest_, ensemble.boosting_)
    )
    return forest, boosting
