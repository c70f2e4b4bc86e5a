# SPDX-License-Identifier: BSD-3-Clause
"""One class per row: outputs are probabilities of the classes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from co2forest.data.outputs.base import Codes, Floats, Impurity, Outputs, Stored, Truth
from co2forest.data.outputs.calibration import Calibration
from co2forest.data.training_set import TrainingSet
from co2forest.exceptions import ModelFormatError
from co2forest.files.arrays import aligned
from co2forest.files.fields import Fields, encode_labels
from co2forest.files.messages import shown

_BLOCK = 2**14  # rows


@dataclass(frozen=True, eq=False)
class ClassOutputs(Outputs):
    """Probabilities of sorted classes."""

    task: ClassVar[str] = "classes"
    distributions: ClassVar[bool] = True
    classes: npt.NDArray[Any]
    calibration: Calibration | None = field(default=None, kw_only=True)

    @classmethod
    def read(cls, y: Any) -> Self:
        """Find the classes of checked labels."""
        return cls(np.unique(y))

    @property
    def n_outputs(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def decision_costs(self) -> Floats | None:
        """Costs of confusions, if decisions depend on them."""
        return None

    @property
    def inverse_temperature(self) -> float | None:
        """What scores are multiplied by before their softmax; None for probabilities."""
        return None

    def encode(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Number each row's class.

        In blocks: ``np.unique(y, return_inverse=True)`` would take 30 bytes per row on the way.
        """
        classes = self.classes
        dtype = np.uint8 if len(classes) <= 256 else np.int32
        numbers = y.dtype == dtype and y.flags.c_contiguous and len(classes) > 0
        if numbers and classes[0] == 0 and classes[-1] < len(classes):
            return aligned(y)
        codes = np.empty(len(y), dtype=dtype)
        for begin in range(0, len(y), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            codes[block] = np.searchsorted(classes, y[block])
        return codes

    def training_set(
        self, X: Any, encoded: npt.NDArray[Any], weights: npt.NDArray[np.float32]
    ) -> TrainingSet:
        """Rows with the codes of their classes; not every class need occur."""
        return TrainingSet(X, encoded, weights, self.n_outputs)

    def truth(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Labels from codes."""
        labels: npt.NDArray[Any] = self.classes[targets]
        return labels

    def codes(self, raw: Floats) -> Codes:
        """Number the class with the highest probability."""
        codes: Codes = raw.argmax(axis=1)
        return codes

    def decide(self, raw: Floats) -> npt.NDArray[Any]:
        """Choose the class with the highest probability."""
        labels: npt.NDArray[Any] = self.classes.take(self.codes(raw))
        return labels

    def proba(self, raw: Floats) -> Floats:
        """The votes of the trees, calibrated if there is a calibration."""
        return raw if self.calibration is None else self.calibration(raw)

    def out_of_bag(self, raw: Floats, left_out: npt.NDArray[np.bool_]) -> Floats:
        """Probabilities; rows that every tree drew are zero."""
        return np.where(left_out[:, None], self.proba(raw), 0.0)

    def score(self, truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
        """Accuracy."""
        return float(accuracy_score(truth, prediction))

    @property
    def impurity(self) -> Impurity:
        """The entropy in bits."""
        return Impurity("entropy", 1.0)

    def names(self, target: str) -> list[str]:
        """The classes as text."""
        del target
        return [str(label) for label in self.classes]

    def read_truth(self, y: Any) -> Truth:
        """Number each row's class."""
        return class_codes(y, self.classes)

    def check_same(self, outputs: Outputs) -> None:
        """Raise unless the classes are the same."""
        check_same_classes(self.classes, public_classes(outputs))

    def stored(self) -> Stored:
        """The classes with their dtype."""
        fields: dict[str, Any] = {"classes": encode_labels(self.classes)}
        if self.calibration is not None:
            fields["calibration"] = [self.calibration.exponent, self.calibration.floor]
        return fields, {}

    @classmethod
    def restore(cls, fields: Fields) -> Self:
        """Read the classes of a file."""
        classes = fields.labels("classes")
        if "calibration" not in fields:
            return cls(classes)
        return cls(classes, calibration=Calibration.restore(fields.value("calibration")))

    def check(self) -> None:
        """Raise unless the classes are a row of labels."""
        classes: Any = self.classes  # from a pickle it may be anything
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) == 0:
            raise ModelFormatError(f"classes_ must be a row of labels, got {shown(classes)}")
        if self.calibration is not None:
            self.calibration.check()


def public_classes(outputs: Any) -> Any:
    """The attribute ``classes_``: an array, or a list of arrays for several labels."""
    return outputs.classes


def check_same_classes(earlier: Any, now: Any) -> None:
    """Raise unless a warm start has the classes of the first fit."""
    if not np.array_equal(earlier, now):
        raise ValueError(
            f"warm_start=True, but y has other classes than in the first fit: {now}, not {earlier}"
        )


def class_codes(y: Any, classes: npt.NDArray[Any]) -> Truth:
    """Number each row's class among those of a model; unknown ones follow."""
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    known, given = list(code_of), y.tolist()
    unknown = sorted(set(given) - code_of.keys(), key=str)
    code_of |= {label: len(known) + k for k, label in enumerate(unknown)}
    codes = np.array([code_of[label] for label in given], dtype=np.int64)
    if (codes >= len(known)).all():
        raise ValueError(
            f"y has none of the model's classes {known[:10]}; its first label is {given[0]!r}"
        )
    return Truth(codes, [str(label) for label in unknown])


def checked_labels(y: Any) -> npt.NDArray[Any]:
    """Labels of one class per row; raises unless they are labels."""
    # Whole numbers can be nothing but classes, so scikit-learn need only warn of too many;
    # `plain_rows` says how much time this saves.
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu"
    if not plain:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(column_or_1d(y, warn=True))
    return np.asarray(y)
