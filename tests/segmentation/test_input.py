# SPDX-License-Identifier: BSD-3-Clause
"""Images and label maps of every kind: they work, or an error names the image and what is wrong."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from co2forest.segmentation import ForestSegmenter
from co2forest.segmentation.images import checked_image, checked_map, codes_of, labels_in
from shapes import make_shapes, small_segmenter

IMAGES, MAPS = make_shapes(3, channels=1)


def fit(images=IMAGES, maps=MAPS, **params):
    return small_segmenter(**params).fit(images, maps)


def changed(values, number, new):
    return [*values[:number], new, *values[number + 1 :]]


# --- what is wrong is said with its place

BAD_IMAGES = [
    ([], "images is empty; at least one is needed"),
    ("abc", "images must be a list of arrays, got 'abc'"),
    ({"a": IMAGES[0]}, "images must be a list of arrays"),
    (None, "images must be a list of arrays, got None"),
    (np.array(5), "images must be a list of arrays, got an array without axes"),
    (IMAGES[0][:, :, 0], r"images\[0\] has shape \(44,\); an image must have shape"),
    (changed(IMAGES, 1, np.zeros((2, 3, 4, 5), np.uint8)), r"images\[1\] has shape \(2, 3, 4, 5\)"),
    (changed(IMAGES, 2, np.zeros((0, 44), np.uint8)), r"images\[2\] has shape .*no pixels"),
    (changed(IMAGES, 2, IMAGES[0] > 9), r"images\[2\] is bool; .*255 \* array.astype\('uint8'\)"),
    (changed(IMAGES, 0, IMAGES[0].astype(np.int64)), r"images\[0\] is int64; .*from 0 to 255"),
    (changed(IMAGES, 1, IMAGES[0].tolist()), r"images\[1\] is int64"),
    (changed(IMAGES, 1, IMAGES[0] * 1j), r"images\[1\] is complex128"),
    (changed(IMAGES, 1, np.full((36, 44), "a")), r"images\[1\] must be an array of numbers"),
    (changed(IMAGES, 1, np.full((36, 44), None)), r"images\[1\] must be an array of numbers"),
    (changed(IMAGES, 1, np.ma.masked_equal(IMAGES[1], 9)), r"images\[1\] is a masked array; fill"),
    (changed(IMAGES, 1, [[1, 2], [3]]), r"images\[1\] cannot be read as an array"),
    (changed(IMAGES, 1, np.zeros((36, 44, 3), np.uint8)), r"images\[1\] has 3 channels, but imag"),
    (changed(IMAGES, 2, IMAGES[2] / 255), r"images\[2\] is read as float32, but images\[0\] as ui"),
    (changed(IMAGES, 2, IMAGES[2][:6]), r"images\[2\] has 6 x 44 pixels; with window=7 .* 7 x 7"),
    (changed(IMAGES, 0, IMAGES[0][:, :5]), r"images\[0\] has 36 x 5 pixels"),
    ([np.full((36, 44), np.inf)] * 3, r"images\[0\] has infinite values; use NaN"),
    ([np.full((36, 44), -1e300)] * 3, r"images\[0\] has values beyond 1e\+38"),
    ([np.full((36, 44), 2e38)] * 3, r"images\[0\] has values beyond 1e\+38"),
]


@pytest.mark.parametrize(("images", "message"), BAD_IMAGES)
def test_bad_images(images, message):
    with pytest.raises(ValueError, match=message):
        fit(images)


BAD_MAPS = [
    ([], "label_maps is empty"),
    (MAPS[:2], "images has 3 and label_maps 2 entries"),
    (
        changed(MAPS, 1, MAPS[0].T),
        r"label_maps\[1\] has shape \(44, 36\), but images\[1\] has \(36",
    ),
    (changed(MAPS, 1, MAPS[0][:, :, None]), r"label_maps\[1\] has shape .*colours must be turned"),
    (changed(MAPS, 2, MAPS[0] + 0.5), r"label_maps\[2\] is float64 .*not whole numbers, like 0.5"),
    (changed(MAPS, 2, MAPS[0] + np.nan), r"label_maps\[2\] is float64 .*not whole numbers, like n"),
    (changed(MAPS, 2, MAPS[0] + 1e17), r"label_maps\[2\] is float64 .*not whole numbers, like 1e"),
    (changed(MAPS, 0, MAPS[0].astype(str)), r"label_maps\[0\] must be an array of numbers"),
    (changed(MAPS, 0, MAPS[0] * 1j), r"label_maps\[0\] is complex128"),
    (changed(MAPS, 0, MAPS[0] + np.uint64(2**63)), r"label_maps\[0\] has the label 92233720368547"),
    ([np.arange(36 * 44).reshape(36, 44)] * 3, "label_maps has 1584 different labels, but 255 at"),
]


@pytest.mark.parametrize(("maps", "message"), BAD_MAPS)
def test_bad_maps(maps, message):
    with pytest.raises(ValueError, match=message):
        fit(maps=maps)


def test_files_are_named():
    names = ["a.png", "b.png", "c.png"]
    with pytest.raises(ValueError, match=r"images\[1\] \(b.png\)"):
        small_segmenter()._fit(changed(IMAGES, 1, IMAGES[1] / 9), MAPS, names)
    message = r"label_maps\[2\] \(c.png\) has shape \(44, 36\), but images\[2\] \(c.png\) has"
    with pytest.raises(ValueError, match=message):
        small_segmenter()._fit(IMAGES, changed(MAPS, 2, MAPS[2].T), names)
    with pytest.raises(ValueError, match=r"images\[0\] \(a.png\) has 5 x 44 pixels"):
        small_segmenter()._fit(changed(IMAGES, 0, IMAGES[0][:5]), MAPS, names)


def test_a_class_that_is_only_near_the_border():
    maps = [labels.copy() for labels in MAPS]
    maps[1][:3] = 9
    message = (
        r"the class 9 has no pixel that is at least 3 pixels away .*border='reflect', .*, or "
        "ignore_label=9"
    )
    with pytest.raises(ValueError, match=message):
        fit(maps=maps)
    assert 9 in fit(maps=maps, border="reflect").classes_
    assert 9 in fit(maps=maps, window=5).classes_
    assert fit(maps=maps, ignore_label=9).classes_.tolist() == [0, 1, 2]


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="all pixels of label_maps have ignore_label=4"):
        fit(maps=[np.full((36, 44), 4)] * 3, ignore_label=4)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"window": 6}, "window=6 must be odd, .*: 5 or 7, for example"),
        ({"window": 0}, "The 'window' parameter .* must be an int in the range"),
        ({"window": 7.0}, "The 'window' parameter"),
        ({"window": 10**9 + 1}, r"images\[0\] has 36 x 44 pixels; with window=1000000001"),
        ({"samples_per_tree": 2}, "samples_per_tree=2 must be at least the number of classes, 3"),
        ({"samples_per_tree": 2**31}, "The 'samples_per_tree' parameter"),
        ({"split": "lda"}, "The 'split' parameter"),
        ({"border": "wrap"}, "The 'border' parameter"),
        ({"balance": 2}, "The 'balance' parameter"),
        ({"ignore_label": "x"}, "The 'ignore_label' parameter"),
        ({"ignore_label": 2**63}, "The 'ignore_label' parameter"),
        ({"nu": -1}, "The 'nu' parameter"),
        ({"n_pairs": 0}, "The 'n_pairs' parameter"),
        ({"n_estimators": 0}, "The 'n_estimators' parameter"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        fit(**params)


# --- prediction and scores


def test_not_fitted():
    for ask in (
        lambda model: model.predict(IMAGES[0]),
        lambda model: model.predict_proba(IMAGES[0]),
        lambda model: model.score(IMAGES, MAPS),
        lambda model: model.jaccard_table(IMAGES, MAPS),
        lambda model: model.feature_importances_,
        lambda model: model.save("nowhere"),
    ):
        with pytest.raises(NotFittedError, match="ForestSegmenter instance is not fitted yet"):
            ask(ForestSegmenter())


@pytest.fixture(scope="module")
def fitted():
    return fit()


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((20, 20, 3), np.uint8), "image has 3 channels, but .* fitted to have 1"),
        (np.zeros((20, 6), np.uint8), "image has 20 x 6 pixels; .* at least 7 x 7, or border='ref"),
        (IMAGES, r"must be a single image, got 3 of them"),
        (np.zeros((20, 20), np.int32), "image is int32"),
        (np.zeros((20, 20)), "image is read as float32, but those .* fitted to as uint8; bring"),
        (np.zeros((0, 20), np.uint8), "image has shape .*no pixels"),
        (np.full((20, 20), np.inf), "image has infinite values"),
        (None, "image must be an array of numbers"),
    ],
)
def test_images_that_cannot_be_predicted(fitted, method, image, message):
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(image)


def test_scores_name_the_image(fitted):
    with pytest.raises(ValueError, match=r"images\[1\] has 5 x 44 pixels"):
        fitted.score(changed(IMAGES, 1, IMAGES[1][:5]), changed(MAPS, 1, MAPS[1][:5]))
    with pytest.raises(ValueError, match=r"images\[0\] has 3 channels"):
        fitted.score([np.zeros((20, 20, 3), np.uint8)], [np.zeros((20, 20), int)])
    with pytest.raises(ValueError, match=r"label_maps\[2\] has shape \(44, 36\)"):
        fitted.jaccard_table(IMAGES, changed(MAPS, 2, MAPS[2].T))


def test_a_border_that_became_wrong():
    model = fit().set_params(border="wrap")
    with pytest.raises(ValueError, match="The 'border' parameter"):
        model.predict(IMAGES[0])
    with pytest.raises(ValueError, match="The 'border' parameter"):
        model.score(IMAGES, MAPS)


# --- what works, and what it is taken for


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def misaligned(array):
    buffer = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    assert array.itemsize == 1 or not view.flags.aligned
    return view


FORMS = {
    "as an array": np.stack,
    "as an object array": lambda arrays: np.array([*arrays, None], dtype=object)[:-1],
    "as a tuple": tuple,
    "one by one": iter,
    "read-only": lambda arrays: [read_only(array) for array in arrays],
    "in columns": lambda arrays: [np.asfortranarray(array) for array in arrays],
    "turned twice": lambda arrays: [array[::-1].copy()[::-1] for array in arrays],
    "misaligned": lambda arrays: [misaligned(array) for array in arrays],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_forms_of_the_data(form, dtype, assert_same_trees):
    images = [image.astype(dtype) for image in IMAGES]
    maps = [labels.astype(np.int64) for labels in MAPS]
    expected = fit(images, maps)
    model = fit(FORMS[form](images), FORMS[form](maps))
    assert_same_trees(expected.classifier_, model.classifier_)
    image = next(iter(FORMS[form](images)))
    np.testing.assert_array_equal(model.predict(image), expected.predict(images[0]))
    assert model.score(FORMS[form](images), FORMS[form](maps)) == expected.score(images, maps)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.uint16, ">f8", ">u2", np.longdouble])
def test_numbers_that_become_float32(dtype, assert_same_trees):
    expected = fit([image.astype(np.float32) for image in IMAGES])
    model = fit([image.astype(dtype) for image in IMAGES])
    assert_same_trees(expected.classifier_, model.classifier_)


def test_grey_images_with_and_without_an_axis_of_channels(assert_same_trees):
    expected = fit()
    model = fit([IMAGES[0][:, :, 0], *IMAGES[1:]])
    assert_same_trees(expected.classifier_, model.classifier_)
    np.testing.assert_array_equal(model.predict(IMAGES[0][:, :, 0]), expected.predict(IMAGES[0]))


def test_images_of_different_sizes():
    images = [IMAGES[0], IMAGES[1][:20], IMAGES[2][:, 5:40]]
    maps = [MAPS[0], MAPS[1][:20], MAPS[2][:, 5:40]]
    model = fit(images, maps)
    assert [model.predict(image).shape for image in images] == [m.shape for m in maps]


def test_nothing_is_copied_that_need_not_be():
    for image in (IMAGES[0], IMAGES[0].astype(np.float32), IMAGES[0][:, :, 0]):
        assert np.shares_memory(checked_image(image, ""), image)
    assert np.shares_memory(checked_map(MAPS[0], ""), MAPS[0])


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", "f8", "?"]
)
def test_labels_of_every_dtype(dtype):
    maps = [(labels > 0).astype(dtype) for labels in MAPS]
    model = fit(maps=maps)
    assert model.classes_.tolist() == [0, 1]
    assert model.classes_.dtype.kind in "iu"
    labels = model.predict(IMAGES[0])
    assert set(np.unique(labels)) <= {0, 1, 255}
    assert np.count_nonzero(labels == 255) == 36 * 44 - 30 * 38


def test_labels_of_several_dtypes():
    maps = [MAPS[0], MAPS[1].astype(np.int32), MAPS[2].astype(float)]
    assert fit(maps=maps).classes_.tolist() == [0, 1, 2]
    assert labels_in(maps).dtype == np.int64


@pytest.mark.parametrize(
    ("old", "new", "ignore_label", "void", "dtype"),
    [
        (2, 2, None, 255, np.uint8),
        (2, 255, None, -1, np.int16),
        (2, 200, 7, 7, np.uint8),
        (2, 200, -5, -5, np.int16),
        (2, 200, 70_000, 70_000, np.int32),
        (2, 200, 2**62, 2**62, np.int64),
    ],
)
def test_the_label_of_pixels_without_an_answer(old, new, ignore_label, void, dtype):
    maps = [np.where(labels == old, new, labels).astype(np.uint8) for labels in MAPS]
    model = fit(maps=maps, ignore_label=ignore_label)
    labels = model.predict(IMAGES[0])
    assert model.void_label_ == void
    assert labels.dtype == dtype
    assert (labels[:3] == void).all()
    assert not (labels[3:-3, 3:-3] == void).any()


def test_both_usual_void_labels_are_classes():
    maps = [np.where(labels == 2, 255, -labels.astype(int)) for labels in MAPS]
    model = fit(maps=maps)
    assert model.classes_.tolist() == [-1, 0, 255]
    assert model.void_label_ == -2


def test_one_class():
    model = fit(maps=[np.full((36, 44), 3)] * 3)
    proba = model.predict_proba(IMAGES[0])
    assert (proba[3:-3, 3:-3] == 1.0).all()
    assert model.score(IMAGES, [np.full((36, 44), 3)] * 3) == 100.0


def test_255_classes():
    rng = np.random.default_rng(0)
    maps = [rng.permutation(np.arange(36 * 44) % 255).reshape(36, 44) for _ in range(3)]
    model = fit(maps=maps, max_depth=3)
    assert len(model.classes_) == 255
    np.testing.assert_allclose(model.predict_proba(IMAGES[0])[5, 5].sum(), 1.0, rtol=1e-5)


def test_no_warnings_on_the_way():
    images = [np.where(image > 200, np.nan, image).astype(np.float64) for image in IMAGES]
    with warnings.catch_warnings(action="error"):
        model = fit(images)
        model.predict_proba(images[0])
        model.score(images, MAPS)


def test_codes_of_maps_with_several_blocks():
    labels = np.random.default_rng(0).integers(-3, 9, size=(1300, 1000))
    classes = np.array([-2, 0, 5])
    expected = np.full(labels.shape, 255)
    for code, label in enumerate(classes):
        expected[labels == label] = code
    np.testing.assert_array_equal(codes_of(labels, classes, np.uint8, 255), expected)
