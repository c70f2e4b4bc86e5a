# SPDX-License-Identifier: BSD-3-Clause
"""Forged and damaged columns in model files and pickles: refused, with the reason."""

import copy
import json
import pickle

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import skops.io

from co2forest import (
    TRUSTED_TYPES,
    CO2ForestClassifier,
    CO2TreeRegressor,
    ModelFormatError,
    _native,
    load_model,
)
from co2forest.data.columns.columns import Column, Columns
from damage import contents, reseal
from fitted_state import assert_same_state

N = 120
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N),
        "kind": RNG.choice(["wolf", "fox", "bear", "otter"], N),
        "gaps": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "pair": pd.Categorical(RNG.choice(["up", "down", None], N)),
        "digit": pd.Categorical(RNG.integers(3, size=N)),
    }
)
Y = (FRAME["number"] > 0).astype(int) + (FRAME["kind"] == "fox")
KINDS = [f"kind={word}" for word in ("fox", "otter", "bear", "wolf")]


@pytest.fixture(scope="module")
def model():
    fitted = CO2ForestClassifier(3, random_state=0, max_leaf_nodes=8).fit(FRAME, Y)
    assert set(KINDS) <= set(fitted._column_views.feature_names)
    return fitted


def test_round_trips(model, path):
    model.save(path)
    through_skops = skops.io.loads(skops.io.dumps(model), trusted=TRUSTED_TYPES)
    twins = [load_model(path), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for twin in (*twins, through_skops):
        np.testing.assert_array_equal(twin.predict_proba(FRAME), model.predict_proba(FRAME))
        np.testing.assert_array_equal(twin.feature_importances_, model.feature_importances_)
    for twin in twins:
        assert_same_state(model, twin)


def test_a_column_of_gaps_and_values_that_occur_once():
    """Its gaps are all that it says."""
    table = pd.DataFrame({"id": [f"i{j}" if j % 5 else None for j in range(60)], "x": 1.0})
    tree = CO2TreeRegressor(random_state=0).fit(table, np.arange(60) % 5 == 0)
    assert tree._column_views.feature_names == ("id is missing", "x")
    assert pickle.loads(pickle.dumps(tree)).score(table, np.arange(60) % 5 == 0) == 1.0


# --- files with a right checksum


def categories(place, values):
    def apply(columns):
        columns["columns"][place][1] = values

    return apply


def name(place, value):
    def apply(columns):
        columns["columns"][place][0] = value

    return apply


def entry(key, value):
    return lambda columns: columns.update({key: value})


TWICE = "has a category twice"
NO_CATEGORY = "a category of column 'kind' must be a string, a number or a boolean"
NO_FIT = "does not fit the categories of column"
FORGED = [
    (categories(1, ["fox", "fox", "bear", "wolf"]), TWICE),
    (categories(1, [1, True, 2, 3]), TWICE),
    (categories(1, [1, 1.0, 2, 3]), TWICE),
    (categories(1, ["fox", None, "bear", "wolf"]), NO_CATEGORY),
    (categories(1, ["fox", ["bear"], "otter", "wolf"]), NO_CATEGORY),
    (categories(1, ["fox", {}, "otter", "wolf"]), NO_CATEGORY),
    (categories(1, [float("nan"), "bear", "otter", "wolf"]), NO_CATEGORY),
    (categories(1, [float("inf"), "bear", "otter", "wolf"]), NO_CATEGORY),
    (categories(1, "abcd"), "must be a list of at most"),
    (categories(1, 4), "must be a list of at most"),
    (categories(1, {"fox": 0}), "must be a list of at most"),
    (categories(1, list(range(2**20 + 1))), "must be a list of at most 1048576"),
    (categories(1, []), NO_FIT),
    (categories(1, ["fox", "bear", "wolf"]), NO_FIT),
    (categories(1, ["fox", "bear", "otter", "wolf", "lynx"]), NO_FIT),
    (categories(1, None), NO_FIT),
    (categories(0, ["fox"]), NO_FIT),
    (name(0, None), "a column must have a name"),
    (name(0, 5), "a column must have a name"),
    (name(0, ["number"]), "a column must have a name"),
    (name(0, "other"), "feature_names_in_ must be the names of the columns"),
    (entry("columns", []), "n_columns is 0; it must be positive"),
    (entry("columns", [["number", None]]), "names a column that does not exist"),
    (entry("columns", ["ab"] * 5), "must list names and categories"),
    (entry("columns", [["a", None, 1]] * 5), "must list names and categories"),
    (entry("columns", None), "must list columns, features and means"),
    (entry("more", []), "must list columns, features and means"),
    (lambda columns: columns.pop("means"), "must list columns, features and means"),
    (lambda columns: columns["columns"].append(["more", None]), "must be a list of 6 strings"),
    (lambda columns: columns["columns"].reverse(), NO_FIT),
    (entry("features", ["a"]), "features must have names"),
    (entry("features", [1] * 19), "features must have names"),
    (lambda columns: columns["features"].append("more"), "features must have names"),
    (entry("means", [0]), "means of targets must be tables"),
    (entry("means", [5, 5]), "means of targets must be tables"),
    (entry("means", [5.0]), "means of targets must be tables"),
    (entry("means", [True]), "means of targets must be tables"),
    (entry("means", [[5]]), "means of targets must be tables"),
    (entry("means", [10**30]), "means of targets must be tables"),
]


def save_forged(model, path, change):
    model.save(path)
    header, arrays = contents(path.read_bytes())
    change(header, arrays)
    path.write_bytes(reseal(header, arrays))


def assert_refused(path, message):
    for mmap_mode in (None, "r"):
        with pytest.raises(ModelFormatError, match=message) as caught:
            load_model(path, mmap_mode=mmap_mode)
        assert str(caught.value).startswith(f"{path}: ")
        assert len(str(caught.value).removeprefix(str(path))) < 400


@pytest.mark.parametrize("case", range(len(FORGED)))
def test_forged_columns(model, path, case):
    change, message = FORGED[case]

    def forge(_, arrays):
        columns = json.loads(arrays["columns"].tobytes())
        change(columns)
        arrays["columns"] = np.frombuffer(json.dumps(columns).encode(), dtype=np.uint8)

    save_forged(model, path, forge)
    assert_refused(path, message)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"9" * 5000,
        b"[" * 100_000,
        b'{"columns":' * 50_000,
        b'{"columns": [["a", [1e999]]], "features": [], "means": []}',
    ],
    ids=lambda text: repr(text[:12]),
)
def test_columns_that_are_no_such_text(model, path, text):
    array = np.frombuffer(text, dtype=np.uint8) if text else np.empty(0, dtype=np.uint8)
    save_forged(model, path, lambda _, arrays: arrays.update(columns=array))
    assert_refused(path, "array 'columns'|does not exist|a category of column")


def number(array, value, place=None):
    """Change a number of the views; by default that of the second table."""

    def apply(_, arrays):
        tables = np.flatnonzero(arrays["views.kind"] == 3)
        arrays[f"views.{array}"][tables[1] if place is None else place] = value

    return apply


def replaced(array, change):
    def apply(_, arrays):
        arrays[array] = change(arrays[array])

    return apply


VIEWS = [
    (number("column", -1), "names a column that does not exist"),
    (number("column", 5), "names a column that does not exist"),
    (number("column", 3), NO_FIT),
    (number("kind", 0), "'size' must be 0|'argument' must be 0"),
    (number("kind", 4), "has a folded table, but n_folds is 0"),
    (number("kind", 5), "has an unknown kind of view"),
    (number("kind", 255), "has an unknown kind of view"),
    (number("argument", -1), "leads out of the values"),
    (number("argument", 2**63 - 1), "leads out of the values"),
    (number("argument", 4, place=1), NO_FIT),  # of an indicator
    (number("argument", 2**24, place=1), "must have codes from 0"),
    (number("size", -1), "must be at least 1"),
    (number("size", 0), "must be at least 1"),
    (number("size", 3), NO_FIT),
    (number("size", 2**62), "at most 2\\^24"),
    (number("values", np.nan, place=0), "'values' must be finite"),
    (number("values", np.inf, place=-1), "'values' must be finite"),
    (replaced("views.values", lambda a: a[:5].copy()), "leads out of the values"),
    (replaced("views.values", lambda a: a.astype(np.float64)), "'values' has the wrong dtype"),
    (replaced("views.kind", lambda a: a[:-1].copy()), "'kind' has the wrong length"),
    (replaced("views.kind", lambda a: a.reshape(1, -1).copy()), "views array 'kind'"),
    (replaced("views.column", lambda a: np.tile(a, 2)), "has the wrong length"),
    (replaced("columns", lambda a: a.astype(np.int64)), "the array 'columns' must hold bytes"),
    (replaced("columns", lambda a: a.reshape(1, -1).copy()), "'columns' must hold bytes"),
    (lambda _, arrays: arrays.pop("views.size"), "'size' is missing"),
    (lambda _, arrays: arrays.pop("columns"), "must be a list of"),
    (lambda _, arrays: arrays.update({"views.more": np.zeros(3)}), "unknown views: .'more'"),
    (lambda header, _: header["fitted"]["feature_names"].pop(), "must be a list of 5 strings"),
    (
        lambda header, _: header["fitted"]["feature_names"].reverse(),
        "feature_names_in_ must be the names of the columns",
    ),
]


@pytest.mark.parametrize("case", range(len(VIEWS)))
def test_forged_views(model, path, case):
    change, message = VIEWS[case]
    save_forged(model, path, change)
    assert_refused(path, message)


def test_every_byte_of_the_columns_is_in_the_checksum(model, path):
    model.save(path)
    data = path.read_bytes()
    _, arrays = contents(data)
    for key, array in arrays.items():
        if key != "columns" and not key.startswith("views."):
            continue
        at = data.find(array.tobytes())
        assert at > 0, key
        for byte in range(0, array.nbytes, 7):
            damaged = bytearray(data)
            damaged[at + byte] ^= 1
            path.write_bytes(damaged)
            with pytest.raises(ModelFormatError, match="the checksum is wrong"):
                load_model(path)


# --- pickles


@pytest.mark.parametrize("module", [pickle, cloudpickle])
@pytest.mark.parametrize("text", [b"otter", b"kind=otter", b"down", b"gaps", b"gaps is missing"])
def test_a_damaged_category_or_name_is_noticed(model, module, text):
    data = module.dumps(model)
    places = [at for at in range(len(data)) if data.startswith(text, at)]
    assert places
    for at in places:
        damaged = bytearray(data)
        damaged[at + len(text) - 1] ^= 1
        with pytest.raises(ModelFormatError, match=r"digest of CO2ForestClassifier is wrong"):
            pickle.loads(damaged)


def test_damaged_views_are_noticed(model):
    data = pickle.dumps(model)
    for key, array in model._column_views.views.arrays().items():
        at = data.find(array.tobytes())
        assert at > 0, key
        damaged = bytearray(data)
        damaged[at + array.nbytes // 2] ^= 1
        with pytest.raises(ValueError, match=r"views array|digest of the views"):
            pickle.loads(damaged)


CHANGES = {
    "columns and their views must be of these types": lambda _: {"columns": None},
    "the columns must be a tuple": lambda m: {"columns": Columns([*m.columns.columns])},
    "a column must have a name": lambda _: {"columns": Columns((1, 2, 3, 4, 5))},
    "4 columns, but views of 5": lambda m: {"columns": Columns(m.columns.columns[:4])},
    "must be a list of at most": lambda m: {"columns": Columns((Column("a", [1]),) * 5)},
    "must be a string, a number or a boolean": lambda m: {
        "columns": Columns((Column("a", (b"x",)), *m.columns.columns[1:]))
    },
    "of these types": lambda _: {"views": "views"},
    "features must have names": lambda _: {"feature_names": ("a",)},
    "19 features must have names": lambda _: {"feature_names": ["a"] * 19},
    "means of targets must be tables, got None": lambda _: {"means": None},
    r"means of targets must be tables, got \(0,\)": lambda _: {"means": (0,)},
}


@pytest.mark.parametrize("message", CHANGES)
def test_forged_values_in_pickles(model, message):
    forged = copy.deepcopy(model)
    vars(forged._column_views).update(CHANGES[message](model._column_views))
    with pytest.raises(ModelFormatError, match=message):
        CO2ForestClassifier().__setstate__(forged.__getstate__())
    with pytest.raises(ModelFormatError, match=message):
        pickle.loads(pickle.dumps(forged))


def test_views_of_other_columns_in_pickles(model):
    folded = {
        "column": np.zeros(1, dtype=np.int32),
        "kind": np.array([4], dtype=np.uint8),
        "argument": np.zeros(1, dtype=np.int64),
        "size": np.ones(1, dtype=np.int64),
        "values": np.zeros(30, dtype=np.float32),
    }
    for views in (_native.Views(folded, 5, 10), _native.Views(folded, 4, 10)):
        forged = copy.deepcopy(model)
        vars(forged._column_views)["views"] = views
        with pytest.raises(ModelFormatError, match=r"5 columns, but views of . in 10 folds"):
            pickle.loads(pickle.dumps(forged))


def test_other_attributes_in_pickles(model):
    for changes, message in (
        ({"_column_views": 5}, "_column_views must be ColumnViews, got 5"),
        ({"_column_views": None}, "but the forest has 19 features"),
        ({"n_features_in_": 4}, "n_features_in_=4 with 19 views of 5 columns"),
        ({"feature_names_in_": np.array(list("abcde"), dtype=object)}, "feature_names_in_ must"),
        ({"feature_names_in_": None}, "feature_names_in_ must be the names of the columns"),
    ):
        forged = copy.deepcopy(model)
        vars(forged).update(changes)
        with pytest.raises(ModelFormatError, match=message):
            pickle.loads(pickle.dumps(forged))
