# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of X and y that is accepted: layouts, dtypes, sparse formats, frames, NaN, labels."""

import itertools
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils import check_array

from co2forest import CO2ForestClassifier, CO2TreeClassifier, _native
from co2forest.data import rows as rows_module
from co2forest.data.outputs import classes
from co2forest.data.rows import ROW_DTYPES, plain_rows
from co2forest.estimators import target_readers


@pytest.fixture(scope="module")
def pixels():
    """Small integers, half of them zero: the same in every dtype and storage."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.integers(0, 100, (200, 21)) * (rng.random((200, 21)) < 0.5)
    X[np.arange(200), y] += 60
    return X.astype(np.uint8), y


@pytest.fixture(scope="module")
def model(pixels):
    X, y = pixels
    return CO2ForestClassifier(8, random_state=0, mixture=None).fit(X.astype(np.float32), y)


FOREST = CO2ForestClassifier(8, random_state=0, mixture=None)


# --- no copies


@pytest.fixture
def seen(monkeypatch):
    """The arrays that reach the native core, one list for each set of rows."""
    calls = []

    def record(function):
        def wrapper(*args):
            calls.append([arg for arg in args if isinstance(arg, np.ndarray)])
            return function(*args)

        return wrapper

    for name in ("dense_rows", "sparse_rows"):
        monkeypatch.setattr(_native, name, record(getattr(_native, name)))
    return calls


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_c_arrays_are_read_where_they_are(pixels, seen, dtype):
    X, y = pixels[0].astype(dtype), pixels[1]
    forest = clone(FOREST).fit(X, y)
    forest.predict(X[10:20])
    forest.apply(X)
    assert len(seen) == 3
    for (array,) in seen:
        assert array.dtype == dtype
        assert np.shares_memory(array, X)


def test_a_read_only_memory_map_is_read_where_it_is(pixels, seen, tmp_path, model):
    X, y = pixels[0].astype(np.float32), pixels[1]
    X.tofile(tmp_path / "x.bin")
    mapped = np.memmap(tmp_path / "x.bin", dtype=np.float32, mode="r", shape=X.shape)
    forest = clone(FOREST).fit(mapped, y)
    assert np.shares_memory(seen[0][0], mapped)
    np.testing.assert_array_equal(forest.predict_proba(mapped), model.predict_proba(X))


def test_csr_data_are_read_where_they_are(pixels, seen):
    X = sp.csr_array(pixels[0].astype(np.float32))
    clone(FOREST).fit(X, pixels[1])
    _, columns, values = seen[0]
    assert np.shares_memory(values, X.data)
    assert np.shares_memory(columns, X.indices)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_fit_and_predict_allocate_little(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 255, (20000, 200)).astype(dtype)
    y = (X[:, 0] > 128).astype(int)
    forest = CO2ForestClassifier(1, max_depth=2, max_iter=1, random_state=0, mixture=None)
    tracemalloc.start()
    try:
        forest.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


# --- dense arrays


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X,
        lambda X: X.astype(np.float64),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(">f4"),
        lambda X: X.astype(np.int64),
        lambda X: X.astype(np.int16),
        lambda X: X.astype(np.uint32),
        lambda X: X.astype(object),
        np.asfortranarray,
        lambda X: np.asfortranarray(X.astype(np.float32)),
        lambda X: np.repeat(X.astype(np.float32), 2, axis=0)[::2],
        lambda X: np.repeat(X.astype(np.float32), 2, axis=1)[:, ::2],
        lambda X: X.astype(np.float32)[:, ::-1][:, ::-1],
        lambda X: np.ascontiguousarray(X.T).T,
        lambda X: X.tolist(),
    ],
    ids=[
        "uint8",
        "float64",
        "float16",
        "big-endian",
        "int64",
        "int16",
        "uint32",
        "object",
        "fortran-uint8",
        "fortran-float32",
        "every-second-row",
        "every-second-column",
        "reversed-twice",
        "transposed",
        "list",
    ],
)
def test_layouts_and_dtypes_give_the_same_model(pixels, model, convert, assert_same_trees):
    X, y = pixels
    converted = convert(X)
    forest = clone(FOREST).fit(converted, y)
    assert_same_trees(forest, model)
    np.testing.assert_array_equal(model.predict_proba(converted), model.predict_proba(X))
    np.testing.assert_array_equal(model.apply(converted), model.apply(X))


@pytest.mark.parametrize("scale", ["auto", "standard", "soft", "minmax", "global", None])
@pytest.mark.parametrize(("solver", "features"), [("auto", 63), ("cccp", 64)])
def test_uint8_and_float32_give_the_same_model(digits, scale, solver, features, assert_same_trees):
    X, X_test, y, _ = digits
    X, X_test = X[:, :features].copy(), X_test[:, :features].copy()
    forest = CO2ForestClassifier(3, scale=scale, solver=solver, random_state=0, mixture=None)
    small, large = clone(forest).fit(X, y), clone(forest).fit(X.astype(np.float32), y)
    assert_same_trees(small, large)
    np.testing.assert_array_equal(
        small.predict_proba(X_test), small.predict_proba(X_test.astype(np.float32))
    )


def test_many_features_of_uint8_give_almost_the_same_model(digits):
    """From 64 features on, large nodes project bytes with weights of 16 bits."""
    X, X_test, y, y_test = digits
    forest = CO2ForestClassifier(30, random_state=0, mixture=None)
    small, large = clone(forest).fit(X, y), clone(forest).fit(X.astype(np.float32), y)
    assert np.mean(small.predict(X_test) == large.predict(X_test)) > 0.98
    assert abs(small.score(X_test, y_test) - large.score(X_test, y_test)) < 0.01
    np.testing.assert_array_equal(
        small.predict_proba(X_test), small.predict_proba(X_test.astype(np.float32))
    )


def test_bool_arrays(assert_same_trees):
    rng = np.random.default_rng(0)
    X = rng.random((200, 30)) < 0.5
    y = X[:, :3].sum(axis=1) > 1
    forest = clone(FOREST).fit(X, y)
    assert forest.score(X, y) == 1.0
    assert_same_trees(forest, clone(FOREST).fit(X.astype(np.float32), y))


@pytest.mark.parametrize("p", [1, 2, 15, 16, 17, 31, 33, 64, 65])
def test_every_width(p):
    """Around the width of the vector units, nothing before or behind a row is read."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(150, p)).astype(np.float32)
    y = (X.sum(axis=1) > 0).astype(int)
    guarded = np.full((152, p), np.nan, dtype=np.float32)
    guarded[1:-1] = X
    forest = CO2ForestClassifier(3, random_state=0, mixture=None).fit(guarded[1:-1], y)
    assert forest.score(X, y) == 1.0
    for i in range(0, 150, 30):
        np.testing.assert_array_equal(
            forest.predict_proba(guarded[i + 1 : i + 2]), forest.predict_proba(X)[i : i + 1]
        )


# --- plain arrays, which are not sent through scikit-learn's validation


@pytest.mark.parametrize("dtype", "?bBhHiIlLefdg")
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_become_what_scikit_learn_makes_of_them(dtype, order):
    X = np.array([[0, 1, 2], [3, 4, 100]]).astype(dtype, order=order)
    for array in (X, X[:1], X[:, ::2], X.astype(X.dtype.newbyteorder())):
        rows = plain_rows(array)
        expected = check_array(array, dtype=list(ROW_DTYPES), order="C")
        assert rows.dtype == expected.dtype
        assert rows.flags.c_contiguous
        assert np.shares_memory(rows, array) == np.shares_memory(expected, array)
        np.testing.assert_array_equal(rows, expected)


def test_all_else_is_left_to_scikit_learn():
    X = np.ones((2, 3))
    others = [X[0], X[:, :, None], X[:0], X[:, :0], X.tolist(), sp.csr_array(X), None]
    others += [X.astype(dtype) for dtype in ("O", "U", "S", "D", "M8[s]")]
    others += [np.ma.masked_array(X)]
    others += [
        np.where(np.eye(2, 3), value, X) for value in (np.nan, np.inf, -np.inf, 1e39, 3.4e38)
    ]
    others += [np.array([[np.inf, -np.inf]])]
    for other in others:
        assert plain_rows(other) is None


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_plain_arrays_need_no_help(pixels, dtype, monkeypatch):
    """Validation would take most of the time of a row that is predicted alone."""

    def fail(*_, **__):
        pytest.fail("scikit-learn was asked")

    monkeypatch.setattr(rows_module, "validate_data", fail)
    monkeypatch.setattr(classes, "assert_all_finite", fail)
    for module in (classes, target_readers):
        monkeypatch.setattr(module, "check_classification_targets", fail)
    X, y = pixels[0].astype(dtype), pixels[1]
    forest = clone(FOREST).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X[:1]), forest.predict(X)[:1])


def test_a_fit_without_names_forgets_those_of_an_earlier_one(pixels):
    pd = pytest.importorskip("pandas")
    X, y = pixels
    forest = clone(FOREST).fit(pd.DataFrame(X[:, :3], columns=["a", "b", "c"]), y)
    forest.fit(X, y)
    assert forest.n_features_in_ == 21
    assert not hasattr(forest, "feature_names_in_")
    assert forest.predict(X).shape == (200,)  # and no warning


# --- sparse matrices


FORMATS = [
    sp.csr_matrix,
    sp.csr_array,
    sp.csc_matrix,
    sp.csc_array,
    sp.coo_matrix,
    sp.coo_array,
    sp.lil_matrix,
    sp.dok_array,
]


@pytest.mark.parametrize("storage", FORMATS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_sparse_formats(pixels, storage, dtype, assert_same_trees):
    X, y = pixels
    expected = clone(FOREST).fit(sp.csr_array(X.astype(np.float32)), y)
    sparse = storage(X.astype(dtype))
    forest = clone(FOREST).fit(sparse, y)
    assert_same_trees(forest, expected)
    np.testing.assert_array_equal(forest.predict_proba(sparse), expected.predict_proba(X))


def _messy(X):
    """CSR with int64 indices in reverse order; every element is stored as two halves."""
    X = sp.csr_array(X.astype(np.float32))
    ends = itertools.pairwise(X.indptr)
    order = np.concatenate([np.arange(begin, end)[::-1] for begin, end in ends])
    return sp.csr_array(
        (
            np.repeat(X.data[order] / 2, 2),
            np.repeat(X.indices[order].astype(np.int64), 2),
            2 * X.indptr.astype(np.int64),
        ),
        shape=X.shape,
    )


def test_unsorted_and_repeated_elements(pixels, assert_same_trees):
    X, y = pixels
    messy = _messy(X)
    kept = messy.indices.copy(), messy.data.copy()
    assert not messy.has_sorted_indices
    assert not messy.has_canonical_format
    forest = clone(FOREST).fit(messy, y)
    assert_same_trees(forest, clone(FOREST).fit(sp.csr_array(X.astype(np.float32)), y))
    np.testing.assert_array_equal(forest.predict_proba(messy), forest.predict_proba(X))
    np.testing.assert_array_equal(messy.indices, kept[0])  # the caller's matrix is as it was
    np.testing.assert_array_equal(messy.data, kept[1])


def test_stored_zeros_are_zeros(pixels, model):
    X, _ = pixels
    sparse = sp.csr_array(X.astype(np.float32))
    zeros = sp.csr_array(np.ones_like(X, dtype=np.float32))
    zeros.data[:] = X.ravel()
    assert zeros.nnz == X.size > sparse.nnz
    np.testing.assert_array_equal(model.predict_proba(zeros), model.predict_proba(sparse))


@pytest.mark.parametrize("trained_on", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("p", [3, 21, 200])
def test_dense_and_sparse_rows_are_predicted_to_the_same_bit(trained_on, p):
    X, y = make_classification(
        400, p, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=p
    )
    X = (X * (np.abs(X) > 0.4)).astype(np.float32)
    forest = clone(FOREST).fit(trained_on(X[:300]), y[:300])
    dense, sparse = X, sp.csr_array(X)
    np.testing.assert_array_equal(forest.apply(dense), forest.apply(sparse))
    np.testing.assert_array_equal(forest.predict_proba(dense), forest.predict_proba(sparse))
    assert (forest.decision_path(dense)[0] != forest.decision_path(sparse)[0]).nnz == 0


def test_sparse_training_is_as_good_as_dense(digits):
    X, X_test, y, y_test = digits
    dense = CO2ForestClassifier(20, random_state=0, mixture=None).fit(X, y).score(X_test, y_test)
    sparse = (
        CO2ForestClassifier(20, random_state=0, mixture=None)
        .fit(sp.csr_array(X), y)
        .score(X_test, y_test)
    )
    assert sparse > dense - 0.01


def test_empty_rows_and_columns(pixels):
    X, y = pixels[0].astype(np.float32), pixels[1]
    X[:, 4] = 0
    X[:50] = 0
    forest = clone(FOREST).fit(sp.csr_array(X), y)
    proba = forest.predict_proba(sp.csr_array((3, 21), dtype=np.float32))
    np.testing.assert_allclose(proba, np.tile(np.bincount(y[:50]) / 50, (3, 1)), atol=0.02)
    assert forest.feature_importances_[4] == 0.0


@pytest.mark.plain_build  # a sanitizer's allocator keeps what is freed, to see who uses it
def test_wide_sparse_data_are_never_made_dense():
    """As a dense block, 2000 x 50000 float32 would take 400 MB."""
    code = """
        import resource
        import numpy as np
        import scipy.sparse as sp
        from co2forest import CO2ForestClassifier

        rng = np.random.default_rng(0)
        X = sp.random(2000, 50000, density=0.001, format="csr", dtype=np.float32, random_state=rng)
        y = rng.integers(0, 4, 2000)
        X = X + sp.csr_array((np.ones(2000, np.float32), (np.arange(2000), y)), shape=X.shape)
        CO2ForestClassifier(1, max_depth=1).fit(X[:50], y[:50]).predict(X[:50])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        forest = CO2ForestClassifier(4, max_depth=4, random_state=0, n_jobs=2).fit(X, y)
        accuracy = forest.score(X, y)
        growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(accuracy, growth)
    """
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert result.returncode == 0, result.stderr
    accuracy, growth = map(float, result.stdout.split())
    print(f"growth of peak memory: {growth:.0f} MB")  # noqa: T201
    assert accuracy > 0.5
    assert growth < 150  # about 10


# --- data frames


def test_pandas(pixels, model, assert_same_trees):
    pd = pytest.importorskip("pandas")
    X, y = pixels
    names = [f"feature {i}" for i in range(21)]
    frame = pd.DataFrame(X.astype(np.float32), columns=names)
    forest = clone(FOREST).fit(frame, pd.Series(y, name="label"))
    assert_same_trees(forest, model)
    assert forest.feature_names_in_.tolist() == names
    assert forest.estimators_[0].feature_names_in_.tolist() == names
    np.testing.assert_array_equal(forest.predict(frame), model.predict(X))
    np.testing.assert_array_equal(
        forest.estimators_[0].predict(frame), model.estimators_[0].predict(X)
    )
    with pytest.raises(ValueError, match="feature names should match"):
        forest.predict(frame.rename(columns={"feature 3": "other"}))
    with pytest.raises(ValueError, match="feature names should match"):
        forest.predict(frame[names[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        forest.predict(X)
    with pytest.warns(UserWarning, match="X has feature names, but"):
        model.predict(frame)


def test_pandas_dtypes(assert_same_trees):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(
        {
            "a": rng.integers(0, 9, 100),
            "b": rng.normal(size=100).astype(np.float32),
            "c": rng.random(100) < 0.5,
            "d": rng.integers(0, 200, 100).astype(np.uint8),
        }
    )
    y = (plain["a"] + plain["b"] > 4).astype(int)
    nullable = plain.astype({"a": "Int64", "b": "Float32", "c": "boolean", "d": "UInt8"})
    arrow = plain.astype({"a": "int64[pyarrow]", "b": "float[pyarrow]", "d": "uint8[pyarrow]"})
    expected = clone(FOREST).fit(plain.to_numpy(dtype=np.float32), y)
    for frame in (plain, nullable, arrow):
        assert_same_trees(clone(FOREST).fit(frame, y), expected)
    assert_same_trees(clone(FOREST).fit(plain, y.astype("Int64")), expected)

    # A missing value of a nullable column is the same as NaN.
    holes = plain.astype(np.float32)
    holes.iloc[::9, 0] = np.nan
    masked = nullable.copy()
    masked.iloc[::9, 0] = pd.NA
    assert_same_trees(clone(FOREST).fit(masked, y), clone(FOREST).fit(holes, y))


def test_polars(pixels, model, assert_same_trees):
    pl = pytest.importorskip("polars")
    X, y = pixels
    names = [f"f{i}" for i in range(21)]
    frame = pl.DataFrame(X.astype(np.float32), schema=names)
    forest = clone(FOREST).fit(frame, pl.Series("label", y))
    assert_same_trees(forest, model)
    assert forest.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(forest.predict_proba(frame), model.predict_proba(X))
    with pytest.raises(ValueError, match="feature names should match"):
        forest.predict(frame.rename({"f3": "other"}))


# --- missing values


@pytest.fixture(scope="module")
def holes():
    X, y = make_classification(
        600, 9, n_informative=6, n_classes=3, class_sep=1.5, shift=None, random_state=1
    )
    X = X.astype(np.float32)
    rng = np.random.default_rng(0)
    missing = rng.random(X.shape) < 0.02  # more would have features of their own
    missing[:, 0] = False
    return np.where(missing, np.float32(np.nan), X), y


def _impute(X, mean):
    return np.where(np.isnan(X), mean.astype(np.float32), X)


def test_missing_values_are_the_mean_in_training(holes):
    X, y = holes
    mean = np.nanmean(X[:400].astype(np.float64), axis=0)
    forest = CO2ForestClassifier(30, random_state=0, scale=None, mixture=None)
    with_holes = clone(forest).fit(X[:400], y[:400])
    np.testing.assert_allclose(with_holes._forest.arrays()["mean"], mean, rtol=1e-6)
    imputed = clone(forest).fit(_impute(X[:400], mean), y[:400])
    # Not to the bit: the scale of a feature comes from its observed values alone.
    a, b = with_holes.predict_proba(X[400:]), imputed.predict_proba(_impute(X[400:], mean))
    assert np.abs(a - b).mean() < 0.06  # 0.036, as much as between two seeds
    assert np.mean(a.argmax(axis=1) == b.argmax(axis=1)) > 0.9


def test_missing_values_are_the_mean_where_a_node_starts(holes):
    """An axis-aligned split does not depend on scales, so here nothing may differ."""
    X, y = holes
    stumps = CO2ForestClassifier(
        30, max_depth=1, max_iter=1, learning_rate=1e-9, random_state=0, mixture=None
    )
    imputed = _impute(X, np.nanmean(X.astype(np.float64), axis=0))
    expected = clone(stumps).fit(imputed, y).apply(imputed)
    assert len(np.unique(expected, axis=1).T) > 3
    np.testing.assert_array_equal(clone(stumps).fit(X, y).apply(X), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_missing_values_are_the_training_mean_in_prediction(holes, storage, weighted):
    X, y = holes
    weight = np.arange(400) % 4 if weighted else np.ones(400)
    forest = clone(FOREST).fit(storage(X[:400]), y[:400], weight)
    masked = np.ma.masked_invalid(X[:400].astype(np.float64))
    mean = np.ma.average(masked, axis=0, weights=weight).filled()
    np.testing.assert_allclose(forest._forest.arrays()["mean"], mean, rtol=1e-5)
    imputed = _impute(X, np.asarray(forest._forest.arrays()["mean"]))
    for query in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(forest.apply(query), forest.apply(imputed))
        np.testing.assert_array_equal(forest.predict_proba(query), forest.predict_proba(imputed))


def test_a_model_trained_without_missing_values_predicts_with_them(blobs):
    X, y = blobs
    forest = clone(FOREST).fit(X, y)
    query = X.copy()
    query[::2, 3] = np.nan
    imputed = _impute(query, X.mean(axis=0, dtype=np.float64))
    np.testing.assert_array_equal(forest.predict_proba(query), forest.predict_proba(imputed))
    nothing = np.full((1, 8), np.nan, dtype=np.float32)
    mean = X.mean(axis=0, keepdims=True, dtype=np.float64).astype(np.float32)
    np.testing.assert_array_equal(forest.predict_proba(nothing), forest.predict_proba(mean))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", ["auto", "cccp"])
def test_a_column_without_any_value(holes, storage, solver):
    X, y = holes
    X = X.copy()
    X[:, 4] = np.nan
    forest = CO2ForestClassifier(5, solver=solver, random_state=0, mixture=None).fit(
        storage(X[:400]), y[:400]
    )
    assert forest.feature_importances_[4] == 0.0
    assert np.isfinite(forest.predict_proba(storage(X))).all()
    assert forest.score(storage(X[400:]), y[400:]) > 0.6
    seen_now = X.copy()
    seen_now[:, 4] = 1e6  # a value that training never saw has no weight
    np.testing.assert_array_equal(forest.predict_proba(seen_now), forest.predict_proba(X))


def test_missing_values_in_sparse_data(pixels):
    """NaN stands for the mean over the observed values, and zeros are observed."""
    X, y = pixels[0].astype(np.float32), pixels[1]
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    sparse = sp.csr_array(X)
    forest = clone(FOREST).fit(sparse, y)
    mean = np.nanmean(X.astype(np.float64), axis=0)
    np.testing.assert_allclose(forest._forest.arrays()["mean"], mean, rtol=1e-5)
    imputed = _impute(X, np.asarray(forest._forest.arrays()["mean"]))
    np.testing.assert_array_equal(forest.predict_proba(sparse), forest.predict_proba(imputed))
    assert forest.score(sparse, y) == 1.0


def test_all_missing_predicts_the_prior():
    y = np.array([0, 0, 0, 1])
    tree = CO2TreeClassifier().fit(np.full((4, 3), np.nan), y)
    np.testing.assert_allclose(tree.predict_proba(np.zeros((2, 3))), [[0.75, 0.25]] * 2)


# --- weights, and values that are no measurements


def test_sample_weights_of_every_kind(blobs, assert_same_trees):
    pd = pytest.importorskip("pandas")
    X, y = blobs
    weight = np.arange(300) % 3 + 1
    expected = clone(FOREST).fit(X, y, weight.astype(np.float64))
    for given in (
        weight,
        weight.astype(np.float32),
        weight.tolist(),
        pd.Series(weight),
        np.repeat(weight, 2)[::2],
    ):
        assert_same_trees(clone(FOREST).fit(X, y, given), expected)
    uniform = clone(FOREST).fit(X, y)
    assert_same_trees(clone(FOREST).fit(X, y, 1.0), uniform)


@pytest.mark.parametrize("sentinel", [-999.0, 1e6, 1e10])
@pytest.mark.parametrize("scale", ["auto", "standard", "global"])
def test_a_few_absurd_values_do_not_hide_the_others(sentinel: float, scale: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    absurd = rng.random(len(X)) < 0.05
    X[absurd, 0] = sentinel
    forest = CO2ForestClassifier(10, random_state=0, scale=scale, mixture=None).fit(
        X[:1000], y[:1000]
    )
    normal = ~absurd[1000:]
    # 0.96 to 0.98 measured. Without clipping a forest got 0.52 to 0.66 on similar data.
    assert forest.score(X[1000:][normal], y[1000:][normal]) > 0.94
