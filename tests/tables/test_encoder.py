# SPDX-License-Identifier: BSD-3-Clause
"""What columns become, what is dropped, and what a message says."""

import datetime as dt
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from sklearn.base import clone

from co2forest import CO2ForestClassifier, ModelFormatError
from co2forest.tables import TableEncoder, TableModel

N = 40
HALF_OWL = "\ud800"  # no file in UTF-8 can hold it
FILLER = pd.Series(np.linspace(-1, 1, N), name="filler")


def fit(cells, name="a", **options):
    """An encoder of one column, and a second that is always kept."""
    frame = pd.DataFrame({name: pd.Series(cells), "filler": FILLER})
    return TableEncoder(**options).fit(frame), frame


def features(cells, name="a", **options):
    """The features of a column by their names."""
    encoder, frame = fit(cells, name, **options)
    rows = encoder.transform(frame)
    assert list(rows.columns) == encoder.get_feature_names_out().tolist()
    assert rows.shape == (N, encoder.n_features_out_)
    assert rows.columns[-1] == "filler"
    assert encoder.column_of_feature_.tolist() == [0] * (rows.shape[1] - 1) + [1]
    return dict(rows.drop(columns="filler").items())


def words(column):
    """The cells of a column of categories."""
    assert column.dtype == "category"
    return column.astype(object).where(column.notna(), None).tolist()


def why_dropped(cells, name="a", **options):
    encoder, _ = fit(cells, name, **options)
    return encoder.dropped_.get(name)


# --- numbers

HALVES = [x / 2 for x in range(N)]


@pytest.mark.parametrize(
    "cells",
    [
        HALVES,
        np.array(HALVES, dtype=np.float32),
        [str(x) for x in HALVES],
        [f" {x} " for x in HALVES],
        pd.Series(HALVES, dtype="Float64"),
        [Decimal(str(x)) for x in HALVES],
        pd.array(HALVES, dtype=pd.SparseDtype(float, 0.0)),
        pd.Series(pd.to_timedelta(HALVES, unit="s")),
    ],
    ids=lambda cells: str(getattr(cells, "dtype", type(cells[0]).__name__)),
)
def test_numbers_stay(cells):
    np.testing.assert_array_equal(features(cells)["a"].to_numpy(dtype=float), HALVES)


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "bool"])
def test_numbers_are_not_copied(dtype):
    encoder, frame = fit(np.array([0, 1] * 20, dtype=dtype))
    assert np.shares_memory(encoder.transform(frame)["a"], frame["a"])


@pytest.mark.parametrize("cells", [[3, 5] * 20, pd.array([3, 5] * 20, dtype="Int8")])
def test_whole_numbers_stay(cells):
    assert features(cells)["a"].tolist() == [3, 5] * 20


@pytest.mark.parametrize("dtype", [bool, object, "boolean"])
def test_booleans_are_numbers(dtype):
    values = features(pd.Series([True, False] * 20, dtype=dtype))["a"]
    np.testing.assert_array_equal(values, [1, 0] * 20)


@pytest.mark.parametrize("missing", [None, np.nan, "NA", "?", "", "none"])
def test_gaps_of_numbers_stay(missing):
    kind = list if missing is None or isinstance(missing, float) else (lambda c: [*map(str, c)])
    found = features([missing] * 4 + kind(HALVES[4:]))
    assert found.keys() == {"a"}
    assert found["a"].isna().tolist() == [True] * 4 + [False] * 36


def test_infinity_is_refused():
    encoder, frame = fit(HALVES)
    finite = "infinite; leave it empty or give a finite number"
    for value, said in ((-np.inf, finite), (1e39, r"1e\+39, which float32 cannot hold; ")):
        frame.loc[7, "a"] = value
        for dtype in (float, str, "Float64", pd.SparseDtype(float, 0.0)):
            with pytest.raises(ValueError, match=f"^column 'a', row 8 is {said}"):
                encoder.transform(frame.astype({"a": dtype}))


@pytest.mark.parametrize("first", [10**30, 2**40])
def test_large_numbers_that_float32_does_not_tell_apart(first):
    encoder, _ = fit([first + k for k in range(N)])
    assert encoder.dropped_ == {"a": "the same number in every row, as float32 has it"}


# --- dates


def test_dates():
    days = pd.date_range("2019-12-30", periods=N, freq="D")
    parts = features(days)
    assert parts.keys() == {"a:days", "a:month", "a:weekday"}  # midnight is no hour
    np.testing.assert_array_equal(parts["a:days"], np.arange(N) + 7303)
    np.testing.assert_array_equal(parts["a:weekday"], np.arange(N) % 7)  # a Monday
    np.testing.assert_array_equal(parts["a:month"], days.month)
    hours = features(pd.date_range("2020-01-01", periods=N, freq="30min"))
    np.testing.assert_array_equal(hours["a:hour"], np.arange(N) / 2)


@pytest.mark.parametrize(
    "write",
    [
        lambda day: day.strftime("%Y-%m-%d"),
        lambda day: day.strftime("%d.%m.%Y"),
        lambda day: day.strftime("%Y-%m-%dT00:00:00Z"),
        lambda day: day.strftime("%Y-%m-%d 02:00+02:00"),
        lambda day: day.strftime("%Y-%m-%d 00:00:00.000 UTC"),
        lambda day: day.to_pydatetime(),
        lambda day: day.date(),
        lambda day: day.tz_localize("UTC").tz_convert("Asia/Tokyo"),
    ],
)
def test_dates_in_other_clothes(write):
    days = pd.date_range("1969-12-01", periods=N, freq="25D")
    expected = features(days)
    for name, values in features([write(day) for day in days]).items():
        np.testing.assert_array_equal(values, expected[name], err_msg=name)


def test_missing_and_wrong_dates():
    days = [*pd.date_range("2020-01-01", periods=N - 3).strftime("%Y-%m-%d"), None, "NA", None]
    encoder, frame = fit(days)
    assert encoder.transform(frame).iloc[-3:, :3].isna().all(axis=None)
    frame.loc[2, "a"] = "2020-02-31"
    with pytest.raises(ValueError, match="row 3: '2020-02-31' is not a date such as"):
        encoder.transform(frame)
    with pytest.raises(ValueError, match=r"column 'a', row 1: '5\.0' is not a date"):
        encoder.transform(frame.assign(a=5.0))
    with pytest.raises(ValueError, match=r"row 1: .* is not a number"):
        fit(HALVES)[0].transform(frame.assign(a=pd.Timestamp("2020-01-01")))


def test_dates_that_pandas_does_not_know():
    far = [dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 20
    assert features(far)["a:days"].min() < -700_000


# --- categories


def test_words_are_categories():
    cells = ["b"] * 10 + [" a "] * 15 + ["c"] * 10 + [None, "NA", ""] + ["x", "y" * 300]
    found = features(cells)
    assert words(found["a"]) == ["b"] * 10 + ["a"] * 15 + ["c"] * 10 + [None] * 3 + cells[-2:]
    assert fit(cells)[0].describe()[0] == "a: 5 categories"


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (pd.Categorical([1, 2] * 20), {}),
        ([1, 2] * 20, {"categorical": ["a"]}),
        ([1.0, 2.0] * 20, {"categorical": ["a"]}),
        (["1", "2"] * 20, {"categorical": ["a"]}),
    ],
)
def test_numbers_that_stand_for_categories(cells, options):
    assert words(features(cells, **options)["a"]) == ["1", "2"] * 20


def test_halves_of_characters_are_spelt_out():
    cells = pd.Series([HALF_OWL, "b"] * 20, dtype=object)
    assert words(features(cells)["a"]) == ["\\ud800", "b"] * 20


def test_codes_with_zeros_are_categories():
    assert words(features(["01", "10"] * 20)["a"]) == ["01", "10"] * 20


def test_names_that_features_of_others_have():
    days = pd.date_range("2020-01-01", periods=N)
    frame = pd.DataFrame(
        {"a": days, "a:month": HALVES, "b": [None, *["x"] * 39], "b is missing": days}
    )
    rows = TableEncoder().fit_transform(frame)
    assert rows.columns.tolist().count("a:month") == 2
    np.testing.assert_array_equal(rows["a:month"].iloc[:, 1], HALVES)


# --- what is dropped


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("a", [7] * N, "constant"),
        ("a", ["x"] * N, "constant"),
        ("a", [np.nan] * N, "empty"),
        ("a", [None] * N, "empty"),
        ("a", ["NA"] * N, "empty"),
        ("a", pd.Series([pd.NaT] * N), "empty"),
        ("a", ["2020-01-01"] * N, "constant"),
        ("a", range(N), "an identifier"),
        ("a", range(N, 0, -1), "an identifier"),
        ("a", np.random.default_rng(0).permutation(N), "an identifier"),
        ("a", [str(i) for i in range(1, N + 1)], "an identifier"),
        ("user_id", range(1000, 1000 + 7 * N, 7), "an identifier"),
        ("PassengerId", range(1000, 1000 + 7 * N, 7), "an identifier"),
        ("ID", range(1000, 1000 + 7 * N, 7), "an identifier"),
        ("Unnamed: 0", range(5, 5 + N), "an identifier"),
        ("a", [f"name {i}" for i in range(N)], "40 different texts in 40 rows"),
        ("a", [f"name {i}" for i in range(N - 15)] + ["x"] * 15, "26 different texts in 40 rows"),
        ("a", [[1, 2]] * N, "its cells are no single numbers or words"),
        ("a", [{"x": 1}] * N, "its cells are no single numbers or words"),
        ("a", [1 + 2j] * N, "its cells are no single numbers or words"),
    ],
)
def test_dropped(name, cells, reason):
    assert why_dropped(list(cells) if isinstance(cells, range) else cells, name).startswith(reason)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("year", range(1980, 1980 + N)),  # does not begin at 0 or 1
        ("a", [float(i) for i in range(N)]),  # a measurement
        ("id", [i + 0.5 for i in range(N)]),
        ("id", [i % 30 + 100 for i in range(N)]),  # repeats
        ("paid", range(1000, 1000 + 7 * N, 7)),
        ("humid", range(1000, 1000 + 7 * N, 7)),
        ("price", range(1000, 1000 + 7 * N, 7)),
        ("a", [f"name {i % 20}" for i in range(N)]),
    ],
)
def test_not_dropped(name, cells):
    assert why_dropped(list(cells), name) is None


def test_asked_for():
    assert why_dropped(HALVES, drop=["a"]) == "as asked"
    assert why_dropped(range(N), keep=["a"]) is None
    # Each comes once: kept, but nothing is left of them.
    assert why_dropped([f"n{i}" for i in range(N)], keep=["a"]) == "no text comes twice"
    with pytest.raises(ValueError, match="drop names columns that the table does not have: z; it"):
        fit(HALVES, drop=["z"])
    with pytest.raises(ValueError, match="'keep' parameter of TableEncoder must be an array-like"):
        fit(HALVES, keep="a")


@pytest.mark.parametrize("cells", [[f"C{i}" for i in range(20)], ["x"] * 20, [5.0] * 20])
def test_what_says_only_whether_it_is_missing(cells):
    columns = features([*cells, *[None] * 20])
    assert list(columns) == ["a is missing"]
    np.testing.assert_array_equal(columns["a is missing"], [0] * 20 + [1] * 20)


def test_nothing_is_left():
    frame = pd.DataFrame({"id": range(N), "a": [1] * N})
    with pytest.raises(ValueError, match=r"no column is left .*id \(an identifier.*a \(constant"):
        TableEncoder().fit(frame)


# --- tables that are transformed


def test_columns_in_any_order_and_more_of_them():
    encoder, frame = fit(["u", "v"] * 20)
    expected = encoder.transform(frame)
    other = frame[["filler", "a"]].assign(extra=1)
    assert_frame_equal(encoder.transform(other), expected)
    assert encoder.notes(other) == ["columns that were not in training are ignored: extra"]
    assert encoder.notes(frame) == []


def test_all_missing_columns_are_named():
    encoder, frame = fit(HALVES)
    with pytest.raises(ValueError, match=r"lacks 2 of the 2 columns .*: a, filler; it has b"):
        encoder.transform(frame[[]].assign(b=1))


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NaT, "", pd.NA])
@pytest.mark.parametrize("cells", [HALVES, ["u", "v"] * 20, pd.date_range("2020", periods=N)])
def test_columns_that_say_nothing_later(cells, nothing):
    encoder, frame = fit(cells)
    rows = encoder.transform(frame.assign(a=nothing))
    assert rows.drop(columns="filler").isna().all(axis=None)


def test_words_among_numbers_are_named():
    encoder, frame = fit(HALVES)
    frame["a"] = ["1", "NA", "many" * 30, *["2"] * 37]
    with pytest.raises(ValueError, match=r"column 'a', row 3: 'many.*\.\.\.' is not a number, as"):
        encoder.transform(frame)
    frame["a"] = ["1", "NA", "007", *["2"] * 37]  # all numbers
    np.testing.assert_array_equal(encoder.transform(frame)["a"][:4], [1, np.nan, 7, 2])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([[1, 2]], "frame must be a pandas.DataFrame, got list"),
        (pd.DataFrame([[1, 2]]), "names of columns must be strings, got 0"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "these repeat: a"),
        (
            pd.DataFrame([[1]], columns=pd.Index([HALF_OWL], dtype=object)),
            "must be strings, got '.ud800'",
        ),
        (pd.DataFrame({"a": []}), "no rows"),
    ],
)
def test_frames_that_are_none(frame, message):
    for method in (TableEncoder().fit, fit(HALVES)[0].transform):
        with pytest.raises((TypeError, ValueError), match=message):
            method(frame)


def test_sparse_columns_stay_sparse():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random((200, 40)) < 0.05, rng.random((200, 40)), 0).astype(np.float32)
    names = [f"x{j}" for j in range(40)]
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_array(numbers), columns=names)
    encoder = TableEncoder().fit(frame)
    assert not encoder.dropped_
    assert_frame_equal(encoder.transform(frame), frame)
    y = (numbers[:, 0] > 0) | (numbers[:, 1] > 0)
    model = TableModel(CO2ForestClassifier(2, random_state=0), target="y").fit(frame, y)
    same = CO2ForestClassifier(2, random_state=0).fit(sp.csr_array(numbers), y)
    np.testing.assert_array_equal(model.predict_proba(frame), same.predict_proba(numbers))


def test_every_column_is_described():
    frame = pd.DataFrame(
        {
            "n": [None] * 10 + HALVES[10:],
            "when": pd.date_range("2020-01-01", periods=N),
            "kind": ["a", "b", None, "a"] * 10,
            "remark": [None, *map("n{}".format, range(N - 1))],
            "id": range(N),
        }
    )
    assert TableEncoder().fit(frame).describe() == [
        "n: a number",
        "when: a date, as days, month, weekday",
        "kind: 2 categories",
        "remark: only whether it is missing, because its text does not repeat or vary",
        "id: dropped, an identifier: every row has a whole number of its own",
    ]


# --- states


@pytest.fixture(scope="module")
def mixed():
    generator = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "number": np.where(generator.random(N) < 0.2, np.nan, generator.normal(size=N)),
            "kind": generator.choice(["a", "b", "c \N{OWL}", None], N),
            "when": pd.date_range("2020-01-01", periods=N, freq="31h"),
            "name": [f"n{i}" for i in range(N)],
        }
    )


def test_states_come_back(mixed):
    encoder = TableEncoder(keep=["number"]).fit(mixed)
    text = json.dumps(encoder.to_json(), allow_nan=False)
    for twin in (
        TableEncoder.from_json(json.loads(text)),
        pickle.loads(pickle.dumps(encoder)),
    ):
        assert twin.describe() == encoder.describe()
        assert twin.to_json() == encoder.to_json()
        assert_frame_equal(twin.transform(mixed), encoder.transform(mixed))
    again = clone(encoder)
    assert not hasattr(again, "columns_")
    assert again.fit(mixed).to_json() == encoder.to_json()


def edit(change):
    def apply(stored):
        change(stored)
        return stored

    return apply


BAD = {
    "an encoder must be an object": lambda _: [],
    "an encoder must be an object with categorical, ": edit(lambda s: s.pop("keep")),
    "'drop' must be a list of strings": edit(lambda s: s.update(drop=[1])),
    "'keep' must be different": edit(lambda s: s.update(keep=["a", "a"])),
    "'columns' must be a list": edit(lambda s: s.update(columns=[])),
    "a column must be an object": edit(lambda s: s.update(columns=[3])),
    "unknown kind of column: 'code'": edit(lambda s: s["columns"][0].update(kind="code")),
    "a column must be an object with a kind": edit(lambda s: s["columns"][0].update(kind=[])),
    "a column of kind 'number' must have name, got": edit(lambda s: s["columns"][0].update(more=1)),
    "'name' must be a string": edit(lambda s: s["columns"][0].update(name=None)),
    "'name' must be a string of at most": edit(lambda s: s["columns"][0].update(name="x" * 10**6)),
    "'name' must be a string of at most 10000 characters, got '.ud": edit(
        lambda s: s["columns"][0].update(name=HALF_OWL)
    ),
    "two columns have the same name": edit(lambda s: s["columns"][0].update(name="kind")),
    "'count' must be a number of categories": edit(lambda s: s["columns"][1].update(count=-1)),
    "a column of kind 'category' must have name, count, got": edit(
        lambda s: s["columns"][1].update(categories=["a"])
    ),
    "'parts' must be some of": edit(lambda s: s["columns"][2].update(parts=["month", "days"])),
    "'dropped' must be a list of pairs": edit(lambda s: s.update(dropped=["name"])),
    "'dropped' must be a string": edit(lambda s: s.update(dropped=[["name", 1]])),
    "'dropped' must have different": edit(lambda s: s.update(dropped=[["n", "a"], ["n", "b"]])),
}


@pytest.mark.parametrize("message", BAD)
def test_states_that_are_wrong(mixed, message):
    stored = json.loads(json.dumps(TableEncoder().fit(mixed).to_json()))
    with pytest.raises(ModelFormatError, match=message):
        TableEncoder.from_json(BAD[message](stored))


def test_false_is_not_zero_in_whatever_order_they_come():
    encoder, frame = fit([None] * 5 + [0, 1, False] * 5 + [None] * (N - 20))
    assert set(encoder.text_columns()) >= {"a"}
    rows = encoder.transform(frame)
    assert words(encoder.transform(frame[::-1])["a"]) == words(rows["a"])[::-1]


CELLS = (
    st.none()
    | st.text(max_size=6)
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_infinity=False, width=32)
    | st.booleans()
    | st.dates()
    | st.datetimes()
    | st.sampled_from(["NA", "1", "01", "2020-01-01", "1.5", " a", "a"])
)


@settings(max_examples=150, deadline=None, derandomize=True)
@example([None, None, None, None, None, "0", 1.0, True])
@example([None, None, None, None, ":", 1.0, True, True])
@given(
    cells=st.lists(CELLS, min_size=8, max_size=8)
    | st.lists(st.sampled_from(["1", "2.5", "NA", "x"]), min_size=8, max_size=8)
)
def test_any_cells(cells):
    """Whatever a column holds: it is encoded or dropped, and its state comes back."""
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "filler": FILLER[:8]})
    encoder = TableEncoder().fit(frame)
    rows = encoder.transform(frame)
    assert rows.shape == (8, encoder.n_features_out_)
    assert not np.isinf(rows.select_dtypes("number")).any(axis=None)
    twin = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert_frame_equal(twin.transform(frame[::-1]).astype(object), rows[::-1].astype(object))
    encoder.notes(frame)


# --- files from before estimators took categories


@pytest.fixture
def earlier():
    return {
        "max_categories": 50,
        **dict.fromkeys(("drop", "keep", "categorical"), ()),
        "columns": [
            {"kind": "number", "name": "n", "missing": True},
            {"kind": "date", "name": "d", "parts": ["days", "month"], "missing": True},
            {
                "kind": "category",
                "name": "c",
                "categories": ["a", "b"],
                "other": True,
                "missing": True,
            },
            {"kind": "category", "name": "e", "categories": [], "other": False, "missing": True},
        ],
        "dropped": [],
        "sparse": True,
    }


def test_earlier_files_have_indicators(earlier):
    encoder = TableEncoder.from_json(earlier)
    frame = pd.DataFrame(
        {
            "n": [1.5, None, 2.5],
            "d": ["2000-01-02", "2000-02-01", None],
            "c": ["b", "new", None],
            "e": ["x", None, "y"],
        }
    )
    rows = encoder.transform(frame)
    expected = {
        "n": [1.5, np.nan, 2.5],
        "n=(missing)": [0, 1, 0],
        "d:days": [1, 31, np.nan],
        "d:month": [1, 2, np.nan],
        "d=(missing)": [0, 0, 1],
        "c=a": [0, 0, 0],
        "c=b": [1, 0, 0],
        "c=(other)": [0, 1, 0],
        "c=(missing)": [0, 0, 1],
        "e=(missing)": [0, 1, 0],
    }
    assert_frame_equal(rows.astype(float), pd.DataFrame(expected, dtype=float))
    assert encoder.column_of_feature_.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 3]
    assert encoder.text_columns() == ["c", "e"]
    assert encoder.describe() == [
        "n: a number, and whether it is missing",
        "d: a date, as days, month, and whether it is missing",
        "c: 2 categories, the other ones together, and whether it is missing",
        "e: only whether it is missing, because its text does not repeat or vary",
    ]
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again.columns_ == encoder.columns_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"missing": 1}, "'missing' must be true or false"),
        ({"categories": 1}, "'categories' must be a list of strings"),
        ({"categories": ["a", "a"]}, "'categories' must be different"),
        ({"categories": [], "other": False, "missing": False}, "the column 'c' has no features"),
        ({"kind": "gaps"}, "unknown kind of column: 'gaps'"),
    ],
)
def test_earlier_files_that_are_wrong(earlier, change, message):
    earlier["columns"][2].update(change)
    with pytest.raises(ModelFormatError, match=message):
        TableEncoder.from_json(earlier)
