# SPDX-License-Identifier: BSD-3-Clause
"""What all kinds of outputs can be asked."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from co2forest import _native
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Stored = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]  # JSON values, and arrays


class Impurity(NamedTuple):
    """What the impurity of a node measures, and what the core's unit of it stands for."""

    name: str
    unit: float


class Truth(NamedTuple):
    """What is true of rows: codes of classes, zeros and ones of labels, or columns of numbers."""

    values: npt.NDArray[Any]
    unknown: list[str]  # classes that the model does not know; their codes follow the others


class Outputs(ABC):
    """What the outputs of a forest mean: a frozen value that a fit makes from y.

    Nothing else in the library knows that. Estimators, files, exports, pictures, reports and Dask
    all ask it.
    """

    task: ClassVar[str]  # "classes", "labels" or "numbers"
    distributions: ClassVar[bool]  # whether a leaf's values are probabilities that sum to one

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of values in a leaf."""

    @abstractmethod
    def encode(self, y: Any) -> npt.NDArray[Any]:
        """Turn checked targets into codes or columns, for `training_set`."""

    @abstractmethod
    def training_set(
        self, X: Any, encoded: npt.NDArray[Any], weights: npt.NDArray[np.float32]
    ) -> TrainingSet:
        """Put checked rows and encoded targets together for the native core."""

    @abstractmethod
    def truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Turn the targets of a training set back into what y held."""

    @abstractmethod
    def decide(self, raw: Floats) -> npt.NDArray[Any]:
        """Predict from raw outputs."""

    @abstractmethod
    def proba(self, raw: Floats) -> Any:
        """Probabilities from raw outputs; numbers have none."""

    @abstractmethod
    def score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        """The score that ``oob_score=True`` stands for."""

    @abstractmethod
    def check_same(self, outputs: Self) -> None:
        """Raise unless trees with such outputs can follow those of a warm start."""

    def raw(self, mean: Floats, n_trees: int) -> Floats:
        """Raw outputs from the mean over the trees' leaves; boosting adds trees up instead."""
        del n_trees
        return mean

    def out_of_bag(self, raw: Floats, left_out: npt.NDArray[np.bool_]) -> Floats:
        """What the out-of-bag attribute holds; rows that every tree drew are zero."""
        del left_out
        return raw

    def out_of_bag_shape(self, n_rows: int) -> tuple[int, ...]:
        """The shape of the out-of-bag attribute."""
        return n_rows, self.n_outputs

    @property
    @abstractmethod
    def impurity(self) -> Impurity:
        """What the impurity of a node measures."""

    @abstractmethod
    def names(self, target: str) -> list[str]:
        """What each output is called; ``target`` is the name of y."""

    @abstractmethod
    def read_truth(self, y: Any) -> Truth:
        """Check what is true of rows to evaluate on; there may be classes that y did not have."""

    @abstractmethod
    def stored(self) -> Stored:
        """What a model file keeps."""

    @abstractmethod
    def check(self) -> None:
        """Raise unless values from a file or a pickle are sound."""

    def check_forest(self, forest: _native.Forest) -> None:
        """Raise unless the outputs are those of the forest."""
        if forest.distributions != self.distributions:
            kinds = {True: "probabilities", False: "numbers"}
            raise ModelFormatError(
                f"the forest's leaves hold {kinds[forest.distributions]}, "
                f"not {kinds[self.distributions]}"
            )
        if forest.n_outputs != self.n_outputs:
            raise ModelFormatError(
                f"the file names {self.n_outputs} outputs, but the forest has {forest.n_outputs}"
            )
