# SPDX-License-Identifier: BSD-3-Clause
"""Segmenters in model files and pickles: all comes back, and nothing unchecked."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone

from co2forest import (
    TRUSTED_TYPES,
    CO2ForestClassifier,
    ModelFormatError,
    load_model,
    save_model,
    to_c,
)
from co2forest.segmentation import ForestSegmenter
from damage import contents, reseal
from fitted_state import assert_same_state
from shapes import make_shapes, small_segmenter

IMAGES, MAPS = make_shapes(3, channels=2)


@pytest.fixture(scope="module")
def fitted():
    """A small fitted segmenter, which no test changes."""
    return small_segmenter().fit(IMAGES, MAPS)


def assert_same(model, twin):
    ignore = ("classifier_", "n_jobs", "verbose", "random_state")
    assert_same_state(model, twin, ignore)
    assert_same_state(model.classifier_, twin.classifier_, ignore)
    assert twin.classes_.dtype == model.classes_.dtype
    for image in IMAGES[:2]:
        np.testing.assert_array_equal(twin.predict(image), model.predict(image))
        np.testing.assert_array_equal(twin.predict_proba(image), model.predict_proba(image))


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize(
    "estimator",
    [
        small_segmenter(),
        small_segmenter(split="axis", ignore_label=1),
        small_segmenter(split="two_probe", balance=False, border="reflect"),
        small_segmenter(nu=3.0, solver="cccp", max_depth=3, scale=None, warm_start=True),
        small_segmenter(window=np.int64(5), ignore_label=np.uint8(2), balance=np.True_),
    ],
    ids=repr,
)
def test_everything_comes_back(estimator, path, mmap_mode):
    model = clone(estimator).fit(IMAGES, MAPS)
    save_model(model, path)
    twin = load_model(path, mmap_mode=mmap_mode)
    if not isinstance(estimator.window, np.int64):
        assert_same(model, twin)
    assert twin.get_params() == model.get_params()
    np.testing.assert_array_equal(twin.predict(IMAGES[0]), model.predict(IMAGES[0]))
    np.testing.assert_array_equal(twin.feature_importances_, model.feature_importances_)
    assert (twin.window_, twin.void_label_) == (model.window_, model.void_label_)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8", ">i4", "f8", "?"])
def test_labels_of_every_dtype(dtype, path):
    model = small_segmenter().fit(IMAGES, [(labels > 0).astype(dtype) for labels in MAPS])
    model.save(path)
    assert_same(model, load_model(path))


@pytest.mark.parametrize("way", ["pickle", "skops", "copy", "deepcopy", "joblib"])
def test_other_ways(fitted, way, tmp_path):
    def through_joblib(model):
        joblib.dump(model, tmp_path / "model")
        return joblib.load(tmp_path / "model")

    twin = {
        "pickle": lambda model: pickle.loads(pickle.dumps(model)),
        "skops": lambda model: skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_TYPES),
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "joblib": through_joblib,
    }[way](fitted)
    assert_same(fitted, twin)


def test_the_same_model_has_the_same_bytes(path):
    files = set()
    for n_jobs in (1, 2):
        small_segmenter(n_jobs=n_jobs, verbose=0).fit(IMAGES, MAPS).save(path)
        files.add(path.read_bytes())
    for mmap_mode in (None, "r"):
        load_model(path, mmap_mode=mmap_mode).save(path)
        files.add(path.read_bytes())
    assert len(files) == 1
    small_segmenter(random_state=1).fit(IMAGES, MAPS).save(path)
    assert path.read_bytes() not in files


def test_a_warm_start_goes_on(path, assert_same_trees):
    model = small_segmenter(warm_start=True).fit(IMAGES, MAPS)
    model.save(path)
    twin = load_model(path).set_params(n_estimators=5).fit(IMAGES, MAPS)
    whole = small_segmenter(n_estimators=5).fit(IMAGES, MAPS)
    assert_same_trees(twin.classifier_, whole.classifier_)
    np.testing.assert_array_equal(twin.class_prior_, whole.class_prior_)


def test_parameters_changed_after_the_fit(path):
    """The file keeps what was fitted, and what it would be fitted with."""
    model = small_segmenter().fit(IMAGES, MAPS).set_params(window=9, split="axis", balance=False)
    model.save(path)
    twin = load_model(path)
    assert (twin.window, twin.split, twin.balance) == (9, "axis", False)
    assert (twin.window_, twin.balance_) == (7, True)
    assert type(twin.classifier_) is CO2ForestClassifier
    np.testing.assert_array_equal(twin.predict_proba(IMAGES[0]), model.predict_proba(IMAGES[0]))


def test_a_pickle_of_one_that_is_not_fitted():
    assert pickle.loads(pickle.dumps(ForestSegmenter(5))).window == 5


def test_the_forest_can_be_exported(fitted):
    assert "co2forest" in to_c(fitted.classifier_)
    with pytest.raises(TypeError, match="for a segmenter classifier_"):
        to_c(fitted)


# --- with a right checksum, only the checks of the contents can help


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("split", "lda", "'split' must be one of"),
        ("split", None, "'split' must be one of"),
        ("split", ["co2"], "'split' must be one of"),
        ("window", 9, "window_=9 and n_channels_=2 do not agree with 98 features"),
        ("window", 7.0, "'window' must be a whole number"),
        ("window", -7, "'window' must be a whole number"),
        ("window", True, "'window' must be a whole number"),
        ("n_channels", 3, "do not agree with 98 features"),
        ("n_channels", 0, "'n_channels' must be a whole number"),
        ("image_dtype", "float64", "'image_dtype' must be 'uint8' or 'float32', got 'float64'"),
        ("image_dtype", ["uint8"], "'image_dtype' must be 'uint8' or 'float32'"),
        ("balance", 1, "'balance' must be true or false"),
        ("balance", None, "'balance' must be true or false"),
        ("void_label", 1, "void_label_=1 is a class"),
        ("void_label", 2**63, "'void_label' must be a whole number"),
        ("void_label", "255", "'void_label' must be a whole number"),
        ("classes", {"dtype": "<f8", "values": [0, 1, 2]}, "classes_ must be whole numbers"),
        ("classes", {"dtype": "<u8", "values": [0, 1, 2]}, "classes_ must be whole numbers"),
        ("classes", {"dtype": "|O", "values": ["a", "b", "c"]}, "classes_ must be whole numbers"),
        ("classes", {"dtype": "|u1", "values": [2, 1, 0]}, "classes_ must be sorted"),
        ("classes", {"dtype": "|u1", "values": [0, 1]}, "forest array"),
        ("feature_names", ["a"] * 98, "the forest of a segmenter has no feature_names_in_"),
        ("n_labels", 3, "without a value"),
        ("oob_score", 0.5, "the forest of a segmenter has no oob_score_"),
    ],
)
def test_values_that_cannot_be(fitted, path, name, value, message):
    fitted.save(path)
    header, arrays = contents(path.read_bytes())
    header["fitted"][name] = value
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


@pytest.mark.parametrize("name", ["split", "window", "n_channels", "image_dtype", "balance"])
def test_values_that_are_missing(fitted, path, name):
    fitted.save(path)
    header, arrays = contents(path.read_bytes())
    del header["fitted"][name]
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=f"'{name}' is missing"):
        load_model(path)


@pytest.mark.parametrize(
    "prior",
    [
        None,
        [0.5, 0.5],
        [0.5, 0.5, 0.0],
        [0.5, 0.7, -0.2],
        [0.5, 0.5, np.nan],
        [0.5, 0.5, 1e-30],
        [0.5, 0.5, 0.5],
        [[0.2, 0.3, 0.5]],
    ],
)
def test_priors_that_cannot_be(fitted, path, prior):
    fitted.save(path)
    header, arrays = contents(path.read_bytes())
    del arrays["class_prior"]
    if prior is not None:
        arrays["class_prior"] = np.array(prior)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match=r"class_prior"):
        load_model(path)


def test_costs_do_not_belong_there(fitted, path):
    fitted.save(path)
    header, arrays = contents(path.read_bytes())
    arrays["cost_matrix"] = 1.0 - np.eye(3)
    path.write_bytes(reseal(header, arrays))
    with pytest.raises(ModelFormatError, match="the forest of a segmenter has no cost_matrix_"):
        load_model(path)


def test_parameters_that_cannot_be(fitted, path):
    fitted.save(path)
    for name, value in (("window", 8), ("border", "wrap"), ("ignore_label", 0.5), ("split", 3)):
        header, arrays = contents(path.read_bytes())
        header["parameters"][name] = value
        other = path.with_name("other")
        other.write_bytes(reseal(header, arrays))
        with pytest.raises(ModelFormatError, match=name):
            load_model(other)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classifier_", None),
        ("classifier_", CO2ForestClassifier(2, mixture=None)),
        ("window_", 5),
        ("n_channels_", None),
        ("class_prior_", np.ones(3)),
        ("class_prior_", "abc"),
        ("void_label_", 0),
        ("balance_", "yes"),
        ("image_dtype_", None),
    ],
)
def test_pickles_are_checked(fitted, name, value):
    twin = copy.copy(fitted)
    setattr(twin, name, value)
    with pytest.raises(ModelFormatError):
        pickle.loads(pickle.dumps(twin))
    broken = copy.copy(fitted)
    delattr(broken, "window_")
    with pytest.raises(ModelFormatError, match="not a fitted ForestSegmenter"):
        pickle.loads(pickle.dumps(broken))
