# SPDX-License-Identifier: BSD-3-Clause
"""The native core refuses whatever could make it read or write where it must not."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

from co2forest import CO2ForestClassifier, _native
from native_forests import (
    X,
    Y,
    drop_last,
    make_loop,
    misaligned,
    set_value,
    shift_offset,
    train,
)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((3, 2)),
        np.ones((3, 2), dtype=np.float16),
        np.ones((3, 2), dtype=np.int32),
        np.ones((3, 2), dtype=np.int8),
        np.ones((3, 2), dtype=">f4"),
        np.ones((3, 2), dtype=np.float32, order="F"),
        np.ones((3, 4), dtype=np.float32)[:, ::2],
        np.ones((6, 2), dtype=np.float32)[::2],
        np.ones(3, dtype=np.float32),
        np.ones((3, 2, 1), dtype=np.float32),
        np.float32(1),
        [[1.0, 2.0]],
        None,
        "rows",
    ],
    ids=repr,
)
def test_native_rows_are_never_converted(array):
    with pytest.raises(TypeError):
        _native.dense_rows(array)


def test_native_arrays_must_be_aligned():
    with pytest.raises(ValueError, match="not aligned"):
        _native.dense_rows(misaligned(np.ones((3, 2), dtype=np.float32)))
    for i in range(3):
        arrays = list(csr())
        arrays[i] = misaligned(arrays[i])
        with pytest.raises(ValueError, match="not aligned"):
            _native.sparse_rows(*arrays)


def test_arrays_that_are_not_aligned_are_copied():
    rows = X.astype(np.float32)
    labels, weight = (np.arange(40) % 3).astype(np.int32), np.ones(40, dtype=np.float32)
    expected = CO2ForestClassifier(2, random_state=0, mixture=None).fit(rows, labels, weight)
    sparse = sp.csr_array(rows)
    sparse.data, sparse.indices = misaligned(sparse.data), misaligned(sparse.indices)
    for data in (misaligned(rows), sparse):
        forest = CO2ForestClassifier(2, random_state=0, mixture=None)
        forest.fit(data, misaligned(labels), misaligned(weight))
        np.testing.assert_array_equal(forest.predict_proba(data), expected.predict_proba(rows))


def csr(begin=(0, 2, 3), feature=(0, 2, 1), value=(1, 2, 3), n_features=3):
    return (
        np.array(begin, dtype=np.int64),
        np.array(feature, dtype=np.int32),
        np.array(value, dtype=np.float32),
        n_features,
    )


@pytest.mark.parametrize("p", [1, 3, 16, 37])
def test_feature_ranges_are_those_of_the_observed_values(p):
    X = np.random.default_rng(p).integers(1, 200, (50, p)).astype(np.float32)
    weight = (np.arange(50) % 3).astype(np.float32)
    X[0], X[3] = 0, 255  # rows without weight
    weight[[1, 2]] = 1.0
    expected = np.ptp(X[weight > 0], axis=0)
    for dtype in (np.uint8, np.float32):
        ranges = _native.feature_ranges(_native.dense_rows(X.astype(dtype)), weight)
        np.testing.assert_array_equal(ranges, expected)
    X[4:7, 0] = np.nan
    expected = np.nanmax(X[weight > 0], axis=0) - np.nanmin(X[weight > 0], axis=0)
    begin = np.arange(0, 50 * p + 1, p)
    feature = np.tile(np.arange(p, dtype=np.int32), 50)
    for rows in (_native.dense_rows(X), _native.sparse_rows(begin, feature, X.ravel(), p)):
        np.testing.assert_array_equal(_native.feature_ranges(rows, weight), expected)
    X[:, 0] = np.nan
    assert _native.feature_ranges(_native.dense_rows(X), weight)[0] == 0.0


def test_native_sparse_rows():
    rows = _native.sparse_rows(*csr())
    assert (rows.count, rows.features) == (2, 3)


@pytest.mark.parametrize(
    "bad",
    [
        {"begin": ()},
        {"begin": (1, 2, 3)},
        {"begin": (0, 2, 2)},
        {"begin": (0, 2, 4)},
        {"begin": (0, 3, 2, 3)},
        {"begin": (0, -1, 3)},
        {"begin": (0, 2**62, 3)},
        {"feature": (0, 3, 1)},
        {"feature": (-1, 2, 1)},
        {"feature": (2, 0, 1)},
        {"feature": (1, 1, 1)},
        {"feature": (0, 2)},
        {"value": (1, 2)},
        {"value": (1, 2, 3, 4)},
        {"n_features": 2},
        {"n_features": 2**31},
    ],
    ids=str,
)
def test_ill_formed_native_sparse_rows(bad):
    with pytest.raises(ValueError, match=r"sparse matrix|X has more than"):
        _native.sparse_rows(*csr(**bad))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_native_sparse_rows_of_a_wrong_dtype(position):
    arguments = list(csr())
    arguments[position] = arguments[position].astype(np.float64)
    with pytest.raises(TypeError):
        _native.sparse_rows(*arguments)


def test_native_training():
    forest, _ = train()
    assert forest.n_trees == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"target": np.array([0, 1], dtype=np.int32)},
        {"target": np.array([0, 1, 2], dtype=np.int32)},
        {"target": np.array([0, -1, 1], dtype=np.int32)},
        {"weight": np.ones(2, dtype=np.float32)},
        {"weight": np.zeros(3, dtype=np.float32)},
        {"weight": np.array([1, -1, 1], dtype=np.float32)},
        {"weight": np.array([1, np.nan, 1], dtype=np.float32)},
        {"weight": np.array([1, np.inf, 1], dtype=np.float32)},
        {"mean": np.zeros(3, dtype=np.float32)},
        {"n_outputs": 0},
        {"n_outputs": -1},
        {"shape": (0, 2)},
        {"shape": (3, 0)},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_bad_native_training(bad):
    with pytest.raises(ValueError):  # noqa: PT011
        train(**bad)


@pytest.mark.parametrize(
    "bad",
    [
        {"target": np.array([0, 1, 1])},
        {"weight": np.ones(3)},
        {"mean": np.zeros(2)},
        {"rows": np.ones((3, 2), dtype=np.float32)},
        {"params": None},
        {"target": [0, 1, 1]},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_native_training_with_wrong_types(bad):
    with pytest.raises(TypeError):
        train(**bad)


@pytest.mark.parametrize(("n_rows", "n_draws"), [(0, 3), (3, 0), (3, -5), (3, 4), (2**31, 1)])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_draws_that_cannot_be(n_rows, n_draws, bootstrap):
    sampling = _native.SamplingParams()
    sampling.bootstrap, sampling.n_draws = bootstrap, n_draws
    with pytest.raises(ValueError, match=f"cannot draw {n_draws} of {n_rows} rows"):
        _native.draw_counts(n_rows, sampling, 0, 0)


def test_native_prediction_with_another_number_of_features():
    forest, _ = train()
    rows = _native.dense_rows(np.ones((2, 3), dtype=np.float32))
    for method in (forest.predict, forest.apply):
        with pytest.raises(ValueError, match="X has 3 features"):
            method(rows, 1)
    with pytest.raises(IndexError):
        forest.tree(1)
    with pytest.raises(ValueError, match="no forests"):
        _native.Forest.concatenate([])


@pytest.fixture(scope="module")
def forest_arrays():
    forest = CO2ForestClassifier(3, max_depth=3, random_state=0, mixture=None).fit(X, Y)
    return {name: np.array(array) for name, array in forest._forest.arrays().items()}


def _delete(arrays):
    del arrays["left"]


def _swap_children(arrays):
    first, second = np.flatnonzero(arrays["left"] >= 0)[:2]
    arrays["left"][[first, second]] = arrays["left"][[second, first]]


CORRUPTIONS = {
    "left: missing": _delete,
    "left: too short": drop_last("left"),
    "left: beyond the tree": set_value("left", 0, 10**6),
    "left: most negative": set_value("left", 0, -(2**31)),
    "left: minus two": set_value("left", 0, -2),
    "left: a loop": make_loop,
    "left: itself": set_value("left", 0, 0),
    "left: swapped": _swap_children,
    "left: root is a leaf": set_value("left", 0, -1),
    "left: dtype": lambda a: a.update(left=a["left"].astype(np.int64)),
    "left: list": lambda a: a.update(left=a["left"].tolist()),
    "tree_begin: not from zero": set_value("tree_begin", 0, 1),
    "tree_begin: empty tree": lambda a: a["tree_begin"].__setitem__(1, 0),
    "tree_begin: decreasing": lambda a: a["tree_begin"].__setitem__(1, a["tree_begin"][2] + 1),
    "tree_begin: too long": set_value("tree_begin", -1, 2**40),
    "tree_begin: empty": lambda a: a.update(tree_begin=np.empty(0, dtype=np.int64)),
    "tree_begin: no tree": lambda a: a.update(tree_begin=np.zeros(1, dtype=np.int64)),
    "tree_begin: negative": set_value("tree_begin", 1, -5),
    "threshold: NaN": set_value("threshold", 0, np.nan),
    "threshold: too short": drop_last("threshold"),
    "threshold: two dimensions": lambda a: a.update(threshold=a["threshold"][:, None]),
    "weight: infinite": set_value("weight", 0, 0x7F80),
    "weight: not a number": set_value("weight", 0, 0xFFFF),
    "weight: too short": drop_last("weight"),
    "weight: strided": lambda a: a.update(weight=np.repeat(a["weight"], 2)[::2]),
    "weight_begin: too short": drop_last("weight_begin"),
    "weight_begin: decreasing": shift_offset("weight_begin", True, 10**6),
    "weight_begin: negative": set_value("weight_begin", 1, -1),
    "feature_begin: beyond": set_value("feature_begin", -1, 2**40),
    "feature_begin: other number": shift_offset("feature_begin", True, 1),
    "value_begin: inner node with values": shift_offset("value_begin", True, 1),
    "value_begin: leaf without values": shift_offset("value_begin", False, -1),
    "value_output: no such class": set_value("value_output", 0, 3),
    "value_output: negative": set_value("value_output", 0, -1),
    "value_output: too short": drop_last("value_output"),
    "value: above one": set_value("value", 0, 1.5),
    "value: negative": set_value("value", 0, -0.5),
    "value: NaN": set_value("value", 0, np.nan),
    "value: sum": set_value("value", 0, 0.123),
    "impurity: NaN": set_value("impurity", 0, np.nan),
    "impurity: too large": set_value("impurity", 0, 2e30),
    "impurity: too short": drop_last("impurity"),
    "weighted_count: infinite": set_value("weighted_count", 0, np.inf),
    "weighted_count: too large": set_value("weighted_count", 0, 1e251),
    "weighted_count: negative": set_value("weighted_count", 0, -1.0),
    "sample_count: too short": drop_last("sample_count"),
    "sample_count: negative": set_value("sample_count", 0, -1),
    "mean: NaN": set_value("mean", 0, np.nan),
    "mean: empty": lambda a: a.update(mean=np.empty(0, dtype=np.float32)),
    "mean: too short": drop_last("mean"),
    "spread: too short": drop_last("spread"),
    "spread: negative": set_value("spread", 0, -1.0),
    "spread: NaN": set_value("spread", 0, np.nan),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corrupted_forests_are_refused(forest_arrays, name):
    arrays = {key: array.copy() for key, array in forest_arrays.items()}
    _native.Forest(arrays, 3)
    CORRUPTIONS[name](arrays)
    with pytest.raises(ValueError, match=r"forest array '\w+'"):
        _native.Forest(arrays, 3)


@pytest.mark.parametrize("n_outputs", [0, -1, 2, 2**40])
def test_corrupted_number_of_outputs(forest_arrays, n_outputs):
    with pytest.raises(ValueError, match=r"n_outputs|value_output"):
        _native.Forest(forest_arrays, n_outputs)


def test_features_of_a_node_that_do_not_exist():
    wide = np.zeros((40, 50), dtype=np.float32)
    wide[:, 7] = Y
    forest = CO2ForestClassifier(1, random_state=0, mixture=None).fit(wide, Y)
    good = {name: np.array(array) for name, array in forest._forest.arrays().items()}
    assert len(good["feature"])  # few of many features: they are listed
    for value in (50, -1, 2**31 - 1):
        arrays = {name: array.copy() for name, array in good.items()}
        arrays["feature"][0] = value
        with pytest.raises(ValueError, match="'feature' names a feature that does not exist"):
            _native.Forest(arrays, 3)


def test_random_damage_is_refused_or_harmless(forest_arrays):
    """Whatever one changed number does, prediction ends within the arrays."""
    generator = np.random.default_rng(0)
    rows = _native.dense_rows(X.astype(np.float32))
    refused = 0
    for _ in range(400):
        arrays = {key: array.copy() for key, array in forest_arrays.items()}
        array = arrays[generator.choice(sorted(arrays))]
        if len(array) == 0:
            continue
        array.view(np.uint8)[generator.integers(array.nbytes)] ^= 1 << generator.integers(8)
        try:
            forest = _native.Forest(arrays, 3)
        except ValueError:
            refused += 1
        else:
            proba = forest.predict(rows, 1)
            assert np.all((proba >= 0) & (proba <= 1))
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-3)
    assert 50 < refused < 400


def test_a_process_ends_quietly_beside_a_thread():
    """A thread that still runs keeps modules alive. Native objects in them would be reported."""
    code = """
    import threading
    import time

    import numpy as np

    from co2forest import CO2BoostingRegressor

    X = np.random.default_rng(0).normal(size=(50, 3))
    kept = type(CO2BoostingRegressor(n_estimators=2).fit(X, X[:, 0]))
    threading.Thread(target=lambda _: time.sleep(60), args=[kept], daemon=True).start()
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""
