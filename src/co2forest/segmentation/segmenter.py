# SPDX-License-Identifier: BSD-3-Clause
"""The segmenter: a forest that sees an image through the window around each pixel."""

from copy import copy
from dataclasses import replace
from itertools import chain, count
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from co2forest._one_fit import at_once
from co2forest._sklearn_compat import Interval, StrOptions, fit_context
from co2forest.data.outputs.classes import ClassOutputs
from co2forest.estimators.forest import Forest, warn_nothing_to_grow
from co2forest.fitting.parameters import (
    CO2_CONSTRAINTS,
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    PAIR_CONSTRAINTS,
    SCALE_CONSTRAINTS,
    Constraints,
)
from co2forest.segmentation._fitted import SPLITS, FittedSegmenter
from co2forest.segmentation._windows import IGNORED, MOST_CLASSES, WindowSet, inside, mirrored
from co2forest.segmentation.images import (
    LabelMap,
    Names,
    check_size,
    checked_images,
    checked_maps,
    codes_of,
    labels_in,
    name_of,
)

_OF_FORESTS = ("n_estimators", "warm_start", "n_jobs", "verbose")
_OF_TABLES = ("categorical_features",)  # a pixel has no categories


class ForestSegmenter(FittedSegmenter):
    """Labels every pixel of an image by a forest that sees the window around it.

    The features of a pixel are all values in the ``window`` x ``window`` pixels around it. Windows
    are read in place from the images. So training takes hardly more memory than the images and the
    model, and prediction shares its work between the pixels.

    Each tree draws windows of its own, by default equally many of each class. The probabilities in
    its leaves are then multiplied by a factor that undoes this: the class's frequency among all
    pixels, divided by its frequency among the windows drawn.

    Parameters
    ----------
    window : int, default=31
        Height and width of the windows in pixels; odd.
    n_estimators : int, default=16
        Number of trees.
    split : {"co2", "two_probe", "axis"}, default="co2"
        How nodes split: optimised hyperplanes (:class:`co2forest.CO2ForestClassifier`), the
        difference of two values (:class:`co2forest.baselines.TwoProbeForestClassifier`), or a
        threshold of one (:class:`co2forest.baselines.AxisForestClassifier`).
    samples_per_tree : int, default=256_000
        Windows that each tree draws.
    balance : bool, default=True
        Whether a tree draws equally many windows of each class; those of a class that has fewer are
        repeated. If False, it draws uniformly from all pixels, each at most once.
    center : bool, default=False
        Whether hyperplanes see windows without the mean of each channel, so that how bright or
        tinted a window is as a whole does not count; only used with ``split="co2"``. Better where
        light and colour differ between images of the same things, such as faces; worse where colour
        tells classes apart. Weights then sum to zero in each channel, whose values share one scale.
    border : {"ignore", "reflect"}, default="ignore"
        What happens to pixels that are nearer to the border than half a window. "ignore": they are
        not trained on and get no answer. "reflect": images are mirrored at their edges.
    ignore_label : int, default=None
        Pixels with this label are neither trained on nor scored.
    scale : {"auto", "standard", "soft", "minmax", "global", None}, default="auto"
        How the values of a window are made comparable, from a sample of the windows; see
        :class:`co2forest.CO2ForestClassifier`. "auto" is "global" for uint8 images and for one
        channel, and "standard" for several channels of floats, whose units may differ.
    nu, learning_rate : "auto" or float, default="auto"
        As in :class:`co2forest.CO2ForestClassifier`; only used with ``split="co2"``.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        Values of a window that are searched in each node; only for "co2" and "axis".
    n_pairs : int, default=None
        Pairs of values that are searched in each node; None means as many as a window has values.
        Only used with "two_probe".
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`; fractions
        refer to the windows that a tree draws.
    min_impurity_decrease, max_leaf_nodes : optional
        Limits of growth, as in :class:`co2forest.CO2ForestClassifier`.
    batch_size, momentum, cccp_period, max_iter, tol, solver, refine : optional
        As in :class:`co2forest.CO2ForestClassifier`; only used with ``split="co2"``.
    warm_start : bool, default=False
        Whether `fit` keeps the existing trees and adds the missing ones.
    n_jobs : int, default=None
        Threads for fitting and predicting: None is one, -1 all. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices.
    verbose : int, default=0
        Whether to show a progress bar with the time left, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; the order of the last axis of `predict_proba`.
    classifier_ : CO2ForestClassifier, TwoProbeForestClassifier or AxisForestClassifier
        The forest, which classifies windows as rows of ``window * window * n_channels`` values in
        the order of the image's memory; it gives the same answers. Each tree has drawn
        from windows of its own, so ``estimators_samples_`` means nothing.
    class_prior_ : ndarray of shape (n_classes,)
        Frequency of each class among all pixels that could be drawn.
    sampled_prior_ : ndarray of shape (n_classes,)
        Frequency of each class among the windows drawn.
    void_label_ : int
        What `predict` gives pixels without an answer: ``ignore_label``, else 255, or, if that is a
        class, the first of -1, -2, ... that is not.
    window_, n_channels_ : int
        The height and width of the windows, and their number of channels.
    image_dtype_ : {"uint8", "float32"}
        The dtype of the training images; images to predict must have the same.
    balance_ : bool
        How the trees have drawn.
    scale_ : str or None
        The scaling in use; what "auto" has chosen.
    feature_importances_ : ndarray of shape (window, window, n_channels)
        Fraction of the decrease of impurity due to each value of a window.

    See Also
    --------
    co2forest.tuning.tune_segmenter : Chooses parameters on images that are held out.

    Examples
    --------
    >>> import numpy as np
    >>> from co2forest.segmentation import ForestSegmenter
    >>> rng = np.random.default_rng(0)
    >>> truth = np.zeros((4, 40, 40), dtype=int)
    >>> truth[:, 12:28, 12:28] = 1
    >>> images = (80 * truth + rng.integers(0, 120, truth.shape)).astype(np.uint8)
    >>> segmenter = ForestSegmenter(window=7, n_estimators=4, random_state=0)
    >>> segmenter.fit(images[:3], truth[:3]).predict(images[3]).shape
    (40, 40)
    >>> segmenter.score(images[3:], truth[3:]) > 80
    True
    """

    _parameter_constraints: ClassVar[Constraints] = (
        CO2_CONSTRAINTS
        | SCALE_CONSTRAINTS
        | {name: each for name, each in GROWTH_CONSTRAINTS.items() if name not in _OF_TABLES}
        | PAIR_CONSTRAINTS
        | {name: FOREST_CONSTRAINTS[name] for name in _OF_FORESTS}
        | {
            "window": [Interval(Integral, 1, None, closed="left")],
            "split": [StrOptions(set(SPLITS))],
            "samples_per_tree": [Interval(Integral, 1, 2**31 - 1, closed="both")],
            "balance": ["boolean"],
            "center": ["boolean"],
            "border": [StrOptions({"ignore", "reflect"})],
            "ignore_label": [Interval(Integral, -(2**63), 2**63 - 1, closed="both"), None],
        }
    )

    def __init__(
        self,
        window: int = 31,
        n_estimators: int = 16,
        *,
        split: str = "co2",
        samples_per_tree: int = 256_000,
        balance: bool = True,
        center: bool = False,
        border: str = "ignore",
        ignore_label: int | None = None,
        scale: str | None = "auto",
        nu: float | str = "auto",
        learning_rate: float | str = "auto",
        max_features: float | str | None = "sqrt",
        n_pairs: int | None = None,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        batch_size: int = 100,
        momentum: float = 0.9,
        cccp_period: int | None = None,
        max_iter: int | None = None,
        tol: float = 1e-3,
        solver: str = "auto",
        refine: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.window = window
        self.n_estimators = n_estimators
        self.split = split
        self.samples_per_tree = samples_per_tree
        self.balance = balance
        self.center = center
        self.border = border
        self.ignore_label = ignore_label
        self.scale = scale
        self.nu = nu
        self.learning_rate = learning_rate
        self.max_features = max_features
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.batch_size = batch_size
        self.momentum = momentum
        self.cccp_period = cccp_period
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.refine = refine
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.window % 2 == 0:
            raise ValueError(
                f"window={self.window} must be odd, so that a window has a centre: "
                f"{self.window - 1} or {self.window + 1}, for example"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def fit(self, images: Any, label_maps: Any) -> Self:
        """Grow the forest.

        An interrupted or failed fit leaves a fitted segmenter as it was.

        Parameters
        ----------
        images : list of array of shape (height, width) or (height, width, channels)
            uint8 or floats, or an array with a leading axis. Sizes may differ, channels may not.
            C-contiguous uint8 and float32 images are read without a copy, unless
            ``border="reflect"``. NaN stands for the mean of a value.
        label_maps : list of array of shape (height, width)
            Whole numbers; at most 255 different ones.

        Returns
        -------
        ForestSegmenter
            The fitted segmenter itself.
        """
        return self._fit(images, label_maps)

    @fit_context
    @at_once
    def _fit(self, images: Any, label_maps: Any, names: Names = None) -> Self:
        """Fit to images from files with these names, which appear in messages."""
        data, classes, void_label = self._training_windows(images, label_maps, names)
        classifier: Any = self._classifier_to_grow(data)
        outputs = ClassOutputs(classes)
        plan = classifier._decide(outputs, data)  # noqa: SLF001
        plan = replace(plan, draws=data.draws(plan.draws.seed))
        grown = classifier._grow(plan, data)  # noqa: SLF001
        if grown is None:
            warn_nothing_to_grow()
            return self
        self.classifier_ = classifier._keep(outputs, data, plan, grown)  # noqa: SLF001
        self.class_prior_ = data.class_counts / data.class_counts.sum()
        self.window_, self.n_channels_ = data.window, data.n_channels
        self.image_dtype_ = data.image_dtype
        self.balance_, self.void_label_ = data.balance, void_label
        return self

    def _training_windows(
        self, images: Any, label_maps: Any, names: Names = None
    ) -> tuple[WindowSet, npt.NDArray[Any], int]:
        """Checked windows, their classes and the label for pixels without an answer."""
        window = int(self.window)
        pictures = checked_images(images, names)
        for number, picture in enumerate(pictures):
            check_size(picture, name_of("images", number, names), self._least(window), window)
        maps = checked_maps(label_maps, pictures, names)
        classes = self._checked_classes(maps)
        codes = [codes_of(labels, classes, np.uint8, IGNORED) for labels in maps]
        half = window // 2
        if self.border == "reflect":
            pictures = [mirrored(picture, half) for picture in pictures]
        else:
            codes = [inside(each, half) for each in codes]
        data = WindowSet(
            pictures,
            codes,
            len(classes),
            window,
            int(self.samples_per_tree),
            balance=bool(self.balance),
            center=bool(self.center),
        )
        for label, number in zip(classes, data.class_counts, strict=True):
            if number == 0:
                raise ValueError(
                    f"the class {label} has no pixel that is at least {half} pixels away from the "
                    "border of its image; use border='reflect', a smaller window, or "
                    f"ignore_label={label}"
                )
        return data, classes, self._void_label(classes)

    def _checked_classes(self, maps: list[LabelMap]) -> npt.NDArray[Any]:
        labels = labels_in(maps)
        classes = labels if self.ignore_label is None else labels[labels != self.ignore_label]
        if len(classes) == 0:
            raise ValueError(
                f"all pixels of label_maps have ignore_label={self.ignore_label}; there must be "
                "others to learn from"
            )
        if len(classes) > MOST_CLASSES:
            raise ValueError(
                f"label_maps has {len(classes)} different labels, but {MOST_CLASSES} at most are "
                "possible; are these label maps?"
            )
        if self.samples_per_tree < len(classes):
            raise ValueError(
                f"samples_per_tree={self.samples_per_tree} must be at least the number of classes, "
                f"{len(classes)}"
            )
        return classes

    def _void_label(self, classes: npt.NDArray[Any]) -> int:
        if self.ignore_label is not None:
            return int(self.ignore_label)
        known = set(classes.tolist())
        return next(label for label in chain((255,), count(-1, -1)) if label not in known)

    def _classifier_to_grow(self, data: WindowSet) -> Forest:
        """A new forest, or a copy of the one there is for a warm start."""
        if not (self.warm_start and hasattr(self, "classifier_")):
            classifier = self._new_classifier(SPLITS[self.split])
        else:
            for name, now, before in (
                ("split", self.split, self._fitted_split),
                ("window", data.window, self.window_),
                ("the number of channels", data.n_channels, self.n_channels_),
                ("the dtype of images", data.image_dtype, self.image_dtype_),
                ("balance", data.balance, self.balance_),
            ):
                if now != before:
                    raise ValueError(
                        f"warm_start=True, but {name} differs from the first fit: "
                        f"{now!r}, not {before!r}"
                    )
            classifier = copy(self.classifier_)
            classifier.set_params(**self._new_classifier(type(classifier)).get_params(deep=False))
        classifier.n_features_in_ = data.n_features
        return classifier
