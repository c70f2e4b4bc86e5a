# SPDX-License-Identifier: BSD-3-Clause
"""Model files: everything that a fitted estimator is comes back."""

import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from co2forest import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    load_model,
    save_model,
)
from damage import join, split
from fitted_state import assert_same_state
from small_models import CODES, X, run


def round_trip(model, path, **options):
    save_model(model, path)
    return load_model(path, **options)


def assert_same(model, twin):
    assert_same_state(model, twin)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


# --- everything comes back


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize(
    "estimator",
    [
        CO2ForestClassifier(3, mixture=None),
        CO2TreeClassifier(),
        CO2ForestClassifier(20, bootstrap=True, oob_score=True, max_leaf_nodes=4, mixture=None),
        CO2ForestClassifier(2, max_samples=0.5, class_weight="balanced_subsample", mixture=None),
        CO2ForestClassifier(2, solver="cccp", nu=3.0, max_features=None, max_depth=2, mixture=None),
        CO2ForestClassifier(
            2, class_weight={0: 1.5, 1: 2}, min_samples_leaf=0.1, scale=None, mixture=None
        ),
        CO2TreeClassifier(class_weight={2: 0}),
        CO2ForestClassifier(2, random_state=7, warm_start=True, max_depth=10**30, mixture=None),
    ],
    ids=repr,
)
def test_everything_comes_back(estimator, path, mmap_mode):
    model = clone(estimator).fit(X, CODES)
    twin = round_trip(model, path, mmap_mode=mmap_mode)
    assert_same(model, twin)
    assert twin.get_params() == model.get_params()
    np.testing.assert_array_equal(twin.feature_importances_, model.feature_importances_)


LABELS = {
    "bool": np.array([False, True]),
    "object": np.array(["cat", "dog\0", 'a "b" \\ \n \N{OWL} \ud800'], dtype=object),
    "U1": np.array(["a", "b", "c"]),
    "U40": np.array(["", "b" * 39, "\N{OWL}"], dtype="U40"),
    ">U3": np.array(["abc", "b", "\N{OWL}"], dtype=">U3"),
    "int64": np.array([-(2**63), 0, 2**63 - 1]),
    "uint64": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "np.str_": np.array([np.str_("a"), np.str_("b"), np.str_("c")], dtype=object),
    "float64": np.array([-1e15, 0.0, 2.0**60]),
    "longdouble": np.array([1, 2, 2**62 + 1], dtype=object).astype(np.longdouble),
    "datetime": np.array(["1815-12-10", "2000-01-01", "2262-04-11"], dtype="M8[D]"),
    "datetime in ns": np.array([0, 1, 2**62], dtype="M8[ns]"),
    ">M8[s]": np.array([0, 1, 2**40], dtype=">M8[s]"),
    "timedelta": np.array([-5, 0, 5], dtype="m8[10us]"),
    "timedelta without unit": np.array([-5, 0, 5], dtype="m8"),
} | {
    kind: np.array([0, 1, 100]).astype(kind)
    for kind in [
        "int8",
        "int16",
        "int32",
        "uint8",
        "uint16",
        "uint32",
        "float16",
        "float32",
        ">i4",
        ">u8",
        ">f8",
    ]
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_dtype(kind, path):
    labels = LABELS[kind]
    model = CO2ForestClassifier(2, random_state=0, mixture=None).fit(X, labels[CODES % len(labels)])
    twin = round_trip(model, path)
    assert twin.classes_.dtype == model.classes_.dtype == labels.dtype
    assert twin.predict(X).dtype == labels.dtype
    assert_same(model, twin)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    labels=st.one_of(
        st.lists(st.text(max_size=8), min_size=2, max_size=4, unique=True).map(
            lambda texts: np.array(texts, dtype=object)
        ),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True).map(
            lambda numbers: np.array(numbers, dtype=np.int64)
        ),
        st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=4, unique=True).map(
            lambda numbers: np.array(numbers, dtype=np.float64)
        ),
    ),
    names=st.none() | st.lists(st.text(max_size=5), min_size=2, max_size=2),
    weight=st.floats(0, 1e30),
    nu=st.floats(1e-30, 1e30),
)
def test_any_labels_names_and_parameters(tmp_path_factory, labels, names, weight, nu):
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])[: len(labels)]
    if names is not None and len(set(names)) == 2:
        rows = pd.DataFrame(rows, columns=names)
    params = {"nu": nu, "class_weight": {labels.tolist()[0]: weight}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # as many classes as rows
        model = CO2TreeClassifier(**params).fit(rows, labels)
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    twin = round_trip(model, path)
    assert twin.get_params() == model.get_params()
    assert vars(twin).keys() == vars(model).keys()
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert twin.predict(rows).tolist() == model.predict(rows).tolist()


def test_hundreds_of_classes(path):
    y = np.arange(400).repeat(2)
    rows = np.random.default_rng(0).normal(size=(800, 3))
    model = CO2ForestClassifier(1, random_state=0, mixture=None).fit(rows, y)
    np.testing.assert_array_equal(round_trip(model, path).predict(rows), model.predict(rows))


def test_names_of_features(path):
    frame = pd.DataFrame(X, columns=["a", "b c", "\N{OWL}", ""])
    model = CO2ForestClassifier(2, random_state=0, mixture=None).fit(frame, CODES)
    twin = round_trip(model, path)
    np.testing.assert_array_equal(twin.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(twin.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        twin.predict(frame[["b c", "a", "\N{OWL}", ""]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        twin.predict(X)


def test_parameters_of_numpy_types(path):
    model = CO2ForestClassifier(
        np.int64(2),
        nu=np.float32(2.5),
        bootstrap=np.True_,
        class_weight={np.int8(1): np.float64(2)},
        mixture=None,
    )
    params = round_trip(model.fit(X, CODES), path).get_params()
    assert (params["n_estimators"], params["nu"], params["bootstrap"]) == (2, 2.5, True)
    assert params["class_weight"] == {1: 2.0}


def test_the_machine_is_not_stored(path, capfd):
    model = CO2ForestClassifier(2, n_jobs=2, verbose=1, random_state=0, mixture=None).fit(X, CODES)
    twin = round_trip(model, path)
    assert twin.n_jobs is None
    assert twin.verbose == 0
    capfd.readouterr()


def score_by_hand(truth, predicted):
    return float(np.mean(truth == predicted))


def test_functions_and_generators_are_replaced_by_the_default_with_a_warning(path):
    model = CO2ForestClassifier(
        20,
        bootstrap=True,
        oob_score=score_by_hand,
        random_state=np.random.RandomState(3),
        mixture=None,
    ).fit(X, CODES)
    with pytest.warns(UserWarning, match="cannot be stored in a model file") as caught:
        model.save(path)
    assert [w.filename == __file__ for w in caught] == [True, True]
    messages = sorted(str(w.message) for w in caught)
    assert re.match(r"oob_score=<function score_by_hand.* will have oob_score='auto'", messages[0])
    assert re.match(r"random_state=RandomState.* will have random_state=None", messages[1])
    twin = load_model(path)
    assert twin.oob_score_ == model.oob_score_
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("score", [np.inf, "good", (1, 2), None, np.float32(0.5), 1])
def test_scores_of_every_kind(path, score):
    model = CO2ForestClassifier(
        20, bootstrap=True, oob_score=lambda _, __: score, random_state=0, mixture=None
    )
    model.fit(X, CODES).set_params(oob_score=True)
    if score in (0.5, 1):
        assert round_trip(model, path).oob_score_ == score
    else:
        with pytest.warns(UserWarning, match="is no finite number and is stored as NaN"):
            assert np.isnan(round_trip(model, path).oob_score_)


def test_very_wide_labels_lose_only_width(path):
    """A prediction takes the width of the dtype for each row, which a file must not decide."""
    model = CO2ForestClassifier(1, mixture=None).fit(
        X, np.array(["a", "bb", "c"], dtype="U5000")[CODES]
    )
    twin = round_trip(model, path)
    assert twin.classes_.dtype == "<U1002"
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_rows_that_were_always_drawn(path):
    model = CO2ForestClassifier(1, bootstrap=True, oob_score=True, random_state=0, mixture=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:1], CODES[:1])
    assert np.isnan(model.oob_score_)
    assert np.isnan(round_trip(model, path).oob_score_)


def test_a_warm_start_goes_on(path, assert_same_trees):
    model = CO2ForestClassifier(
        3, warm_start=True, bootstrap=True, random_state=1, mixture=None
    ).fit(X, CODES)
    for mmap_mode in (None, "r"):
        twin = round_trip(model, path, mmap_mode=mmap_mode)
        twin.set_params(n_estimators=6).fit(X, CODES)
        whole = CO2ForestClassifier(6, bootstrap=True, random_state=1, mixture=None).fit(X, CODES)
        assert_same_trees(twin, whole)


def test_a_loaded_model_is_like_any_other(forest, path):
    twin = round_trip(forest, path, mmap_mode="r")
    again = pickle.loads(pickle.dumps(twin))
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    tree = twin.estimators_[1]
    np.testing.assert_array_equal(tree.apply(X), forest.apply(X)[:, 1])
    np.testing.assert_array_equal(twin.estimators_samples_, forest.estimators_samples_)
    save_model(twin, path)  # the file that it is mapped from
    np.testing.assert_array_equal(twin.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(load_model(path).predict_proba(X), forest.predict_proba(X))


def test_mapped_weights_are_not_copied(path):
    """Two copies of a large model take the memory of none."""
    rows = np.random.default_rng(0).normal(size=(900, 500)).astype(np.float32)
    model = CO2ForestClassifier(40, random_state=0, mixture=None).fit(rows, np.arange(900) % 9)
    save_model(model, path)
    size = path.stat().st_size
    assert size > 2_000_000
    code = """
        import pathlib, re, sys
        from co2forest import load_model

        def private_memory():
            rollup = pathlib.Path("/proc/self/smaps_rollup").read_text()
            return 1024 * int(re.search(r"Private_Dirty: +([0-9]+)", rollup)[1])

        load_model(sys.argv[1])  # what is needed once
        sizes = []
        for mode in (None, "r"):
            before = private_memory()
            models = [load_model(sys.argv[1], mmap_mode=mode) for _ in range(3)]
            sizes.append(private_memory() - before)
        print(*sizes)
    """
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("memory cannot be told apart here")
    copied, mapped = map(int, run(code, path).split())
    assert copied > 3 * 0.9 * size
    assert mapped < 0.3 * copied


def test_a_file_whose_arrays_begin_anywhere(forest, path):
    """As other writers may do: the header is not filled up to a multiple of eight bytes."""
    forest.save(path)
    header, arrays = split(path.read_bytes())
    for spaces in range(8):
        path.write_bytes(join(json.dumps(header).encode() + b" " * spaces, arrays))
        for mmap_mode in (None, "r"):
            twin = load_model(path, mmap_mode=mmap_mode)
            np.testing.assert_array_equal(twin.predict_proba(X), forest.predict_proba(X))


def test_the_header_is_json_that_others_can_read(forest, path):
    """As the documentation says: any reader of safetensors gets at everything."""
    safetensors = pytest.importorskip("safetensors")
    forest.save(path)
    with safetensors.safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["co2forest"])
        left = file.get_tensor("forest.left")
    assert header["format"] == 1
    assert header["estimator"] == "CO2ForestClassifier"
    assert header["fitted"]["classes"] == {"dtype": "<i8", "values": [0, 1, 2]}
    np.testing.assert_array_equal(left, forest._forest.arrays()["left"])


# --- the same model, the same bytes


def test_the_same_model_has_the_same_bytes(path):
    contents = set()
    for n_jobs in (1, 2):
        CO2ForestClassifier(5, random_state=3, n_jobs=n_jobs, mixture=None).fit(X, CODES).save(path)
        contents.add(path.read_bytes())
    for mmap_mode in (None, "r"):
        load_model(path, mmap_mode=mmap_mode).save(path)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_other_models_have_other_bytes(path):
    contents = set()
    for params in ({}, {"random_state": 4}, {"nu": 2.0}, {"max_depth": 1000}):
        CO2ForestClassifier(**{"n_estimators": 2, "random_state": 3} | params, mixture=None).fit(
            X, CODES
        ).save(path)
        contents.add(path.read_bytes())
    assert len(contents) == 4
