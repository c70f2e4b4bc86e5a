# SPDX-License-Identifier: BSD-3-Clause
"""Rows whose features are views of columns are the rows of the expanded matrix, bit for bit."""

import copy
import pickle

import numpy as np
import pytest

from co2forest import _native
from native_forests import misaligned
from some_views import (
    NO_FOLDS,
    NUMBER,
    ODD,
    Builder,
    every_kind,
    expanded,
    random_rows,
    random_views,
    rows_of,
)

NONE = np.empty(0, dtype=np.float32)
FINITE = [x for x in ODD if not np.isinf(x) and abs(x) < 1e9]  # what a number may be in training


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_expanded(seed):
    rng = np.random.default_rng(seed)
    n_columns, n_features = int(rng.integers(1, 9)), int(rng.integers(1, 150))
    n_folds = int(rng.choice([0, 1, 5, 255]))
    arrays = random_views(rng, n_columns, n_features, n_folds)
    X = random_rows(rng, 60, n_columns)
    folds = rng.integers(n_folds, size=60).astype(np.uint8) if n_folds else NO_FOLDS
    views = _native.Views(arrays, n_columns, n_folds)
    assert (views.n_columns, views.n_features, views.n_folds) == (n_columns, n_features, n_folds)
    out = views.expand(X, folds)
    np.testing.assert_array_equal(out, expanded(arrays, X, folds))
    assert out.dtype == np.float32
    rows = _native.view_rows(X, views, folds)
    assert (rows.count, rows.features) == (60, n_features)


def test_no_rows():
    views = _native.Views(every_kind().arrays(), 4, 3)
    assert views.expand(np.empty((0, 4), dtype=np.float32), NO_FOLDS).shape == (0, 9)


# --- the same forests


SPLITS = ("Co2Params", "AxisParams", "TwoProbeParams", "CoordinateParams", "DiscriminantParams")


def trained(rows, targets, n_outputs, split="Co2Params", n_threads=1, passes=1, weight=NONE):
    params = _native.TrainParams()
    params.grow.split = getattr(_native, split)()
    if hasattr(params.grow.split, "max_features"):
        params.grow.split.max_features = 4
    params.sampling.n_draws = rows.count
    params.sampling.bootstrap = True
    params.n_trees, params.n_threads = 3, n_threads
    params.refine.passes = passes
    return _native.train(rows, targets, weight, n_outputs, NONE, params)[0]


def assert_same(forest, expected):
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(forest.arrays()[name], array, err_msg=name)


def problem(seed, n=400, n_columns=6, n_features=40, n_folds=3, share=0.2):
    rng = np.random.default_rng(seed)
    arrays = random_views(rng, n_columns, n_features, n_folds)
    X = random_rows(rng, n, n_columns, FINITE, share)
    # Rows that differ in each column: no duplicates, here or when they are expanded.
    X[:, 0] = rng.permutation(n).astype(np.float32) / 7
    arrays["column"][0], arrays["kind"][0] = 0, 0
    arrays["argument"][0] = arrays["size"][0] = 0
    folds = rng.integers(n_folds, size=n).astype(np.uint8) if n_folds else NO_FOLDS
    rows, dense = rows_of(arrays, X, folds, n_folds)
    score = np.nan_to_num(X[:, 0]) / n * 20 + (X[:, 1] > 3) + 2 * (X[:, 2] == 4)
    label = np.digitize(score, np.quantile(score, [0.3, 0.7])).astype(np.int32)
    return rows, dense, label, (score[:, None] - 3).astype(np.float32)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", range(3))
def test_forests_and_predictions_are_those_of_dense_rows(split, seed):
    rows, dense, label, number = problem(seed, n_features=(12, 40, 130)[seed])
    for targets, n_outputs in ((label, 3), (number, 1)):
        if targets is number and split not in ("Co2Params", "AxisParams", "TwoProbeParams"):
            continue  # these are for classes
        forest = trained(rows, targets, n_outputs, split)
        assert_same(forest, trained(dense, targets, n_outputs, split))
        for method in (forest.predict, forest.apply):
            np.testing.assert_array_equal(method(rows, 1), method(dense, 1))


def test_features_of_many_rows_are_judged_on_the_same_rows():
    """From 1000 rows on, outliers are judged on some of them."""
    rows, dense, label, _ = problem(5, n=4000)
    assert_same(trained(rows, label, 3), trained(dense, label, 3))


@pytest.mark.parametrize("kind", ["squared", "huber", "quantile", "poisson"])
def test_every_loss_of_numbers(kind):
    rows, dense, _, number = problem(1)
    forests = []
    for each in (rows, dense):
        params = _native.TrainParams()
        params.grow.split.max_features = 4
        params.sampling.n_draws = each.count
        params.n_trees = 2
        params.loss.kind = getattr(_native.ValueLossKind, kind)
        forests.append(_native.train(each, abs(number), NONE, 1, NONE, params)[0])
    assert_same(*forests)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 1000])
def test_any_number_of_rows_is_predicted(n):
    rng = np.random.default_rng(n)
    arrays = random_views(rng, 5, 50, 2)
    X, label = random_rows(rng, 300, 5, FINITE), rng.integers(3, size=300).astype(np.int32)
    folds = rng.integers(2, size=300).astype(np.uint8)
    forest = trained(rows_of(arrays, X, folds, 2)[1], label, 3)
    rows, dense = rows_of(
        arrays, random_rows(rng, n, 5), rng.integers(2, size=n).astype(np.uint8), 2
    )
    for method in (forest.predict, forest.apply):
        for n_threads in (1, 3):
            np.testing.assert_array_equal(method(rows, n_threads), method(dense, 1))


@pytest.mark.threads
def test_any_number_of_threads_gives_the_same_forest():
    rows, _, label, _ = problem(2)
    expected = trained(rows, label, 3)
    for n_threads in (2, 3):
        assert_same(trained(rows, label, 3, n_threads=n_threads), expected)


def test_what_else_reads_rows():
    rows, dense, label, number = problem(3)
    weight = (np.arange(len(label)) % 3).astype(np.float32)
    for function, arguments in (
        (_native.feature_ranges, (weight,)),
        (_native.sample_by_key, (label, 3, weight, 7, 50)),
        (_native.sample_by_key, (number, 1, weight, 7, 50)),
    ):
        for got, expected in zip(
            np.atleast_2d(function(rows, *arguments)),
            np.atleast_2d(function(dense, *arguments)),
            strict=True,
        ):
            np.testing.assert_array_equal(got, expected)
    forest, sampling = trained(rows, label, 3), _native.SamplingParams()
    sampling.n_draws = rows.count
    sampling.bootstrap = True
    for got, expected in zip(
        _native.out_of_bag(forest, rows, sampling, 0, 2),
        _native.out_of_bag(forest, dense, sampling, 0, 1),
        strict=True,
    ):
        np.testing.assert_array_equal(got, expected)


def test_boosting():
    rows, dense, label, number = problem(4)
    held_out = (np.arange(len(label)) % 4 == 0).astype(np.uint8)
    for targets, n_outputs in ((label, 3), (number, 1)):
        results = []
        for each in (rows, dense):
            params = _native.BoostParams()
            params.grow.split.max_features = 4
            params.n_rounds = 5
            empty = np.empty(0)
            result = _native.boost(
                each, targets, NONE, held_out, n_outputs, params, None, empty, None
            )
            results.append((result.take_forest(), np.array(result.start)))
        assert_same(results[0][0], results[1][0])
        np.testing.assert_array_equal(results[0][1], results[1][1])


def test_duplicates_are_merged_within_a_fold():
    """A weight of two and a row that occurs twice are the same, if the fold is the same."""
    rng = np.random.default_rng(0)
    arrays = every_kind().arrays()
    X, label = random_rows(rng, 80, 4, FINITE), (np.arange(80) % 2).astype(np.int32)
    X[:, 0] = np.arange(80)
    folds = (np.arange(80) % 3).astype(np.uint8)
    views, twice = _native.Views(arrays, 4, 3), np.tile(np.arange(80), 2)

    def forest(index, folds, weight):
        rows = _native.view_rows(X[index], views, folds)
        params = _native.TrainParams()
        params.grow.split.max_features = 2
        params.sampling.n_draws = rows.count
        return _native.train(rows, label[index], np.float32(weight), 2, NONE, params)[0]

    once = forest(np.arange(80), folds, np.full(80, 2))
    repeated = forest(twice, folds[twice], np.ones(160))
    for name in ("weight", "threshold", "value", "weighted_count"):
        np.testing.assert_array_equal(repeated.arrays()[name], once.arrays()[name])
    other = np.concatenate([folds, (folds + 1) % 3]).astype(np.uint8)
    apart = forest(twice, other, np.ones(160))
    assert apart.arrays()["sample_count"][0] == 2 * once.arrays()["sample_count"][0]


# --- what comes from outside


def test_arrays_and_pickles():
    given = every_kind().arrays()
    views = _native.Views(given, 4, 3)
    for other in (views, copy.deepcopy(views), pickle.loads(pickle.dumps(views))):
        assert (other.n_columns, other.n_folds) == (4, 3)
        arrays = other.arrays()
        assert list(arrays) == list(given)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, given[name])
            assert array.dtype == given[name].dtype
            assert not array.flags.writeable
    make, (arrays, n_columns, n_folds, digest) = views.__reduce__()
    damaged = {name: array.copy() for name, array in arrays.items()}
    damaged["values"][0] = 77
    with pytest.raises(ValueError, match="digest of the views is wrong"):
        make(damaged, n_columns, n_folds, digest)
    with pytest.raises(ValueError, match="digest of the views is wrong"):
        make(arrays, n_columns + 1, n_folds, digest)
    make(damaged, n_columns, n_folds)


def test_rows_hold_on_to_what_they_look_into():
    X = np.ones((3, 4), dtype=np.float32)
    rows = _native.view_rows(X, _native.Views(every_kind().arrays(), 4, 3), np.zeros(3, np.uint8))
    expected = _native.feature_ranges(rows, NONE)
    del X
    np.testing.assert_array_equal(_native.feature_ranges(rows, NONE), expected)


def put(name, index, value):
    return lambda arrays: arrays[name].__setitem__(index, value)


HOSTILE = {
    "column: missing": lambda a: a.pop("column"),
    "column: empty": lambda a: a.update({k: v[:0] for k, v in a.items()}),
    "column: negative": put("column", 0, -1),
    "column: beyond": put("column", 3, 4),
    "column: dtype": lambda a: a.update(column=a["column"].astype(np.int64)),
    "kind: unknown": put("kind", 0, 5),
    "kind: too short": lambda a: a.update(kind=a["kind"][:-1].copy()),
    "kind: two dimensions": lambda a: a.update(kind=a["kind"][:, None]),
    "argument: negative code": put("argument", 2, -1),
    "argument: code beyond 2^24": put("argument", 2, 2**24),
    "argument: of a number": put("argument", 0, 1),
    "argument: table before the values": put("argument", 4, -1),
    "argument: table beyond": put("argument", 4, 17),
    "argument: far beyond": put("argument", 4, 2**62),
    "argument: most negative": put("argument", 6, -(2**63)),
    "argument: too short": lambda a: a.update(argument=a["argument"][:-1].copy()),
    "argument: folded table beyond": put("argument", 5, 10),
    "argument: last table beyond": put("argument", 6, 18),
    "size: of a number": put("size", 0, 1),
    "size: of a code": put("size", 2, 1),
    "size: no codes": put("size", 4, 0),
    "size: negative": put("size", 4, -3),
    "size: overflow": put("size", 5, 2**62),
    "size: largest": put("size", 4, 2**63 - 1),
    "size: list": lambda a: a.update(size=a["size"].tolist()),
    "values: NaN": put("values", 0, np.nan),
    "values: infinite": put("values", -1, np.inf),
    "values: too short": lambda a: a.update(values=a["values"][:-1].copy()),
    "values: empty": lambda a: a.update(values=a["values"][:0]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused(name):
    arrays = every_kind().arrays()
    _native.Views(arrays, 4, 3)
    HOSTILE[name](arrays)
    with pytest.raises(ValueError, match=r"views array '\w+'"):
        _native.Views(arrays, 4, 3)


@pytest.mark.parametrize(
    ("n_columns", "n_folds"),
    [(3, 3), (0, 3), (-1, 3), (2**31, 3), (4, 0), (4, -1), (4, 5), (4, 256), (4, 2**40)],
)
def test_numbers_of_columns_and_folds_that_cannot_be(n_columns, n_folds):
    with pytest.raises(ValueError, match=r"n_columns|n_folds|does not exist|out of the values"):
        _native.Views(every_kind().arrays(), n_columns, n_folds)


def test_random_damage_is_refused_or_harmless():
    rng = np.random.default_rng(0)
    good, X = every_kind().arrays(), random_rows(rng, 40, 4)
    folds, refused = np.zeros(40, dtype=np.uint8), 0
    for _ in range(500):
        arrays = {name: array.copy() for name, array in good.items()}
        array = arrays[rng.choice(sorted(arrays))]
        array.view(np.uint8)[rng.integers(array.nbytes)] ^= 1 << rng.integers(8)
        try:
            views = _native.Views(arrays, 4, 3)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_array_equal(views.expand(X, folds), expanded(arrays, X, folds))
    assert 50 < refused < 450


def test_rows_that_do_not_suit_the_views():
    views = _native.Views(every_kind().arrays(), 4, 3)
    X, folds = np.ones((5, 4), dtype=np.float32), np.zeros(5, dtype=np.uint8)
    no_folds = _native.Views(Builder().add(NUMBER, 0).arrays(), 4)
    _native.view_rows(X, no_folds, NO_FOLDS)
    for rows in (_native.view_rows, lambda x, v, f: v.expand(x, f)):
        rows(X, views, folds)
        with pytest.raises(ValueError, match="X has 3 columns, but the views are of 4"):
            rows(X[:, :3].copy(), views, folds)
        with pytest.raises(ValueError, match="X has 5 rows, but there are 0 folds"):
            rows(X, views, NO_FOLDS)
        with pytest.raises(ValueError, match="X has 5 rows, but there are 4 folds"):
            rows(X, views, folds[:4])
        with pytest.raises(ValueError, match="in fold 3, but the views have 3 folds"):
            rows(X, views, folds + np.uint8(3))
        with pytest.raises(ValueError, match="in fold 0, but the views have 0 folds"):
            rows(X, no_folds, folds)
        with pytest.raises(ValueError, match="not aligned"):
            rows(misaligned(X), views, folds)
        for bad in (X.astype(np.float64), X.astype(np.uint8), np.asfortranarray(X), X[0], None):
            with pytest.raises(TypeError):
                rows(bad, views, folds)
        for bad in (folds.astype(np.int64), folds[:, None], None):
            with pytest.raises(TypeError):
                rows(X, views, bad)
    with pytest.raises(TypeError):
        _native.view_rows(X, None, folds)
