"""What an estimator needs to be written into a file and read without trust."""

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy.typing as npt
from sklearn.base import BaseEstimator

from co2forest import _native
from co2forest._stored import Fields
from co2forest.exceptions import ModelFormatError


class Savable:
    """What `co2forest.save_model` takes."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into one file, for `co2forest.load_model`.

        Parameters
        ----------
        path : str or path-like
            The file appears complete or not at all; see `co2forest.save_model`.
        """
        from co2forest.model_file import save_model  # which knows all estimators

        save_model(self, path)


class Storable(Savable, BaseEstimator, ABC):
    """An estimator around a native forest that model files and pickles hold."""

    _fitted_by: ClassVar[str] = "_forest"  # the attribute that a fitted one has
    _forest: _native.Forest

    @abstractmethod
    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What a file keeps of a fitted estimator beside the forest: JSON values, and arrays."""

    @abstractmethod
    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        """Become the fitted estimator that a file describes; raises if anything is wrong."""

    @abstractmethod
    def _check_consistency(self) -> None:
        """Raise if attributes from outside do not agree with the forest, which checks itself."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self._fitted_by not in state:
            return
        try:
            self._check_consistency()
        except ModelFormatError:
            raise
        except (AttributeError, TypeError, ValueError) as error:  # missing, or of another kind
            raise ModelFormatError(f"not a fitted {type(self).__name__}: {error}") from error
