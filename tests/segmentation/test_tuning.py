# SPDX-License-Identifier: BSD-3-Clause
"""Which parameters tune_segmenter chooses, against a loop over images that are held out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from co2forest import CO2ForestClassifier
from co2forest.segmentation import ForestSegmenter, jaccard_table
from co2forest.tuning import SEGMENTATION_GRID, tune_segmenter
from shapes import make_shapes, small_segmenter

IMAGES, MAPS = make_shapes(8, 24, 40)
GRID = {"max_depth": [1, 2, None], "nu": [0.01, 10]}
QUICK = {"trial_n_estimators": 2, "random_state": 0}


def some(values, numbers):
    return [values[number] for number in numbers]


def tune(**params):
    defaults = {"estimator": small_segmenter(max_depth=2), "grid": GRID}
    return tune_segmenter(IMAGES, MAPS, **defaults | QUICK | params)


def by_hand(candidates, n_splits=1, trees=2):
    """Scores on the images held out, and those of bootstrap samples of these images."""
    splits = ShuffleSplit(n_splits, test_size=0.25, random_state=0).split(np.zeros((8, 1)))
    scores, replicates = [], []
    for part, (train, test) in enumerate(splits):
        samples = np.random.default_rng([0, part]).integers(len(test), size=(50, len(test)))
        for params in candidates:
            model = clone(small_segmenter(max_depth=2)).set_params(n_estimators=trees, **params)
            model.fit(some(IMAGES, train), some(MAPS, train))
            truth = [labels[3:-3, 3:-3] for labels in some(MAPS, test)]
            found = [model.predict(image)[3:-3, 3:-3] for image in some(IMAGES, test)]
            scores.append(jaccard_table(truth, found).mean)
            replicates.append(
                [jaccard_table(some(truth, rows), some(found, rows)).mean for rows in samples]
            )
    shape = (n_splits, len(candidates), -1)
    return np.reshape(scores, shape)[..., 0], np.reshape(replicates, shape)


CANDIDATES = [{}] + [
    {"nu": nu} if depth == 2 else {"nu": nu, "max_depth": depth}
    for depth in GRID["max_depth"]
    for nu in GRID["nu"]
]


@pytest.mark.parametrize("n_splits", [1, 2])
def test_the_choice_is_that_of_a_loop(n_splits):
    result = tune(n_splits=n_splits)
    scores, replicates = by_hand(CANDIDATES, n_splits)
    table = result.table
    assert [row["score"] for row in table] == pytest.approx(scores.mean(axis=0), abs=1e-12)
    noise = (replicates - replicates[:, :1]).std(axis=2, ddof=1)
    noise = np.sqrt((noise**2).sum(axis=0)) / n_splits
    assert [row["standard_error"] for row in table] == pytest.approx(noise, abs=1e-9)
    better = scores.mean(axis=0) - scores.mean(axis=0)[0] > noise
    best = np.flatnonzero(better)[scores.mean(axis=0)[better].argmax()]
    assert [row["chosen"] for row in table] == [number == best for number in range(len(table))]
    assert result.best_params == CANDIDATES[best]
    assert result.best_score == pytest.approx(scores.mean(axis=0)[best])
    assert result.scoring == "mean Jaccard"
    assert "mean Jaccard" in repr(result)


def test_the_result_is_fitted_to_all_images():
    result = tune()
    chosen = small_segmenter(max_depth=2).set_params(**result.best_params).fit(IMAGES, MAPS)
    image = IMAGES[0]
    np.testing.assert_array_equal(result.estimator.predict(image), chosen.predict(image))
    assert not hasattr(tune(refit=False).estimator, "classifier_")


def test_the_estimator_stays_if_nothing_is_clearly_better():
    result = tune(standard_errors=1e6)
    assert result.best_params == {}
    assert result.estimator.max_depth == 2


def test_halving_finds_the_same_with_fewer_trees():
    whole = tune(trial_n_estimators=12, standard_errors=0)
    half = tune(trial_n_estimators=12, method="halving", standard_errors=0)
    assert half.best_score >= whole.best_score - 3
    assert {row["trees"] for row in half.table} == {4, 12}
    again = [row["score"] for row in whole.table]
    for number, row in enumerate(half.table):
        if row["trees"] == 12:  # trees that were added one fit after the other
            assert row["score"] == pytest.approx(again[number])


def test_an_interrupted_search_goes_on(tmp_path, monkeypatch):
    expected = tune(checkpoint=tmp_path / "first")
    fits = []
    fit = ForestSegmenter.fit

    def counted(self, images, maps):
        fits.append(len(images))
        if len(fits) == 4:
            raise KeyboardInterrupt
        return fit(self, images, maps)

    monkeypatch.setattr(ForestSegmenter, "fit", counted)
    with pytest.raises(KeyboardInterrupt):
        tune(checkpoint=tmp_path / "second")
    result = tune(checkpoint=tmp_path / "second")
    assert len(fits) < 2 * len(expected.table) + 2
    assert [row["score"] for row in result.table] == [row["score"] for row in expected.table]
    assert result.best_params == expected.best_params
    with pytest.raises(ValueError, match="belongs to another search: it differs in label_maps"):
        tune_segmenter(
            IMAGES,
            [labels > 0 for labels in MAPS],
            estimator=small_segmenter(max_depth=2),
            grid=GRID,
            checkpoint=tmp_path / "second",
            **QUICK,
        )


def test_the_default_is_the_grid_of_the_paper():
    quick = small_segmenter(max_depth=1, samples_per_tree=30)
    result = tune(estimator=quick, grid=None, trial_n_estimators=1)
    combinations = np.prod([len(values) for values in SEGMENTATION_GRID.values()])
    assert len(result.table) == 1 + combinations


def test_threads_and_progress(capfd):
    one, two = tune(n_jobs=1), tune(n_jobs=2, verbose=1)
    assert [row["score"] for row in one.table] == [row["score"] for row in two.table]
    assert "grid 7/7, best" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        (
            {"estimator": CO2ForestClassifier(mixture=None)},
            TypeError,
            "estimator must be a ForestSegmenter",
        ),
        ({"estimator": ForestSegmenter}, TypeError, "give an instance, not the class"),
        ({"holdout_images": 0}, ValueError, "holdout_images must be a fraction of the images"),
        ({"holdout_images": 3}, ValueError, "holdout_images must be a fraction of the images"),
        ({"method": "oob"}, ValueError, r"method must be one of \('holdout', 'halving'\)"),
        ({"grid": {"depth": [1]}}, ValueError, "grid has 'depth', which is not a parameter of"),
        ({"grid": {"n_estimators": [1]}}, ValueError, "grid has 'n_estimators', which is not chos"),
        ({"grid": {"window": [4]}}, ValueError, "grid has a value that is not allowed: window=4"),
        ({"grid": {"window": [31]}}, ValueError, r"images\[0\] has 24 x 40 pixels; with window=31"),
        ({"grid": {"border": ["reflect"]}}, ValueError, "grid has 'border', which changes which"),
        (
            {"grid": [{"nu": [1]}, {"ignore_label": [0, 1]}]},
            ValueError,
            "grid has 'ignore_label', which changes which pixels are scored",
        ),
        ({"trial_n_estimators": 0}, ValueError, "trial_n_estimators must be a whole number"),
        (
            {"estimator": small_segmenter(split="axis"), "grid": None},
            ValueError,
            "grid must be given for split='axis'",
        ),
    ],
)
def test_arguments_that_cannot_be(params, kind, message):
    with pytest.raises(kind, match=message):
        tune(**params)


def test_one_image_cannot_be_held_out():
    with pytest.raises(ValueError, match="a hold-out needs at least 2 images, but images has 1"):
        tune_segmenter(IMAGES[:1], MAPS[:1], estimator=small_segmenter())
    with pytest.raises(ValueError, match=r"label_maps\[1\] has shape"):
        tune_segmenter(IMAGES[:2], [MAPS[0], MAPS[1].T], estimator=small_segmenter())


def test_a_hold_out_that_takes_all_there_is_of_a_class(monkeypatch):
    """What is left of it lies at the border of an image."""
    (seen, unseen), *_ = ShuffleSplit(1, test_size=0.25, random_state=0).split(np.zeros((8, 1)))
    maps = [labels.copy() for labels in MAPS]
    maps[unseen[0]][10:14, 10:14] = 77
    maps[seen[0]][0, 0] = 77
    monkeypatch.setattr(ForestSegmenter, "fit", None)  # is not to be reached
    with pytest.raises(ValueError, match="held out for the trials") as info:
        tune_segmenter(IMAGES, maps, estimator=small_segmenter(), grid=GRID, **QUICK)
    first, second = sorted(unseen)
    message = str(info.value)
    assert f"(images[{first}], images[{second}]), the class 77 has no pixel" in message
    for help_ in ("border='reflect'", "another random_state", "a smaller holdout_images"):
        assert help_ in message
