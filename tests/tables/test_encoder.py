# SPDX-License-Identifier: BSD-3-Clause
"""Columns as numbers: what each becomes, what is dropped, and what a message says."""

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
from sklearn.base import clone

from co2forest import ModelFormatError
from co2forest.tables import TableEncoder

N = 40
HALF_OWL = "\ud800"  # no file in UTF-8 can hold it
FILLER = pd.Series(np.linspace(-1, 1, N), name="filler")


def fit(cells, name="a", **options):
    """An encoder of one column, and a second that is always kept."""
    frame = pd.DataFrame({name: pd.Series(cells), "filler": FILLER})
    return TableEncoder(**options).fit(frame), frame


def features(cells, name="a", **options):
    """Names and values of the features of a column."""
    encoder, frame = fit(cells, name, **options)
    names = encoder.get_feature_names_out().tolist()
    rows = encoder.transform(frame)
    assert rows.dtype == np.float32
    assert rows.shape == (N, len(names)) == (N, encoder.n_features_out_)
    assert names[-1] == "filler"
    return dict(zip(names[:-1], rows.T, strict=False))


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
    np.testing.assert_array_equal(features(cells)["a"], np.array(HALVES, dtype=np.float32))


@pytest.mark.parametrize("cells", [[3, 5] * 20, pd.array([3, 5] * 20, dtype="Int8")])
def test_whole_numbers_stay(cells):
    np.testing.assert_array_equal(features(cells)["a"], np.array([3, 5] * 20, dtype=np.float32))


@pytest.mark.parametrize("dtype", [bool, object, "boolean"])
def test_booleans_are_numbers(dtype):
    values = features(pd.Series([True, False] * 20, dtype=dtype))["a"]
    np.testing.assert_array_equal(values, [1, 0] * 20)


@pytest.mark.parametrize("missing", [None, np.nan, "NA", "?", "", "none"])
def test_missing_numbers_get_an_indicator_if_there_are_many(missing):
    kind = list if missing is None or isinstance(missing, float) else (lambda c: [*map(str, c)])
    few = features([missing, *kind(HALVES[1:])])
    assert few.keys() == {"a"}
    assert np.isnan(few["a"]).tolist() == [True] + [False] * 39
    many = features([missing] * 4 + kind(HALVES[4:]))
    assert many.keys() == {"a", "a=(missing)"}
    np.testing.assert_array_equal(many["a=(missing)"], [1] * 4 + [0] * 36)


def test_infinity_is_refused():
    encoder, frame = fit(HALVES)
    finite = "infinite; leave it empty or give a finite number"
    for value, words in ((np.inf, finite), (1e39, r"1e\+39, which float32 cannot hold; ")):
        frame.loc[7, "a"] = value
        with pytest.raises(ValueError, match=f"^column 'a', row 8 is {words}"):
            encoder.transform(frame)


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
    rows = encoder.transform(frame)
    assert np.isnan(rows[-3:, :3]).all()
    assert encoder.get_feature_names_out()[3] == "a=(missing)"
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


def test_categories_are_ordered_by_frequency():
    cells = ["b"] * 10 + ["a"] * 15 + ["c"] * 10 + [None] * 3 + ["x", "y"]
    columns = features(cells)
    names = ["a=a", "a=b", "a=c", "a=(other)", "a=(missing)"]
    assert list(columns) == names
    np.testing.assert_array_equal(sum(columns.values()), np.ones(N))
    assert [int(columns[name].sum()) for name in names] == [15, 10, 10, 2, 3]


def test_at_most_so_many_categories():
    columns = features([f"c{i % 10}" for i in range(N)], max_categories=4)
    assert list(columns) == ["a=c0", "a=c1", "a=c2", "a=c3", "a=(other)"]
    assert columns["a=(other)"].sum() == 24


def test_long_texts_are_rare_ones():
    columns = features(["x" * 201] * 10 + ["a", "b"] * 15)
    assert list(columns) == ["a=a", "a=b", "a=(other)"]


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
    assert list(features(cells, **options)) == ["a=1", "a=2"]


def test_halves_of_characters_are_spelt_out():
    cells = pd.Series([HALF_OWL, "b"] * 20, dtype=object)
    assert list(features(cells)) == ["a=\\ud800", "a=b"]


def test_codes_with_zeros_are_categories():
    assert list(features(["01", "10"] * 20)) == ["a=01", "a=10"]


@pytest.mark.parametrize("other", [False, True])
def test_categories_that_are_new(other):
    cells = ["a", "b"] * 19 + (["x", "y"] if other else ["a", "b"])
    encoder, frame = fit(cells)
    rows = encoder.transform(frame.assign(a="new"))
    assert rows[:, :-1].sum() == (N if other else 0)
    notes = encoder.notes(frame.assign(a=["new"] * 3 + ["a"] * 37))
    assert len(notes) == (0 if other else 1)
    for note in notes:
        assert note.startswith("a: in 3 rows, categories that were not in training, ")
        assert note.endswith(": new")


def test_missing_ones_that_are_new():
    encoder, frame = fit(["a", "b"] * 20)
    assert encoder.transform(frame.assign(a=None))[:, :-1].sum() == 0


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
    assert why_dropped([f"n{i}" for i in range(N)], keep=["a"]) == "no text comes often enough"
    with pytest.raises(ValueError, match="drop names columns that the table does not have: z; it"):
        fit(HALVES, drop=["z"])
    with pytest.raises(ValueError, match="'keep' parameter of TableEncoder must be an array-like"):
        fit(HALVES, keep="a")
    with pytest.raises(ValueError, match="max_categories"):
        fit(HALVES, max_categories=0)


@pytest.mark.parametrize("cells", [[f"C{i}" for i in range(20)], ["x"] * 20, [5.0] * 20])
def test_what_says_only_whether_it_is_missing(cells):
    columns = features([*cells, *[None] * 20])
    assert list(columns) == ["a=(missing)"]
    np.testing.assert_array_equal(columns["a=(missing)"], [0] * 20 + [1] * 20)


def test_nothing_is_left():
    frame = pd.DataFrame({"id": range(N), "a": [1] * N})
    with pytest.raises(ValueError, match=r"no column is left .*id \(an identifier.*a \(constant"):
        TableEncoder().fit(frame)


# --- tables that are asked for numbers


def test_columns_in_any_order_and_more_of_them():
    encoder, frame = fit(["u", "v"] * 20)
    expected = encoder.transform(frame)
    other = frame[["filler", "a"]].assign(extra=1)
    np.testing.assert_array_equal(encoder.transform(other), expected)
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
    rows = encoder.transform(frame.assign(a=nothing))[:, :-1]
    assert (np.isnan(rows) | (rows == 0)).all()


def test_words_among_numbers_are_named():
    encoder, frame = fit(HALVES)
    frame["a"] = ["1", "NA", "many" * 30, *["2"] * 37]
    with pytest.raises(ValueError, match=r"column 'a', row 3: 'many.*\.\.\.' is not a number, as"):
        encoder.transform(frame)
    frame["a"] = ["1", "NA", "007", *["2"] * 37]  # all numbers
    np.testing.assert_array_equal(encoder.transform(frame)[:4, 0], [1, np.nan, 7, 2])


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


def test_wide_tables_are_sparse():
    generator = np.random.default_rng(0)
    words = {f"c{j}": generator.choice([f"w{i}" for i in range(40)], 2000) for j in range(9)}
    frame = pd.DataFrame(words | {"n": generator.normal(size=2000)})
    frame.loc[generator.random(2000) < 0.1, "n"] = np.nan
    encoder = TableEncoder().fit(frame)
    assert encoder.sparse_
    rows = encoder.transform(frame)
    assert sp.issparse(rows)
    assert rows.format == "csr"
    assert rows.dtype == np.float32
    assert rows.nnz < 2000 * 12
    encoder.sparse_ = False
    np.testing.assert_array_equal(rows.toarray(), encoder.transform(frame))


def test_sparse_columns():
    rng = np.random.default_rng(0)
    present = rng.random((200, 400)) < 0.05
    numbers = sp.csr_array(np.where(present, rng.random((200, 400)), 0))
    names = [f"x{j}" for j in range(400)]
    frame = pd.DataFrame.sparse.from_spmatrix(numbers, columns=names)
    encoder = TableEncoder().fit(frame)
    assert encoder.sparse_
    assert not encoder.dropped_
    np.testing.assert_array_equal(
        encoder.transform(frame).toarray(), numbers.toarray().astype(np.float32)
    )
    dense = frame.sparse.to_dense()
    np.testing.assert_array_equal(
        encoder.transform(dense).toarray(), encoder.transform(frame).toarray()
    )


def test_every_column_is_described():
    frame = pd.DataFrame(
        {
            "n": [None] * 10 + HALVES[10:],
            "when": pd.date_range("2020-01-01", periods=N),
            "kind": ["a", "b", None, "a"] * 10,
            "id": range(N),
        }
    )
    assert TableEncoder().fit(frame).describe() == [
        "n: a number, and whether it is missing",
        "when: a date, as days, month, weekday",
        "kind: 2 categories, and whether it is missing",
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
    encoder = TableEncoder(max_categories=2, keep=["number"]).fit(mixed)
    text = json.dumps(encoder.to_json(), allow_nan=False)
    for twin in (
        TableEncoder.from_json(json.loads(text)),
        pickle.loads(pickle.dumps(encoder)),
    ):
        assert twin.describe() == encoder.describe()
        assert twin.to_json() == encoder.to_json()
        np.testing.assert_array_equal(twin.transform(mixed), encoder.transform(mixed))
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
    "an encoder must be an object with categorical, ": edit(lambda s: s.pop("sparse")),
    "'sparse' must be true or false": edit(lambda s: s.update(sparse=1)),
    "max_categories": edit(lambda s: s.update(max_categories=10**9)),
    "'drop' must be a list of strings": edit(lambda s: s.update(drop=[1])),
    "'keep' must be different": edit(lambda s: s.update(keep=["a", "a"])),
    "'columns' must be a list": edit(lambda s: s.update(columns=[])),
    "a column must be an object": edit(lambda s: s.update(columns=[3])),
    "unknown kind of column: 'code'": edit(lambda s: s["columns"][0].update(kind="code")),
    "a column must be an object with a kind": edit(lambda s: s["columns"][0].update(kind=[])),
    "a column of kind 'number' must have name, missing": edit(
        lambda s: s["columns"][0].update(more=1)
    ),
    "'name' must be a string": edit(lambda s: s["columns"][0].update(name=None)),
    "'name' must be a string of at most": edit(lambda s: s["columns"][0].update(name="x" * 10**6)),
    "'name' must be a string of at most 10000 characters, got '.ud": edit(
        lambda s: s["columns"][0].update(name=HALF_OWL)
    ),
    "two columns have the same name": edit(lambda s: s["columns"][0].update(name="kind")),
    "'missing' must be true": edit(lambda s: s["columns"][0].update(missing="yes")),
    "'categories' must be a list of strings": edit(lambda s: s["columns"][1].update(categories=1)),
    "'categories' must be different": edit(lambda s: s["columns"][1].update(categories=["a", "a"])),
    "'categories' must be at most": edit(lambda s: s["columns"][1].update(categories=["a" * 1000])),
    "'categories' must be at most 10000": edit(
        lambda s: s["columns"][1].update(categories=[*map(str, range(10_001))])
    ),
    "'kind' has no features": edit(
        lambda s: s["columns"][1].update(categories=[], other=False, missing=False)
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
    np.testing.assert_array_equal(encoder.transform(frame[::-1]), rows[::-1])


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
    assert not np.isinf(rows).any()
    twin = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    np.testing.assert_array_equal(twin.transform(frame[::-1]), rows[::-1])
    encoder.notes(frame)
