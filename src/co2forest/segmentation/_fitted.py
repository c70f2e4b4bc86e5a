# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted segmenter does: prediction, scores, files."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from co2forest import _native
from co2forest._one_fit import of_one_fit
from co2forest.baselines import AxisForestClassifier, TwoProbeForestClassifier
from co2forest.estimators.classifier import CO2ForestClassifier
from co2forest.estimators.forest import Forest
from co2forest.exceptions import ModelFormatError
from co2forest.files.fields import Fields, check_integer
from co2forest.files.messages import shown
from co2forest.files.storable import StorableForest
from co2forest.fitting.grow import n_threads
from co2forest.segmentation._windows import (
    MOST_CLASSES,
    PredictRows,
    inside,
    mirrored,
    predicted_blocks,
)
from co2forest.segmentation.images import (
    Image,
    Names,
    channels_of,
    check_size,
    checked_images,
    checked_maps,
    labels_in,
    name_of,
    single_image,
)
from co2forest.segmentation.metrics import JaccardTable, count_pixels

SPLITS: dict[str, type[Forest]] = {
    "co2": CO2ForestClassifier,
    "two_probe": TwoProbeForestClassifier,
    "axis": AxisForestClassifier,
}

# Attributes without their underscore, as a file has them.
_STORED = ("window", "n_channels", "image_dtype", "balance", "void_label")
_SMALLEST_PRIOR = 1e-19  # of one pixel among as many as there can be


class FittedSegmenter(StorableForest):
    """A classifier of windows, and what it takes to make label maps of its answers."""

    _fitted_by = "classifier_"
    border: str
    ignore_label: int | None
    n_jobs: int | None
    classifier_: Any  # a forest of SPLITS
    class_prior_: npt.NDArray[np.float64]
    window_: int
    n_channels_: int
    image_dtype_: str
    balance_: bool
    void_label_: int

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, sorted."""
        classes: npt.NDArray[Any] = self.classifier_.classes_
        return classes

    @property
    def scale_(self) -> str | None:
        """The scaling in use."""
        scale: str | None = self.classifier_.scale_
        return scale

    @property
    @of_one_fit
    def sampled_prior_(self) -> npt.NDArray[np.float64]:
        """Frequency of each class among the windows drawn."""
        if not self.balance_:
            return self.class_prior_
        return np.full(len(self.class_prior_), 1.0 / len(self.class_prior_))

    @property
    @of_one_fit
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Fraction of the decrease of impurity that each value of a window accounts for."""
        check_is_fitted(self)
        importances: npt.NDArray[np.float64] = self.classifier_.feature_importances_
        return importances.reshape(self.window_, self.window_, self.n_channels_)

    @of_one_fit
    def predict(self, image: Any) -> npt.NDArray[Any]:
        """Predict the label of each pixel: the class with the highest probability.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, channels)
            In the units of the images that were fitted to, and of the same kind: uint8 or floats.
            NaN stands for the mean that a value had in training.

        Returns
        -------
        ndarray of shape (height, width)
            ``void_label_`` where pixels have no answer, because ``border="ignore"``.
        """
        check_is_fitted(self)
        return self._label_map(self._checked(image))

    @of_one_fit
    def predict_proba(self, image: Any) -> npt.NDArray[np.float32]:
        """Probabilities of the classes for each pixel: the mean over the trees.

        In each leaf the probabilities of the classes have been multiplied by ``class_prior_ /
        sampled_prior_`` and divided by their sum.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, channels)
            As for `predict`, which decides before these are rounded to float32.

        Returns
        -------
        ndarray of shape (height, width, n_classes)
            In the order of ``classes_``; NaN where pixels have no answer.
        """
        check_is_fitted(self)
        picture = self._checked(image)
        proba = np.full((*picture.shape[:2], len(self.classes_)), np.nan, dtype=np.float32)
        inner = inside(proba, self._margin)
        threads = n_threads(self.n_jobs)
        predict = partial(_native.predict_windows, self._forest, n_threads=threads)
        for rows, block in self._blocks(picture, predict):
            inner[rows] = block
        return proba

    def jaccard_table(self, images: Any, label_maps: Any) -> JaccardTable:
        """Jaccard score of each class, the pixels of all images pooled.

        Pixels with ``ignore_label`` or without an answer do not count.

        Parameters
        ----------
        images, label_maps : list of array
            As for `fit`. Labels that were not in training count as classes, too.

        Returns
        -------
        JaccardTable
        """
        return self._jaccard_table(images, label_maps)

    def score(self, images: Any, label_maps: Any) -> float:
        """Class-average Jaccard score in percent, the pixels of all images pooled.

        The mean over classes of ``100 * tp / (tp + fp + fn)``; those in neither truth nor
        prediction do not enter. Pixels with ``ignore_label`` or without an answer do not count.

        Parameters
        ----------
        images, label_maps : list of array
            As for `fit`.

        Returns
        -------
        float
        """
        return self._jaccard_table(images, label_maps).mean

    @of_one_fit
    def _jaccard_table(self, images: Any, label_maps: Any, names: Names = None) -> JaccardTable:
        """The table of images from files with these names, which appear in messages."""
        counts, classes = self._pixel_counts(images, label_maps, names)
        return JaccardTable(classes, *counts.sum(axis=0))

    def _pixel_counts(
        self, images: Any, label_maps: Any, names: Names = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """`count_pixels` of each image, and the classes: those of training and of the truth."""
        check_is_fitted(self)
        self._validate_params()  # as in _checked
        pictures = checked_images(images, names)
        maps = checked_maps(label_maps, pictures, names)
        for number, picture in enumerate(pictures):
            self._check_fits(picture, name_of("images", number, names))
        ignored = np.array([] if self.ignore_label is None else [self.ignore_label], dtype=np.int64)
        truths = [inside(labels, self._margin) for labels in maps]
        classes = np.setdiff1d(labels_in([*truths, self.classes_]), ignored)
        counts = [
            count_pixels(truth, inside(self._label_map(picture), self._margin), classes, ignored)
            for truth, picture in zip(truths, pictures, strict=True)
        ]
        return np.array(counts), classes

    def _least(self, window: int) -> int:
        """The smallest height and width of an image, which is mirrored only once."""
        return window if self.border == "ignore" else window // 2 + 1

    @property
    def _margin(self) -> int:
        """The width of the border that has no answer."""
        return self.window_ // 2 if self.border == "ignore" else 0

    def _checked(self, image: Any) -> Image:
        self._validate_params()  # border may have been changed
        picture = single_image(image)
        self._check_fits(picture, "image")
        return picture

    def _check_fits(self, picture: Image, name: str) -> None:
        if picture.shape[2] != self.n_channels_:
            raise ValueError(
                f"{name} has {channels_of(picture)}, but those that were fitted to have "
                f"{self.n_channels_}"
            )
        if picture.dtype != self.image_dtype_:  # whose values are hardly in the same units
            raise ValueError(
                f"{name} is read as {picture.dtype}, but those that were fitted to as "
                f"{self.image_dtype_}; bring it to their range and dtype"
            )
        check_size(picture, name, self._least(self.window_), self.window_)

    def _label_map(self, picture: Image) -> npt.NDArray[Any]:
        dtype = _smallest_dtype(self.classes_.dtype, self.void_label_)
        labels = np.full(picture.shape[:2], self.void_label_, dtype=dtype)
        inner = inside(labels, self._margin)
        label = partial(_native.label_windows, self._forest, n_threads=n_threads(self.n_jobs))
        for rows, codes in self._blocks(picture, label):
            inner[rows] = self.classes_.take(codes)
        return labels

    def _blocks(
        self, picture: Image, predict: PredictRows
    ) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
        """Rows of the pixels with an answer, and what the core says of these."""
        if self.border == "reflect":
            picture = mirrored(picture, self.window_ // 2)
        return predicted_blocks(picture, self.window_, len(self.classes_), predict)

    # --- files

    @property
    def _forest(self) -> _native.Forest:  # type: ignore[override]  # the classifier's
        forest: _native.Forest = self.classifier_._forest  # noqa: SLF001
        return forest

    @property
    def _fitted_split(self) -> str:
        return next(name for name, kind in SPLITS.items() if kind is type(self.classifier_))

    def _new_classifier(self, kind: type[Forest]) -> Forest:
        """A forest with this estimator's parameters, as far as it has them."""
        own = self.get_params(deep=False)
        names = kind().get_params(deep=False).keys() & own.keys()
        # Trees draw windows of their own; what is drawn from these is not for a forest to say.
        return kind(**{name: own[name] for name in names}, bootstrap=False)

    def _stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        fields, arrays = self.classifier_._stored()  # noqa: SLF001
        own = {name: getattr(self, f"{name}_") for name in _STORED}
        own["split"] = self._fitted_split
        return fields | own, arrays | {"class_prior": self.class_prior_}

    def _restore(
        self, fields: Fields, forest: dict[str, npt.NDArray[Any]], *, borrow_weights: bool
    ) -> None:
        split = fields.value("split")
        if not isinstance(split, str) or split not in SPLITS:
            raise ModelFormatError(f"'split' must be one of {list(SPLITS)}, got {shown(split)}")
        classifier = self._new_classifier(SPLITS[split])
        classifier._restore(fields, forest, borrow_weights=borrow_weights)  # noqa: SLF001
        self.classifier_ = classifier
        self.class_prior_ = fields.array("class_prior", (classifier._forest.n_outputs,))  # noqa: SLF001
        for name in _STORED:
            setattr(self, f"{name}_", fields.value(name))

    def _check_consistency(self) -> None:
        classifier = self.classifier_
        if type(classifier) not in SPLITS.values():
            raise ModelFormatError(
                f"classifier_ must be a forest of classes, got {shown(classifier)}"
            )
        classifier._check_consistency()  # noqa: SLF001
        self._check_labels()
        check_integer("window", self.window_, 1, 2**31 - 1)
        check_integer("n_channels", self.n_channels_, 1, 2**31 - 1)
        n_features = classifier.n_features_in_
        if self.window_ % 2 == 0 or self.window_**2 * self.n_channels_ != n_features:
            raise ModelFormatError(
                f"window_={self.window_} and n_channels_={self.n_channels_} do not agree with "
                f"{n_features} features"
            )
        if self.image_dtype_ not in ("uint8", "float32"):
            raise ModelFormatError(
                f"'image_dtype' must be 'uint8' or 'float32', got {shown(self.image_dtype_)}"
            )
        if type(self.balance_) is not bool:
            raise ModelFormatError(f"'balance' must be true or false, got {shown(self.balance_)}")
        prior = self.class_prior_
        if (
            np.shape(prior) != self.classes_.shape
            or not (prior >= _SMALLEST_PRIOR).all()
            or abs(prior.sum() - 1.0) > 1e-6
        ):
            raise ModelFormatError("class_prior_ must hold positive fractions, one per class")

    def _check_labels(self) -> None:
        """Raise if the classes are not those of label maps."""
        classes: Any = self.classes_
        whole = isinstance(classes, np.ndarray) and classes.dtype.kind in "iu"
        if not whole or classes.dtype == np.uint64 or not 1 <= len(classes) <= MOST_CLASSES:
            raise ModelFormatError(
                f"classes_ must be whole numbers, {MOST_CLASSES} at most, got {shown(classes)}"
            )
        if not (classes[1:] > classes[:-1]).all():
            raise ModelFormatError(f"classes_ must be sorted, got {shown(classes)}")
        check_integer("void_label", self.void_label_, -(2**63), 2**63 - 1)
        if self.void_label_ in classes.tolist():
            raise ModelFormatError(f"void_label_={self.void_label_} is a class")
        for name in ("cost_matrix_", "feature_names_in_", "oob_score_"):
            if getattr(self.classifier_, name, None) is not None:
                raise ModelFormatError(f"the forest of a segmenter has no {name}")


def _smallest_dtype(dtype: np.dtype[Any], label: int) -> np.dtype[Any]:
    """The dtype of the classes if it can hold one more label, else a wider one."""
    for wider in (dtype, *map(np.dtype, (np.int16, np.int32))):
        limits = np.iinfo(wider)
        if np.can_cast(dtype, wider) and limits.min <= label <= limits.max:
            return wider
    return np.dtype(np.int64)
