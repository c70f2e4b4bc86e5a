"""What every export reads from a fitted estimator."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest._boosting import BaseBoosting
from co2forest._classification import BaseCO2Classifier
from co2forest._costs import without_overflow
from co2forest._regression import BaseCO2Regressor


@dataclass(frozen=True)
class Classes:
    """One class per row."""

    labels: npt.NDArray[Any]
    costs: npt.NDArray[np.float64] | None  # of confusions, small enough to be added
    temperature: float | None  # probabilities are softmax(temperature * outputs) if there is one


@dataclass(frozen=True)
class Labels:
    """Several labels per row, each with a probability."""

    values: npt.NDArray[Any]  # of a label that a row does not have, and of one that it has


@dataclass(frozen=True)
class Numbers:
    """Numbers: outputs, or their exponentials, times unit plus offset."""

    offset: npt.NDArray[np.float64]
    unit: npt.NDArray[np.float64]
    exponential: bool
    one_dimensional: bool  # whether predictions are a vector


@dataclass(frozen=True)
class FittedForest:
    """The numbers of a fitted estimator; ``arrays`` are described in ``native/forest.hpp``.

    The outputs are the mean of the leaves, or ``start + n_trees * mean`` if there is a start.
    """

    name: str  # of the estimator's class
    arrays: dict[str, npt.NDArray[Any]]
    n_features: int
    n_outputs: int
    distributions: bool  # whether the values of a leaf are to be divided by their sum
    start: npt.NDArray[np.float64] | None
    meaning: Classes | Labels | Numbers

    @property
    def n_trees(self) -> int:
        return len(self.arrays["tree_begin"]) - 1

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Read a fitted estimator; a TypeError if it is not one of this library."""
        if not isinstance(estimator, BaseCO2Classifier | BaseCO2Regressor):
            given = type(estimator).__name__
            # Only those who take no TableModel get here with one.
            of_table = ", of a TableModel estimator_, whose features encoder_ names"
            raise TypeError(
                "estimator must be a fitted classifier or regressor of this library (of a "
                "pipeline the last step, of a search best_estimator_, of a segmenter classifier_"
                f"{of_table if given == 'TableModel' else ''}), got {given}"
            )
        check_is_fitted(estimator)
        forest = estimator._forest  # noqa: SLF001
        return cls(
            type(estimator).__name__,
            forest.arrays(),
            int(estimator.n_features_in_),
            forest.n_outputs,
            forest.distributions,
            estimator._start if isinstance(estimator, BaseBoosting) else None,  # noqa: SLF001
            _meaning_of(estimator),
        )


def _meaning_of(estimator: Any) -> Classes | Labels | Numbers:
    boosted = isinstance(estimator, BaseBoosting)
    if isinstance(estimator, BaseCO2Regressor):
        offset, unit = estimator._target_map  # noqa: SLF001
        # Leaves of a forest hold means of counts, those of boosting steps of their logarithms.
        exponential = boosted and estimator._loss_used == "poisson"  # noqa: SLF001
        return Numbers(offset, unit, exponential, estimator._one_dimensional)  # noqa: SLF001
    if isinstance(estimator.classes_, list):
        return Labels(estimator.classes_[0])
    costs = getattr(estimator, "cost_matrix_", None)
    return Classes(
        estimator.classes_,
        None if costs is None else without_overflow(costs),
        estimator._temperature if boosted else None,  # noqa: SLF001
    )


def widen(bfloat16: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Numbers from the upper halves of float32."""
    return (bfloat16.astype(np.uint32) << 16).view(np.float32)
