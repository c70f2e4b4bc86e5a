# SPDX-License-Identifier: BSD-3-Clause
"""The segmenter against windows that NumPy cuts out and the plain forests classify."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from co2forest import CO2ForestClassifier
from co2forest.baselines import AxisForestClassifier, TwoProbeForestClassifier
from co2forest.segmentation import ForestSegmenter, _windows, jaccard_table
from forest_arrays import weights_of
from shapes import make_shapes, small_segmenter, windows_of

SPLITS = {
    "co2": CO2ForestClassifier,
    "two_probe": TwoProbeForestClassifier,
    "axis": AxisForestClassifier,
}


def with_missing_values(images):
    rng = np.random.default_rng(1)
    return [np.where(rng.random(image.shape) < 0.05, np.nan, image) for image in images]


def inner(values, window):
    half = window // 2
    return values[half : values.shape[0] - half, half : values.shape[1] - half]


def expected_proba(model, image):
    """What the plain forest says of the windows."""
    rows = windows_of(image, model.window_)
    proba = model.classifier_.predict_proba(rows)
    height, width = (size - model.window_ + 1 for size in image.shape[:2])
    return proba.reshape(height, width, -1)


# --- prediction


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize(
    ("channels", "window", "dtype"),
    [
        (1, 7, np.uint8),
        (3, 1, np.uint8),
        (3, 5, np.uint8),
        (5, 3, np.uint8),
        (1, 5, np.float32),
        (3, 7, np.float32),
        (5, 3, np.float32),
        (3, 5, "missing"),
        (1, 17, "missing"),
    ],
)
def test_the_plain_forest_says_the_same_of_windows(split, balance, channels, window, dtype):
    kind = np.float32 if dtype == "missing" else dtype
    images, maps = make_shapes(3, 30, 44, channels, kind)
    if dtype == "missing":
        images = with_missing_values(images)
    images = [image[:, :, 0] for image in images] if channels == 1 else images
    model = small_segmenter(split=split, balance=balance, window=window).fit(images, maps)
    assert type(model.classifier_) is SPLITS[split]
    assert model.n_channels_ == channels
    image = images[2]
    expected = expected_proba(model, image)
    labels = model.predict(image)
    np.testing.assert_array_equal(
        inner(labels, window), model.classes_[expected.argmax(axis=2)], strict=False
    )
    proba = model.predict_proba(image)
    assert proba.dtype == np.float32
    if balance:
        expected = expected / expected.sum(axis=2, keepdims=True)
    np.testing.assert_array_equal(inner(proba, window), expected.astype(np.float32))
    no_answer = np.ones(image.shape[:2], dtype=bool)
    inner(no_answer, window)[...] = False
    assert (labels[no_answer] == 255).all()
    assert np.isnan(proba[no_answer]).all()


def test_a_wide_window_of_few_columns():
    """Images as large as the window have one answer."""
    images, maps = make_shapes(4, 36, 44)
    model = small_segmenter(window=31, samples_per_tree=200).fit(images, maps)
    image = images[0][2:33, 5:36]
    labels = model.predict(image)
    assert np.count_nonzero(labels != 255) == 1
    assert labels[15, 15] == expected_proba(model, image).argmax()


def test_reflection_is_that_of_numpy():
    images, maps = make_shapes(3)
    model = small_segmenter().fit(images, maps).set_params(border="reflect")
    image = np.random.default_rng(0).integers(60, 160, size=(20, 25, 3)).astype(np.uint8)
    padded = np.pad(image, ((3, 3), (3, 3), (0, 0)), mode="reflect")
    expected = expected_proba(model, padded)
    np.testing.assert_array_equal(model.predict(image), expected.argmax(axis=2))
    expected /= expected.sum(axis=2, keepdims=True)
    np.testing.assert_array_equal(model.predict_proba(image), expected.astype(np.float32))


def test_fitting_to_mirrored_images(assert_same_trees):
    images, maps = make_shapes(3)
    model = small_segmenter(border="reflect").fit(images, maps)
    padded = [np.pad(image, ((3, 3), (3, 3), (0, 0)), mode="reflect") for image in images]
    outside = [np.pad(labels, 3, constant_values=99) for labels in maps]
    by_hand = small_segmenter(ignore_label=99).fit(padded, outside)
    assert_same_trees(model.classifier_, by_hand.classifier_)
    np.testing.assert_array_equal(model.class_prior_, by_hand.class_prior_)


def test_the_smallest_image_that_is_mirrored_once():
    images, maps = make_shapes(3)
    model = small_segmenter(border="reflect").fit(images, maps)
    assert (model.predict(images[0][:4, :4]) != 255).all()
    with pytest.raises(
        ValueError, match=r"image has 3 x 4 pixels; with window=7 .* at least 4 x 4"
    ):
        model.predict(images[0][:3, :4])


@pytest.mark.parametrize("n_bytes", [1, 5000])
def test_blocks_of_rows_change_nothing(monkeypatch, n_bytes):
    images, maps = make_shapes(3)
    model = small_segmenter(n_jobs=2).fit(images, maps)
    labels, proba = model.predict(images[0]), model.predict_proba(images[0])
    monkeypatch.setattr(_windows, "_BLOCK_BYTES", n_bytes)
    np.testing.assert_array_equal(model.predict(images[0]), labels)
    np.testing.assert_array_equal(model.predict_proba(images[0]), proba)


# --- what trees are grown from


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_trees_of_all_windows_are_those_of_the_plain_forest(split, dtype, assert_same_trees):
    images, maps = make_shapes(2, 24, 40, 3, dtype)
    params = {"n_estimators": 2, "random_state": 5, "scale": "global"}
    if split == "two_probe":
        params["n_pairs"] = 20
    model = small_segmenter(split=split, balance=False, samples_per_tree=10**6, **params)
    model.fit(images, maps)
    rows = np.concatenate([windows_of(image, 7) for image in images])
    labels = np.concatenate([inner(part, 7).ravel() for part in maps])
    if split == "axis":
        del params["scale"]  # which it does not have
    plain = SPLITS[split](bootstrap=False, **params)
    assert_same_trees(model.classifier_, plain.fit(rows, labels))


def one_leaf(**params):
    """Trees without a split, whose leaves hold what they drew."""
    return small_segmenter(min_impurity_decrease=9.0, **params)


def shares(maps, window):
    counts = np.zeros(3)
    for labels in maps:
        for label in inner(labels, window).ravel():
            counts[label] += 1
    return counts / counts.sum()


@pytest.mark.parametrize("samples_per_tree", [3, 100, 900, 10**6])
def test_balanced_trees_draw_as_many_of_each_class(samples_per_tree):
    images, maps = make_shapes(3)
    model = one_leaf(samples_per_tree=samples_per_tree).fit(images, maps)
    arrays = model.classifier_._forest.arrays()
    np.testing.assert_allclose(arrays["impurity"], np.log2(3), rtol=1e-6)  # in bits, as drawn
    np.testing.assert_array_equal(arrays["weighted_count"], samples_per_tree // 3 * 3)
    np.testing.assert_array_equal(model.sampled_prior_, np.full(3, 1 / 3))
    np.testing.assert_allclose(model.class_prior_, shares(maps, 7), rtol=1e-12)
    # A forest that knows nothing says what is known without it.
    proba = inner(model.predict_proba(images[0]), 7)
    np.testing.assert_allclose(proba, np.broadcast_to(shares(maps, 7), proba.shape), rtol=1e-5)


def test_each_leaf_undoes_the_balance():
    images, maps = make_shapes(3)
    # All pixels are drawn, so that leaves can be counted again: with the weights of the balance,
    # and without.
    model = small_segmenter(max_depth=3, samples_per_tree=3 * 10**6).fit(images, maps)
    rows = np.concatenate([windows_of(image, 7) for image in images])
    truth = np.concatenate([inner(labels, 7).ravel() for labels in maps])
    leaves = model.classifier_.apply(rows)
    proba = model.classifier_.predict_proba(rows)
    expected = np.zeros_like(proba)
    for tree in leaves.T:
        counts = np.zeros((tree.max() + 1, 3))
        np.add.at(counts, (tree, truth), 1.0)
        expected += (counts / counts.sum(axis=1, keepdims=True).clip(1))[tree] / leaves.shape[1]
    assert ((expected > 0.01) & (expected < 0.99)).any()  # leaves are not all certain
    np.testing.assert_allclose(proba, expected, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("window", [5, 7])  # 75 values, of which bytes are copied as such; 147
@pytest.mark.parametrize("params", [{}, {"solver": "cccp"}, {"refine": 1}], ids=str)
def test_centred_hyperplanes_do_not_see_brightness(dtype, window, params):
    images, maps = make_shapes(3, dtype=dtype)
    images = [image // 2 if dtype == np.uint8 else image / 2 for image in images]
    light = np.array([40, 10, 90] if dtype == np.uint8 else [0.3, 0.1, 0.4], dtype=dtype)
    wrong = {}
    for center in (True, False):
        model = small_segmenter(window=window, center=center, **params).fit(images, maps)
        shifted = model.predict(images[0] + light) != model.predict(images[0])
        wrong[center] = inner(shifted, window).mean()
        arrays = model.classifier_._forest.arrays()
        weights = np.array(
            [weights_of(arrays, node) for node in np.flatnonzero(arrays["left"] >= 0)]
        )
        by_channel = weights.reshape(len(weights), -1, 3)
        sums = abs(by_channel.sum(axis=1)).max(axis=1) / abs(weights).sum(axis=1)
        assert (sums < 0.01).all() == center  # weights are rounded to eight bits
    assert wrong[True] < 0.02
    assert wrong[False] > 5 * wrong[True] + 0.02


def test_a_window_of_one_pixel_cannot_be_centred():
    images, maps = make_shapes(2)
    maps = [(image[..., 0] > 128).astype(int) for image in images]
    assert small_segmenter(window=1).fit(images, maps).score(images, maps) > 95


def test_without_balance_trees_draw_pixels_alike():
    images, maps = make_shapes(3)
    everything = one_leaf(balance=False, samples_per_tree=10**6).fit(images, maps)
    proba = everything.classifier_.predict_proba(windows_of(images[0], 7)[:1])
    np.testing.assert_allclose(proba[0], shares(maps, 7), rtol=1e-6)
    some = one_leaf(balance=False, samples_per_tree=900, n_estimators=20).fit(images, maps)
    proba = some.classifier_.predict_proba(windows_of(images[0], 7)[:1])
    np.testing.assert_allclose(proba[0], shares(maps, 7), atol=0.02)
    assert (proba[0] != shares(maps, 7)).all()
    np.testing.assert_array_equal(some.sampled_prior_, some.class_prior_)


def test_ignored_pixels_are_neither_drawn_nor_counted():
    images, maps = make_shapes(3)
    holes = [np.where(labels == 2, 77, labels) for labels in maps]
    model = one_leaf(ignore_label=77).fit(images, holes)
    assert model.classes_.tolist() == [0, 1]
    expected = shares(maps, 7)[:2]
    np.testing.assert_allclose(model.class_prior_, expected / expected.sum())
    assert model.void_label_ == 77


def test_trees_draw_windows_of_their_own():
    images, maps = make_shapes(3)
    model = small_segmenter(samples_per_tree=60, max_features=None, split="axis")
    roots = [tree._forest.arrays() for tree in model.fit(images, maps).classifier_.estimators_]
    assert (
        len({arrays["weight"].tobytes() + arrays["threshold"].tobytes() for arrays in roots}) == 3
    )


def test_parts_of_rows_are_those_of_a_tree():
    images, maps = make_shapes(3)
    by_part = small_segmenter(min_samples_leaf=0.1).fit(images, maps)
    by_count = small_segmenter(min_samples_leaf=90).fit(images, maps)
    np.testing.assert_array_equal(by_part.predict(images[0]), by_count.predict(images[0]))


# --- what it learns


@pytest.mark.parametrize(("split", "least"), [("co2", 90), ("two_probe", 69), ("axis", 74)])
def test_shapes_are_learned(split, least):
    """Labels that are off by two pixels give 77, 62 and 67."""
    images, maps = make_shapes(10)
    model = small_segmenter(
        window=9,
        n_estimators=6,
        samples_per_tree=6000,
        split=split,
        border="reflect",
        balance=split != "two_probe",
        n_pairs=60,
    )
    model.fit(images[:7], maps[:7])
    score = model.score(images[7:], maps[7:])
    assert score > least
    table = model.jaccard_table(images[7:], maps[7:])
    assert table.mean == score
    by_hand = jaccard_table(maps[7:], [model.predict(image) for image in images[7:]])
    np.testing.assert_array_equal(table.jaccard, by_hand.jaccard)


def test_importances_are_an_image():
    """The label is told by the value two rows below and one column to the left, in channel 1."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, size=(40, 40, 3)).astype(np.uint8)
    labels = np.zeros((40, 40), dtype=int)
    labels[:-2, 1:] = image[2:, :-1, 1] > 120
    model = small_segmenter(window=5, split="axis", max_features=None).fit([image], [labels])
    assert model.feature_importances_.shape == (5, 5, 3)
    assert model.feature_importances_[4, 1, 1] > 0.99


def test_what_scores_count():
    images, maps = make_shapes(3)
    model = small_segmenter(ignore_label=50).fit(images, maps)
    truth = [labels.astype(int) for labels in maps]
    truth[0][10:14] = 50  # does not count
    truth[1][20:22] = 9  # is not known to the model
    truth[2][:3] = 7  # is where there is no answer
    table = model.jaccard_table(images, truth)
    assert table.classes.tolist() == [0, 1, 2, 9]
    counted = sum(np.count_nonzero(inner(labels, 7) != 50) for labels in truth)
    assert table.true_positives.sum() + table.false_negatives.sum() == counted
    assert table.true_positives.sum() + table.false_positives.sum() == counted
    assert table.jaccard[3] == 0.0
    assert model.score(images, truth) == np.mean(table.jaccard)


@pytest.mark.parametrize(
    ("channels", "dtype", "scale"),
    [
        (1, np.uint8, "global"),
        (3, np.uint8, "global"),
        (1, np.float32, "global"),
        (3, np.float32, "standard"),
    ],
)
def test_automatic_scale(channels, dtype, scale):
    images, maps = make_shapes(3, channels=channels, dtype=dtype)
    model = small_segmenter().fit(images, maps)
    assert model.scale_ == model.classifier_.scale_ == scale
    assert small_segmenter(scale="minmax").fit(images, maps).scale_ == "minmax"
    assert small_segmenter(split="axis").fit(images, maps).scale_ is None


def test_float_channels_in_other_units():
    images, maps = make_shapes(3, dtype=np.float32)
    scaled = [image * np.array([1, 1e6, 1e-6], dtype=np.float32) for image in images]
    plain, other = (small_segmenter().fit(some, maps) for some in (images, scaled))
    assert abs(plain.score(images, maps) - other.score(scaled, maps)) < 3


# --- an estimator like others


def test_parameters_reach_the_forest():
    images, maps = make_shapes(3)
    params = {"nu": 3.0, "learning_rate": 0.1, "max_depth": 4, "max_leaf_nodes": 9, "refine": 1}
    model = small_segmenter(**params, n_jobs=2, random_state=3).fit(images, maps)
    inside = model.classifier_.get_params()
    assert params.items() <= inside.items()
    assert (inside["n_jobs"], inside["random_state"], inside["n_estimators"]) == (2, 3, 3)
    assert inside["bootstrap"] is False
    pairs = small_segmenter(split="two_probe", n_pairs=4).fit(images, maps)
    assert pairs.classifier_.n_pairs == 4


def test_clone_and_parameters():
    images, maps = make_shapes(3)
    model = small_segmenter(nu=2.0).fit(images, maps)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "classifier_")
    twin.set_params(window=5, nu="auto")
    assert twin.fit(images, maps).window_ == 5
    assert ForestSegmenter().get_params().keys() == ForestSegmenter._parameter_constraints.keys()


def test_parameters_changed_after_a_fit_do_not_matter_to_it():
    images, maps = make_shapes(3)
    model = small_segmenter().fit(images, maps)
    labels = model.predict(images[0])
    model.set_params(window=9, split="axis", balance=False, n_estimators=9, samples_per_tree=5)
    np.testing.assert_array_equal(model.predict(images[0]), labels)


@pytest.mark.parametrize("split", SPLITS)
def test_threads_change_nothing(split, digest_of):
    images, maps = make_shapes(3)
    models = [small_segmenter(split=split, n_jobs=n).fit(images, maps) for n in (None, 1, 2)]
    assert len({digest_of(model) for model in models}) == 1
    assert len({model.predict_proba(images[0]).tobytes() for model in models}) == 1


def test_seeds():
    images, maps = make_shapes(3)
    results = [
        small_segmenter(random_state=seed).fit(images, maps).predict_proba(images[0]).tobytes()
        for seed in (0, 0, np.random.RandomState(0), 1, None, None)
    ]
    assert len(set(results[:3])) == 1
    assert len(set(results[2:])) == 4


@pytest.mark.parametrize("split", SPLITS)
def test_a_warm_start_is_one_fit(split, digest_of):
    images, maps = make_shapes(3)
    whole = small_segmenter(split=split, n_estimators=5, warm_start=True).fit(images, maps)
    model = small_segmenter(split=split, n_estimators=2, warm_start=True).fit(images, maps)
    model.set_params(n_estimators=5).fit(images, maps)
    assert digest_of(model) == digest_of(whole)
    with pytest.warns(UserWarning, match="n_estimators has not grown") as caught:
        model.fit(images, maps)
    assert caught[0].filename == __file__
    model.set_params(n_estimators=4)
    with pytest.raises(ValueError, match="n_estimators=4 must be at least the 5 trees"):
        model.fit(images, maps)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"window": 5}, "window differs from the first fit: 5, not 7"),
        ({"split": "axis"}, "split differs from the first fit: 'axis', not 'co2'"),
        ({"balance": False}, "balance differs from the first fit: False, not True"),
    ],
)
def test_a_warm_start_must_be_of_the_same_kind(params, message):
    images, maps = make_shapes(3)
    model = small_segmenter(warm_start=True).fit(images, maps)
    model.set_params(n_estimators=6, **params)
    with pytest.raises(ValueError, match=message):
        model.fit(images, maps)


def test_a_warm_start_needs_the_same_data():
    images, maps = make_shapes(3)
    model = small_segmenter(warm_start=True).fit(images, maps).set_params(n_estimators=6)
    with pytest.raises(ValueError, match=r"number of channels differs .*: 1, not 3"):
        model.fit([image[:, :, 0] for image in images], maps)
    with pytest.raises(ValueError, match=r"dtype of images differs .*'float32', not 'uint8'"):
        model.fit([image.astype(float) for image in images], maps)
    with pytest.raises(ValueError, match="other classes than in the first fit"):
        model.fit(images, [labels + 1 for labels in maps])
    assert model.classifier_.n_estimators == 3


def test_a_failed_fit_leaves_the_model_as_it_was():
    images, maps = make_shapes(3)
    model = small_segmenter().fit(images, maps)
    before = dict(vars(model))
    proba = model.predict_proba(images[0])
    for broken in (maps[:2], [np.zeros((36, 44)) + np.nan] * 3, [np.full((36, 44), "x")] * 3):
        with pytest.raises(ValueError, match="label_maps"):
            model.fit(images, broken)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict_proba(images[0]), proba)


def test_progress(capfd):
    images, maps = make_shapes(3)
    with warnings.catch_warnings(action="error"):
        small_segmenter(verbose=1).fit(images, maps)
    assert "3/3 trees" in capfd.readouterr().err
    small_segmenter().fit(images, maps).predict(images[0])
    assert capfd.readouterr().err == ""


def test_the_guide_runs(capsys):
    guide = Path(__file__).parents[2] / "docs" / "segmentation.md"
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2
    assert names["proba"].shape == (80, 100, 3)
    assert names["segmenter"].score(names["images"][9:], names["maps"][9:]) > 80
    assert "mean Jaccard" in capsys.readouterr().out
