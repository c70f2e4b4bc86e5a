# SPDX-License-Identifier: BSD-3-Clause
"""One seed, one forest: whatever the number of threads, processes, repeats or callers."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification

from co2forest import CO2ForestClassifier, CO2TreeClassifier, _native

pytestmark = pytest.mark.threads

SETTINGS = {
    "default": {},
    "cccp": {"solver": "cccp", "max_depth": 3},
    "bootstrap": {"bootstrap": True, "class_weight": "balanced_subsample"},
    "best first": {"max_leaf_nodes": 20, "max_samples": 0.7},
}


@pytest.fixture(scope="module")
def data():
    """Features in different units, so that scale="auto" makes its trial."""
    X, y = make_classification(900, 10, n_informative=6, n_classes=4, flip_y=0.1, random_state=0)
    X = (X * 10.0 ** (np.arange(10) % 4)).astype(np.float32)
    return X[:600], X[600:], y[:600]


def forest_of(params, **changes):
    return CO2ForestClassifier(
        **{"n_estimators": 11, "random_state": 42, **params, **changes}, mixture=None
    )


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("repeats", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_the_file_does_not_depend_on_threads_or_repeats(data, name, storage, repeats, digest_of):
    X, X_test, y = data
    X = storage(X)
    expected = forest_of(SETTINGS[name]).fit(X, y)
    proba, digest = expected.predict_proba(X_test), digest_of(expected)
    for n_jobs in (1, 2, 3, 7):
        for _ in range(repeats):
            forest = forest_of(SETTINGS[name], n_jobs=n_jobs).fit(X, y)
            assert digest_of(forest) == digest
            np.testing.assert_array_equal(forest.predict_proba(X_test), proba)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_the_file_does_not_depend_on_the_instruction_set(data, digest_of, level):
    X, _, y = data
    bytes_of_rows = np.clip(128 + 40 * np.tile(X / X.std(axis=0), (1, 8)), 0, 255).astype(np.uint8)
    before = _native.testing.kernels()
    for params in SETTINGS.values():
        for rows in (X, sp.csr_array(X), bytes_of_rows):
            expected = forest_of(params).fit(rows, y)
            proba = expected.predict_proba(rows)
            try:
                if not _native.testing.select_kernels(level):
                    pytest.skip(f"this processor has no {level}")
                forest = forest_of(params, n_jobs=2).fit(rows, y)
                assert digest_of(forest) == digest_of(expected)
                np.testing.assert_array_equal(forest.predict_proba(rows), proba)
            finally:
                _native.testing.select_kernels(before)


def test_predictions_do_not_depend_on_threads_or_blocks(data):
    X, X_test, y = data
    many = np.tile(X_test, (20, 1))
    forest = forest_of({}).fit(X, y)
    proba, leaves = forest.predict_proba(many), forest.apply(many)
    for n_jobs in (1, 2, 3, 7, -1):
        forest.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(forest.predict_proba(many), proba)
        np.testing.assert_array_equal(forest.apply(many), leaves)
        np.testing.assert_array_equal(forest.predict_proba(sp.csr_array(many)), proba)
    one_by_one = np.concatenate([forest.predict_proba(many[i : i + 1]) for i in range(50)])
    np.testing.assert_array_equal(one_by_one, proba[:50])
    np.testing.assert_array_equal(np.tile(proba[:300], (20, 1)), proba)


def test_out_of_bag_estimates_do_not_depend_on_threads(data):
    X, _, y = data
    params = {"bootstrap": True, "oob_score": True, "n_estimators": 30}
    expected = forest_of(params, n_jobs=1).fit(X, y)
    for n_jobs in (2, 5):
        forest = forest_of(params, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(
            forest.oob_decision_function_, expected.oob_decision_function_
        )


def test_seeds_differ(data):
    X, X_test, y = data
    seen = [forest_of({}, random_state=seed).fit(X, y).predict_proba(X_test) for seed in range(5)]
    seen.append(forest_of({}, random_state=None).fit(X, y).predict_proba(X_test))
    seen.append(forest_of({}, random_state=None).fit(X, y).predict_proba(X_test))
    for i in range(len(seen)):
        for j in range(i):
            assert not np.array_equal(seen[i], seen[j])


def test_trees_of_a_forest_differ(data):
    X, X_test, y = data
    for params in ({}, {"bootstrap": True}):
        leaves = forest_of(params).fit(X, y).apply(X_test)
        assert len(np.unique(leaves, axis=1).T) == 11


@pytest.mark.parametrize("name", SETTINGS)
def test_the_first_trees_do_not_depend_on_the_number_of_trees(data, name, assert_same_trees):
    X, _, y = data
    many = forest_of(SETTINGS[name], n_estimators=20, n_jobs=2).fit(X, y)
    few = forest_of(SETTINGS[name], n_estimators=3).fit(X, y)
    for a, b in zip(few.estimators_, many.estimators_[:3], strict=True):
        assert_same_trees(a, b)


def test_random_state_instances(data, assert_same_trees):
    X, _, y = data
    a = forest_of({}, random_state=np.random.RandomState(3)).fit(X, y)
    b = forest_of({}, random_state=np.random.RandomState(3)).fit(X, y)
    assert_same_trees(a, b)
    state = np.random.RandomState(3)
    first = forest_of({}, random_state=state).fit(X, y)
    second = forest_of({}, random_state=state).fit(X, y)  # the state has moved on
    assert_same_trees(a, first)
    assert not np.array_equal(first.predict_proba(X + 0.1), second.predict_proba(X + 0.1))


def test_the_global_random_state_is_used_and_only_without_a_seed(data, assert_same_trees):
    X, _, y = data
    np.random.seed(11)  # noqa: NPY002
    a = forest_of({}, random_state=None).fit(X, y)
    np.random.seed(11)  # noqa: NPY002
    b = forest_of({}, random_state=None).fit(X, y)
    assert_same_trees(a, b)
    np.random.seed(11)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(11)  # noqa: NPY002
    forest_of({}).fit(X, y)
    assert np.random.random() == expected  # noqa: NPY002


def test_tree_is_deterministic(data, assert_same_trees):
    X, _, y = data
    first, second = (CO2TreeClassifier(random_state=1).fit(X, y) for _ in range(2))
    assert_same_trees(first, second)


def test_another_order_of_rows_gives_a_similar_forest(data):
    X, X_test, y = data
    order = np.random.default_rng(0).permutation(len(y))
    a = forest_of({}, n_estimators=30).fit(X, y).predict(X_test)
    b = forest_of({}, n_estimators=30).fit(X[order], y[order]).predict(X_test)
    assert np.mean(a == b) > 0.85


# --- threads of Python


def test_eight_threads_predict_at_once(data):
    X, X_test, y = data
    many = np.tile(X_test, (10, 1))
    forest = forest_of({}, n_jobs=2).fit(X, y)
    expected = forest.predict_proba(many)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(forest.predict_proba, [many] * 40))
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_four_threads_fit_at_once(data, digest_of):
    X, _, y = data
    expected = [digest_of(forest_of({}, random_state=seed).fit(X, y)) for seed in range(3)]

    def fit(i):
        return forest_of({}, random_state=i % 3, n_jobs=1 + i % 2).fit(X, y)

    with ThreadPoolExecutor(4) as pool:
        for i, forest in enumerate(pool.map(fit, range(12))):
            assert digest_of(forest) == expected[i % 3]


def test_other_threads_run_while_a_forest_is_fitted(data):
    """The lock of the interpreter is free: a thread is never kept waiting for long."""
    X, _, y = data
    ticks, done = [], []

    def tick():
        while not done:
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    def longest_wait(n_estimators):
        """As a fraction of the fit."""
        begin = time.perf_counter()
        forest_of({}, n_estimators=n_estimators).fit(X, y)
        end = time.perf_counter()
        during = [begin, *(t for t in ticks if begin < t < end), end]
        return max(np.diff(during)) / (end - begin)

    with ThreadPoolExecutor(1) as pool:
        ticking = pool.submit(tick)
        try:
            # On a busy machine a thread waits for a processor, too, but not longer in longer fits.
            assert any(longest_wait(n) < 0.5 for n in (300, 1000, 3000))
        finally:
            done.append(True)
        ticking.result()


# --- joblib


# tests/fitting/test_joblib_backends.py has processes in more detail.
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib_contexts(data, backend, digest_of):
    X, X_test, y = data
    expected = forest_of({}, n_jobs=1).fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        forest = forest_of({}).fit(X, y)  # n_jobs=None: what the context says
        proba = forest.predict_proba(X_test)
    assert digest_of(forest) == digest_of(expected)
    np.testing.assert_array_equal(proba, expected.predict_proba(X_test))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_fits_inside_joblib_workers(data, backend, digest_of):
    X, X_test, y = data
    expected = forest_of({}).fit(X, y)
    results = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(forest_of({}, n_jobs=2).fit)(X, y) for _ in range(3)
    )
    for forest in results:
        assert digest_of(forest) == digest_of(expected)
    predictions = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(expected.predict_proba)(X_test) for _ in range(3)
    )
    for proba in predictions:
        np.testing.assert_array_equal(proba, expected.predict_proba(X_test))


# --- processes


def _child(queue, X, y, X_test, forest):
    fitted = clone(forest).fit(X, y)
    queue.put((fitted.predict_proba(X_test), forest.predict_proba(X_test)))


# Python 3.12 warns about a fork of a process with threads, as pytest and joblib may have started.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    ("method", "n_jobs"),
    [
        ("fork", 1),
        pytest.param("fork", 2, marks=pytest.mark.after_fork),
        ("spawn", 2),
    ],
)
def test_child_processes_fit_and_predict(data, method, n_jobs):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on {sys.platform}")
    X, X_test, y = data
    forest = forest_of({}, n_jobs=n_jobs).fit(X, y)  # threads have run before the fork
    expected = forest.predict_proba(X_test)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue, X, y, X_test, forest))
    child.start()
    try:
        fitted, inherited = queue.get(timeout=240)
        child.join(240)
        assert child.exitcode == 0
    finally:
        if child.is_alive():
            child.kill()
            child.join()
    np.testing.assert_array_equal(fitted, expected)
    np.testing.assert_array_equal(inherited, expected)
