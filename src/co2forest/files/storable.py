# SPDX-License-Identifier: BSD-3-Clause
"""What model files and pickles ask of an estimator."""

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt
from sklearn.base import BaseEstimator

from co2forest import _native
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields
from co2forest.files.seals import sealed, unsealed

ForestArrays = dict[str, npt.NDArray[Any]]


class Storable(BaseEstimator, ABC):
    """An estimator that model files and pickles hold."""

    _fitted_by: ClassVar[str]  # the attribute that a fitted one has

    @abstractmethod
    def _stored(self) -> tuple[dict[str, Any], ForestArrays]:
        """What a file keeps of a fitted estimator's own: JSON values, and arrays."""

    @abstractmethod
    def _check_consistency(self) -> None:
        """Raise if attributes from outside do not agree with each other."""

    def __getstate__(self) -> dict[str, Any]:
        return sealed(self, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = unsealed(self, state)
        super().__setstate__(state)
        if self._fitted_by not in state:
            return
        try:
            self._check_consistency()
        except ModelFormatError:
            raise
        except (AttributeError, TypeError, ValueError) as error:  # missing, or of another kind
            raise ModelFormatError(f"not a fitted {type(self).__name__}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into one file, for `co2forest.load_model`.

        Parameters
        ----------
        path : str or path-like
            The file appears complete or not at all; see `co2forest.save_model`.
        """
        from co2forest.files.model_file import save_model  # which needs this class

        save_model(self, path)

    def report(self, X: Any, y: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML file about the fitted model.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that the model has not been trained on.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            What is true of these rows.
        path : str or path-like
            The file to write.
        **options
            Those of `co2forest.report.write_report`: ``title``, ``overwrite``, ``max_rows``,
            ``trees``, ``image_shape``, ``sample_weight``.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from co2forest.report import write_report  # which knows all estimators

        return write_report(self, X, y, path, **options)


class StorableForest(Storable):
    """An estimator around a native forest, which checks itself."""

    _fitted_by = "_forest"
    _forest: _native.Forest

    @abstractmethod
    def _restore(self, fields: Fields, forest: ForestArrays, *, borrow_weights: bool) -> None:
        """Become the fitted estimator that a file describes."""


class StorableEnsemble(Storable):
    """An estimator made of others, its members."""

    _member_kinds: ClassVar[dict[str, type[StorableForest]]]  # by name

    @abstractmethod
    def _members(self) -> dict[str, StorableForest]:
        """The fitted members by name."""

    @abstractmethod
    def _restore(self, fields: Fields, members: dict[str, StorableForest]) -> None:
        """Become the fitted estimator that a file describes."""
