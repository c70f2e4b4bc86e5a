# SPDX-License-Identifier: BSD-3-Clause
"""How estimators read the rows that they predict."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._one_fit import of_one_fit
from co2forest.data.columns.views import ColumnViews
from co2forest.data.rows import native_rows, unknown_categories, validated_rows
from co2forest.fitting.grow import n_threads


class RowReader(BaseEstimator):
    """An estimator that predicts rows: arrays, sparse matrices or data frames."""

    _fitted_by: ClassVar[str]  # the attribute that a fitted one has
    _column_views: ColumnViews | None = None  # what the features are, if not the columns of X
    _earlier_views: ColumnViews | None = None  # the features that a warm start must go on to see
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _rows_to_predict(self, X: Any) -> _native.Rows:
        if not hasattr(self, self._fitted_by):  # the check itself takes 6 microseconds
            check_is_fitted(self)
        rows = validated_rows(self, X, reset=False)
        return native_rows(rows) if self._column_views is None else self._column_views.rows(rows)

    def _n_threads(self, rows: _native.Rows | None = None) -> int:
        """How many threads to use; one for a single row, without asking joblib."""
        if rows is not None and rows.count == 1:
            return 1
        return n_threads(getattr(self, "n_jobs", None))

    @of_one_fit
    def unknown_categories(self, X: Any) -> dict[str, dict[str, int]]:
        """Find categories that training did not have, or had only once.

        They count as rare ones; see docs/data.md.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows that `predict` takes.

        Returns
        -------
        dict of str to dict
            By column, such categories as strings, and the number of rows that have each.
        """
        check_is_fitted(self)
        return unknown_categories(self, X)
