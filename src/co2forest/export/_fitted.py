"""What every export reads from a fitted estimator."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest._boosting import BaseBoosting
from co2forest._classification import BaseCO2Classifier


@dataclass(frozen=True)
class FittedClassifier:
    """The numbers of a fitted classifier; ``arrays`` are described in ``native/forest.hpp``."""

    name: str  # of the estimator's class
    arrays: dict[str, npt.NDArray[Any]]
    classes: npt.NDArray[Any]
    n_features: int

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Read a fitted estimator; a TypeError if it is not one of this library."""
        if not isinstance(estimator, BaseCO2Classifier):
            raise TypeError(
                "estimator must be a fitted classifier of this library (of a "
                "pipeline the last step, of a search best_estimator_), "
                f"got {type(estimator).__name__}"
            )
        if isinstance(estimator, BaseBoosting):
            raise TypeError(
                f"estimator is a {type(estimator).__name__}: boosted trees cannot be exported yet; "
                "save_model can store them"
            )
        check_is_fitted(estimator)
        if isinstance(estimator.classes_, list):
            raise TypeError("estimator has several labels per row, which cannot be exported")
        if getattr(estimator, "cost_matrix_", None) is not None:
            raise TypeError("estimator has a cost_matrix, which cannot be exported")
        arrays = estimator._forest.arrays()  # noqa: SLF001
        return cls(
            type(estimator).__name__, arrays, estimator.classes_, int(estimator.n_features_in_)
        )


def widen(bfloat16: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Numbers from the upper halves of float32."""
    return (bfloat16.astype(np.uint32) << 16).view(np.float32)
