# SPDX-License-Identifier: BSD-3-Clause
"""The same search for segmenters: whole images are held out."""

import os
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from co2forest import __version__
from co2forest.files.messages import shown
from co2forest.files.problem_digest import digest
from co2forest.segmentation import ForestSegmenter, JaccardTable
from co2forest.segmentation.images import Image, LabelMap, checked_images, checked_maps
from co2forest.tuning._arguments import check_fraction, check_numbers
from co2forest.tuning._candidates import Grid, Params, candidates_of_grid, distinct, names_in
from co2forest.tuning._checkpoint import Memory
from co2forest.tuning._comparison import (
    compare,
    fixed_params,
    record_of,
    result_estimator,
    table_of,
)
from co2forest.tuning._scores import REPLICATES, Measurement
from co2forest.tuning._trials import Trials
from co2forest.tuning.result import TuningResult

# A few of the values of nu and eta that the paper tries for faces; it does not try whether to
# centre windows.
SEGMENTATION_GRID: dict[str, list[Any]] = {
    "nu": [0.1, 1, 10, 43],
    "learning_rate": [0.0003, 0.001, 0.003],
    "center": [False, True],
}

# They decide which pixels are scored, so that scores with different values cannot be compared.
_DECIDE_WHAT_COUNTS = ("border", "ignore_label")


def tune_segmenter(
    images: Any,
    label_maps: Any,
    *,
    estimator: ForestSegmenter | None = None,
    grid: Grid | None = None,
    method: str = "holdout",
    standard_errors: float = 1.0,
    holdout_images: float = 0.25,
    n_splits: int = 1,
    trial_n_estimators: int = 4,
    checkpoint: str | os.PathLike[str] | None = None,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> TuningResult:
    """Choose parameters of a segmenter by its mean Jaccard score on images that are held out.

    The estimator as given is always a candidate, and another one replaces it only if it is better
    by more than noise: that of 50 bootstrap samples of the images held out.

    Parameters
    ----------
    images, label_maps : list of array
        The data, as for ``ForestSegmenter.fit``.
    estimator : ForestSegmenter, default=None
        What to tune; None is ``ForestSegmenter()``. It is not changed.
    grid : dict of lists, or list of such dicts, default=None
        Values by parameter; all combinations are tried. None is `SEGMENTATION_GRID`:
        ``nu``, ``learning_rate`` and ``center``, which only ``split="co2"`` has. A ``window``
        is scored on the pixels that it has answers for; with ``border="reflect"``, on all.
    method : {"holdout", "halving"}, default="holdout"
        "holdout" gives each candidate all trees. "halving" gives all of them a few, then the best
        third three times as many, and so on; it needs 12 trees or more to make a difference.
    standard_errors : float, default=1.0
        A candidate replaces the estimator as given only if its score is better by more than this
        many standard errors of the difference. 0 takes the best score.
    holdout_images : float, default=0.25
        Fraction of the images to hold out.
    n_splits : int, default=1
        Number of random hold-outs over which scores are averaged.
    trial_n_estimators : int, default=4
        Trees of each candidate. The result has the estimator's ``n_estimators``.
    checkpoint : str or path-like, default=None
        A file for the scores. A search that was interrupted goes on where it stopped if called
        again with the same arguments; the result is the same.
    refit : bool, default=True
        Whether to fit the result on all images.
    n_jobs : int, default=None
        Threads of the trials; None is the estimator's. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out and the trials, and of the result if the estimator has none.
    verbose : int, default=0
        Whether to show candidates, best score and time left, on standard error.

    Returns
    -------
    TuningResult
        Its ``max_features_table`` is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from co2forest.segmentation import ForestSegmenter
    >>> from co2forest.tuning import tune_segmenter
    >>> rng = np.random.default_rng(0)
    >>> truth = np.zeros((8, 20, 20), dtype=int)
    >>> truth[:, 6:14, 6:14] = 1
    >>> images = (80 * truth + rng.integers(0, 120, truth.shape)).astype(np.uint8)
    >>> segmenter = ForestSegmenter(window=5, samples_per_tree=1000, random_state=0)
    >>> result = tune_segmenter(
    ...     images, truth, estimator=segmenter, grid={"nu": [1, 10]}, random_state=0
    ... )
    >>> len(result.table)
    3
    """
    check_numbers(
        method=method,
        methods=("holdout", "halving"),
        n_splits=n_splits,
        trial_n_estimators=trial_n_estimators,
        standard_errors=standard_errors,
        checkpoint=checkpoint,
        refit=refit,
        verbose=verbose,
    )
    check_fraction(holdout_images, "holdout_images", "images")
    estimator = ForestSegmenter() if estimator is None else estimator
    if not isinstance(estimator, ForestSegmenter):
        raise TypeError(
            f"estimator must be a ForestSegmenter, got {shown(estimator)}"
            + ("; give an instance, not the class" if isinstance(estimator, type) else "")
        )
    problem = _checked_problem(estimator, images, label_maps)
    candidates = _candidates(estimator, grid)
    for params in candidates:  # now, not after the trials of the others
        clone(estimator).set_params(**params)._training_windows(*problem)  # noqa: SLF001
    search = {
        "version of co2forest": __version__,  # whose scores must not mix with those of another
        "images": digest(problem.images),
        "label_maps": digest(problem.maps),
        "estimator": digest([type(estimator).__name__, distinct(fixed_params(estimator))]),
        "grid": digest([distinct(params) for params in candidates]),
        "method": method,
        "holdout_images": digest(float(holdout_images)),
        "n_splits": digest(int(n_splits)),
        "trial_n_estimators": digest(int(trial_n_estimators)),
    }
    record = record_of(checkpoint, search, random_state)
    threads = estimator.n_jobs if n_jobs is None else n_jobs
    splitter = ShuffleSplit(n_splits, test_size=holdout_images, random_state=record.seed)
    splits = list(splitter.split(np.zeros((len(problem.images), 1))))
    _check_splits(estimator, candidates, problem, splits)
    shared = {"n_jobs": threads, "random_state": record.seed, "verbose": 0, "warm_start": True}
    trials = ImageTrials(
        clone(estimator).set_params(**shared), candidates, problem, splits, record.seed, record
    )
    best, entries = compare(
        trials,
        trial_n_estimators,
        method=method,
        standard_errors=standard_errors,
        verbose=verbose,
    )
    chosen = result_estimator(estimator, candidates[best], record.seed)
    if refit:
        chosen.fit(*problem)
    return TuningResult(
        estimator=chosen,
        best_params=candidates[best],
        best_score=entries[best].score.score,
        max_features=chosen.max_features,
        table=table_of(estimator, candidates, entries, best),
        method=method,
        scoring="mean Jaccard",
        random_state=record.seed,
    )


class LabelledImages(NamedTuple):
    """Checked images and their maps."""

    images: list[Image]
    maps: list[LabelMap]

    def take(self, numbers: npt.NDArray[np.intp]) -> "LabelledImages":
        """Some of them, without a copy."""
        return LabelledImages([self.images[i] for i in numbers], [self.maps[i] for i in numbers])


class ImageTrials(Trials):
    """Segmenters that see some images and are judged by others."""

    def __init__(
        self,
        estimator: ForestSegmenter,
        candidates: list[Params],
        problem: LabelledImages,
        splits: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
        seed: int,
        record: Memory,
    ) -> None:
        super().__init__("grid", candidates, len(splits), record)
        self._estimator = estimator
        self._seed = seed
        self._problem = problem
        self._splits = splits

    def _new_forest(self, params: Params, split: int) -> Any:
        del split
        return clone(self._estimator).set_params(**params)

    def _fit_and_judge(self, forest: Any, split: int) -> Measurement:
        seen, unseen = (self._problem.take(numbers) for numbers in self._splits[split])
        forest.fit(*seen)
        counts, classes = forest._pixel_counts(*unseen)  # noqa: SLF001
        rng = np.random.default_rng([self._seed, split])
        samples = rng.integers(len(counts), size=(REPLICATES, len(counts)))
        everything, *replicates = (
            JaccardTable(classes, *counts[numbers].sum(axis=0)).mean
            for numbers in (np.arange(len(counts)), *samples)
        )
        return Measurement(everything, np.array(replicates))

    def _error(self, split: int, measurement: Measurement, reference: Measurement) -> float:
        del split
        difference = measurement.evidence - reference.evidence
        return float(np.nanstd(difference, ddof=1)) if np.isfinite(difference).any() else np.nan


def _checked_problem(estimator: ForestSegmenter, images: Any, label_maps: Any) -> LabelledImages:
    estimator._validate_params()  # noqa: SLF001
    pictures = checked_images(images)
    if len(pictures) < 2:
        raise ValueError("a hold-out needs at least 2 images, but images has 1")
    return LabelledImages(pictures, checked_maps(label_maps, pictures))


def _candidates(estimator: ForestSegmenter, grid: Grid | None) -> list[Params]:
    if grid is None and estimator.split != "co2":
        raise ValueError(
            f"grid must be given for split={estimator.split!r}: nu and learning_rate, which are "
            "chosen by default, are for split='co2'"
        )
    grid = SEGMENTATION_GRID if grid is None else grid
    candidates = candidates_of_grid(estimator, grid)
    for name in _DECIDE_WHAT_COUNTS:
        if name in names_in(grid):
            raise ValueError(
                f"grid has {name!r}, which changes which pixels are scored, so that scores cannot "
                "be compared; set it in the estimator"
            )
    return candidates


def _check_splits(
    estimator: ForestSegmenter,
    candidates: list[Params],
    problem: LabelledImages,
    splits: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> None:
    """Raise before all trials if one could not learn from the images that are not held out."""
    windows = {params.get("window", estimator.window) for params in candidates}
    for (seen, unseen), window in product(splits, sorted(windows)):
        trial = clone(estimator).set_params(window=window)
        try:
            trial._training_windows(*problem.take(seen))  # noqa: SLF001
        except ValueError as error:  # all images together are fine
            held_out = ", ".join(f"images[{number}]" for number in np.sort(unseen))
            raise ValueError(
                f"without the images that are held out for the trials ({held_out}), {error}; "
                "another random_state or a smaller holdout_images may help, too"
            ) from error
