# SPDX-License-Identifier: BSD-3-Clause
"""Data frames as they are: categories, words, booleans and gaps, in training and prediction."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from co2forest import (
    CO2BoostingClassifier,
    CO2BoostingRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    load_model,
)
from co2forest.baselines import AxisForestClassifier, TwoProbeForestRegressor

N = 300
CLASSIFIERS = [
    CO2ForestClassifier(8, mixture=None, random_state=0),
    CO2ForestClassifier(8, random_state=0),
    CO2TreeClassifier(random_state=0),
    CO2BoostingClassifier(n_estimators=8, random_state=0),
    AxisForestClassifier(8, random_state=0),
]
REGRESSORS = [
    CO2ForestRegressor(8, mixture=None, random_state=0),
    CO2ForestRegressor(8, random_state=0),
    CO2TreeRegressor(random_state=0),
    CO2BoostingRegressor(n_estimators=8, random_state=0),
    TwoProbeForestRegressor(8, random_state=0),
]


def name_of(estimator):
    mixed = " mixture" if getattr(estimator, "mixture", None) else ""
    return type(estimator).__name__ + mixed


@pytest.fixture(scope="module")
def table():
    """Colours decide, with a number; half of the sizes are missing where the answer is yes."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey", "pink"], N, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    size, city = rng.normal(size=N), rng.choice([f"c{i}" for i in range(60)], N)
    y = (np.isin(colour, ["red", "grey"]) ^ (size > 0.5)).astype(int)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(colour),
            "size": np.where((rng.random(N) < 0.5) & (y == 1), np.nan, size),
            "city": pd.Series(city, dtype=object),
            "new": rng.random(N) < 0.5,
            "count": pd.array(rng.integers(0, 9, N), dtype="Int64"),
        }
    )
    frame.loc[:5, "count"] = pd.NA
    frame.loc[3:8, "city"] = None
    return frame, y


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=name_of)
def test_every_estimator_learns_from_categories(estimator, table, tmp_path):
    frame, y = table
    model = clone(estimator).fit(frame[:200], y[:200])
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(frame)
    importances = model.feature_importances_
    assert importances.shape == (5,)
    assert importances.sum() == pytest.approx(1)
    assert importances[0] > importances[3:].max()  # whatever 60 cities may seem to say
    predicted = model.predict(frame[200:])
    rounded = np.round(predicted)
    assert np.mean(rounded == y[200:]) > 0.7
    model.save(tmp_path / "model")
    for other in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(frame[200:]), predicted)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_frames_of_all_libraries_give_the_same_forest(convert, table):
    frame, y = table
    expected = CO2ForestClassifier(5, random_state=0).fit(frame, y).predict_proba(frame)
    other = convert(frame)
    model = CO2ForestClassifier(5, random_state=0).fit(other, y)
    np.testing.assert_array_equal(model.predict_proba(other), expected)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)


def test_words_are_the_same_in_every_dtype(table):
    frame, y = table
    forest = CO2ForestClassifier(5, random_state=0)
    expected = forest.fit(frame, y).predict_proba(frame)
    for dtype in (object, "string", "string[pyarrow]", "category"):
        other = frame.astype({"colour": dtype, "city": dtype})
        np.testing.assert_array_equal(clone(forest).fit(other, y).predict_proba(frame), expected)
        np.testing.assert_array_equal(forest.predict_proba(other), expected)


def test_the_order_of_rows_does_not_change_codes(table):
    frame, y = table
    order = np.random.default_rng(1).permutation(N)
    codes = [
        CO2TreeClassifier(random_state=0).fit(frame.iloc[rows], y[rows])._column_views.columns
        for rows in (np.arange(N), order)
    ]
    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    "given", [["colour", "city"], [0, 2], [True, False, True, False, False], "from_dtype"]
)
def test_categorical_features(given, table):
    frame, y = table
    model = CO2ForestClassifier(5, categorical_features=given, random_state=0).fit(frame, y)
    expected = CO2ForestClassifier(5, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))


def test_numbers_may_be_categories(table):
    _, y = table
    codes = np.random.default_rng(0).integers(0, 4, (N, 2)).astype(float)
    model = CO2ForestClassifier(5, categorical_features=[0], random_state=0).fit(codes, y)
    assert model._column_views.feature_names[:2] == ("x0=0", "x0=1") or model.n_features_in_ == 2
    assert model.predict(codes).shape == (N,)
    objects = np.array([["a", 1.0], ["b", 2.0]] * 50, dtype=object)
    model = CO2TreeClassifier(categorical_features=[0]).fit(objects, [0, 1] * 50)
    assert model.score(objects, [0, 1] * 50) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nothing"], "'nothing', which X does not have"),
        ([9], "indices from 0 to 4; got 9"),
        ([True], "1 booleans for 5 columns"),
        ([0.5], "got 0.5"),
        ([[0]], "list of names"),
    ],
)
def test_bad_categorical_features(given, message, table):
    frame, y = table
    with pytest.raises(ValueError, match=message):
        CO2TreeClassifier(categorical_features=given).fit(frame, y)


def test_no_names_for_arrays(table):
    with pytest.raises(ValueError, match="use their indices"):
        CO2TreeClassifier(categorical_features=["x0"]).fit(np.zeros((9, 2)), [0, 1, 1] * 3)


def test_words_are_no_numbers_if_categories_are_off(table):
    frame, y = table
    with pytest.raises(ValueError, match=r"column 'colour' must hold numbers.*(red|blue|green)"):
        CO2TreeClassifier(categorical_features=None).fit(frame, y)


# --- prediction


def test_unknown_categories_and_gaps_never_fail(table):
    frame, y = table
    model = CO2ForestClassifier(8, random_state=0).fit(frame, y)
    rows = frame[:4].astype({"colour": object})
    for colour in (["purple"] * 4, [None] * 4, [np.nan] * 4, [3, 4, "red", None]):
        p = model.predict_proba(rows.assign(colour=colour))
        assert np.isfinite(p).all()
    rare = model.predict_proba(rows.assign(colour="purple"))
    np.testing.assert_array_equal(rare, model.predict_proba(rows.assign(colour="beige")))


def test_numbers_in_the_place_of_words(table):
    frame, y = table
    model = CO2TreeClassifier(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="column 'colour' holds numbers, but its categories"):
        model.predict(frame.assign(colour=1.5))


def test_words_in_the_place_of_numbers(table):
    frame, y = table
    model = CO2TreeClassifier(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="column 'size' must hold numbers, as in training; it has"):
        model.predict(frame.assign(size="large"))


@pytest.mark.parametrize("change", ["rename", "reorder", "lack"])
def test_other_columns_are_refused_by_name(change, table):
    frame, y = table
    model = CO2TreeClassifier(random_state=0).fit(frame, y)
    other = {
        "rename": frame.rename(columns={"city": "town"}),
        "reorder": frame[list(frame)[::-1]],
        "lack": frame.drop(columns="city"),
    }[change]
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        model.predict(other)


def test_one_row_is_predicted_as_among_others(table):
    frame, y = table
    model = CO2ForestClassifier(8, random_state=0).fit(frame, y)
    expected = model.predict_proba(frame[:40])
    for i in range(40):
        np.testing.assert_array_equal(model.predict_proba(frame[i : i + 1])[0], expected[i])


# --- strange columns


def strange(cells, dtype=object):
    return pd.Series(cells, dtype=dtype)


@pytest.mark.parametrize(
    "column",
    [
        strange([None] * N),
        strange([f"id{i}" for i in range(N)]),
        strange(["same"] * N),
        strange(["a", 1, 2.5, True, None] * (N // 5)),
        strange(["", " ", "\0", "\ud800", "=1+1"] * (N // 5)),
        strange([1e300, -5, None] * (N // 3)),
    ],
    ids=["missing", "distinct", "constant", "mixed", "odd words", "mostly numbers"],
)
def test_strange_columns_work(column, table, tmp_path):
    frame, y = table
    categorical = ["colour", "city", "odd"]
    other = frame.assign(odd=column)
    model = CO2ForestClassifier(5, categorical_features=categorical, random_state=0)
    model.fit(other, y)
    expected = model.predict_proba(other)
    assert np.isfinite(expected).all()
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(other), expected)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (strange([[1, 2]] * N), "column 'odd' has a cell of type list"),
        (strange([b"bytes"] * N), "column 'odd' has a cell of type bytes"),
        (strange([object()] * N), "column 'odd' has a cell of type object"),
        (pd.Series(pd.Timestamp("2020-01-01"), range(N)), "column 'odd' holds dates"),
        (strange([np.inf] * N, float), "column 'odd' has infinity"),
        (strange([1e300] * N, float), "column 'odd' has infinity or a value too large"),
    ],
    ids=["unhashable", "bytes", "objects", "dates", "infinite", "too large"],
)
def test_what_cannot_be_read_names_the_column(column, message, table):
    frame, y = table
    with pytest.raises(ValueError, match=message):
        CO2ForestClassifier(2).fit(frame.assign(odd=column), y)
    assert not hasattr(CO2ForestClassifier(2), "n_features_in_")


def test_only_columns_without_a_difference(table):
    _, y = table
    with pytest.raises(ValueError, match="no column has anything to learn from"):
        CO2TreeClassifier().fit(pd.DataFrame({"a": ["x"] * N}), y)


def test_an_empty_frame():
    with pytest.raises(ValueError, match="0 rows and 1 columns"):
        CO2TreeClassifier().fit(pd.DataFrame({"a": pd.Series([], dtype=object)}), [])


def test_many_categories_take_linear_memory():
    rng = np.random.default_rng(0)
    n = 40_000
    frame = pd.DataFrame({"user": rng.integers(0, 20_000, n).astype(str), "x": rng.normal(size=n)})
    y = (frame["x"] + (frame["user"].str[-1] == "7") > 0).astype(int)
    model = CO2ForestClassifier(2, min_samples_leaf=50, random_state=0).fit(frame, y)
    assert 10_000 < model._column_views.columns.columns[0].n_categories < 20_000
    assert model._column_views.n_features < 60
    assert model.score(frame, y) > 0.8


# --- gaps


def test_gaps_that_say_something_are_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)).astype(np.float32)
    y = rng.integers(0, 2, 600)
    X[(y == 1) & (rng.random(600) < 0.8), 1] = np.nan
    model = CO2ForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    assert model.n_features_in_ == 3
    assert model.score(X[400:], y[400:]) > 0.85
    assert model._column_views.feature_names == ("x0", "x1", "x1 is missing", "x2")


def test_few_gaps_stay_the_mean():
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    X[:4, 1] = np.nan
    model = CO2ForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    assert model._column_views is None
    filled = np.where(np.isnan(X), model._forest.arrays()["mean"], X)
    np.testing.assert_array_equal(model.predict_proba(filled), model.predict_proba(X))


def test_columns_with_the_same_gaps_share_an_indicator():
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    X[:30, :2] = np.nan
    model = CO2TreeClassifier(random_state=0).fit(X, X[:, 2] > 0)
    assert model._column_views.feature_names == ("x0", "x0 is missing", "x1", "x2")


# --- as other parts of scikit-learn use it


def test_warm_start_keeps_what_features_are(table):
    frame, y = table
    model = CO2ForestClassifier(4, warm_start=True, random_state=0).fit(frame, y)
    first = model._column_views
    model.set_params(n_estimators=8).fit(frame, y)
    assert model._column_views is first
    expected = CO2ForestClassifier(8, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))
    with pytest.raises(ValueError, match="other categories or gaps than in the first fit"):
        model.set_params(n_estimators=9).fit(frame.assign(colour="red"), y)


def test_a_failed_fit_changes_nothing(table):
    frame, y = table
    model = CO2ForestClassifier(4, random_state=0).fit(frame, y)
    expected = model.predict_proba(frame)
    with pytest.raises(ValueError, match="cell of type list"):
        model.fit(frame.assign(odd=strange([[1]] * N)), y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)


def test_in_pipelines_and_cross_validation(table):
    frame, y = table
    forest = CO2ForestClassifier(10, random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), forest)
    assert cross_val_score(pipeline, frame, y, cv=3).mean() > 0.7


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(n_jobs, table):
    frame, y = table
    forest = CO2ForestClassifier(6, random_state=0)
    expected = forest.fit(frame, y).predict_proba(frame)
    other = clone(forest).set_params(n_jobs=n_jobs).fit(frame, y)
    np.testing.assert_array_equal(other.predict_proba(frame), expected)


def test_a_tree_of_a_forest_takes_the_same_rows(table):
    frame, y = table
    model = CO2ForestClassifier(3, calibrate=False, random_state=0).fit(frame, y)
    votes = np.mean([tree.predict_proba(frame) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(votes, model.predict_proba(frame), atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_words_in_the_place_of_numbers_are_named(gaps):
    frame = pd.DataFrame({"x": np.arange(40.0), "c": [1.0, np.nan if gaps else 2.0] * 20})
    forest = CO2ForestClassifier(2, random_state=0).fit(frame, [0, 1] * 20)
    with pytest.raises(
        ValueError, match="column 'c' must hold numbers, as in training; it has 'a'"
    ):
        forest.predict(frame.assign(c=["a", "b"] * 20))
    nullable = frame.assign(c=pd.array([1, None] * 20, dtype="Int64"))
    gone = nullable["c"].isna().to_numpy()
    known = forest.predict(frame)
    assert np.array_equal(forest.predict(nullable)[~gone], known[~gone])


def test_a_whole_number_that_no_float_can_hold_is_named():
    frame = pd.DataFrame({"big": pd.Series([10**400, 2] * 20, dtype=object)})
    with pytest.raises(ValueError, match="column 'big' has a number too large for float32"):
        CO2ForestClassifier(2).fit(frame, [0, 1] * 20)
