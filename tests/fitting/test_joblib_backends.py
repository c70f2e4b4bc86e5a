# SPDX-License-Identifier: BSD-3-Clause
"""joblib's backends: the same forest, bit for bit, from wherever the user lets trees grow."""

import os
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV

import spied_forests
from co2forest import (
    CO2BoostingClassifier,
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    _native,
    baselines,
)
from co2forest.fitting.batches import split
from co2forest.fitting.grow import grow_here, n_threads
from co2forest.fitting.trees import TreeRange
from co2forest.segmentation import ForestSegmenter
from dask_faults import wait_until
from network_messages import received
from small_models import posix

distributed = pytest.importorskip("distributed")

PROCESSES = ("loky", "multiprocessing", "dask")
# Python 3.12 and newer say so of a fork beside the threads of a Dask client.
pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two processes, for all tests of this file."""
    with (
        distributed.LocalCluster(
            processes=True,
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",  # two runs at a time must not quarrel about a port
            local_directory=tmp_path_factory.mktemp("dask"),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def backend(request):
    """A context in which two jobs run in processes of the named backend."""
    if request.param == "dask":
        request.getfixturevalue("cluster")
    return parallel_config(request.param, n_jobs=2)


in_processes = pytest.mark.parametrize("backend", PROCESSES, indirect=True)
left_out_by_none = pytest.mark.filterwarnings("ignore:.* rows were drawn by every tree")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)).astype(np.float32)
    return X, (X[:, 0] + X[:, 3] > 0).astype(int) + (X[:, 1] > 1)


def assert_same(a, b):
    left, right = a._forest.arrays(), b._forest.arrays()
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].dtype == right[name].dtype, name
        assert left[name].tobytes() == right[name].tobytes(), name
    assert a.n_iter_.tobytes() == b.n_iter_.tobytes()


def bytes_of(X):
    return np.clip(128 + 40 * X, 0, 255).astype(np.uint8)


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.float32("nan"), X)


def sparse(X):
    return sp.csr_array(X * (np.abs(X) > 0.5))


def numbers(X):
    return X[:, 0] ** 2 + X[:, 1]


def labels(X):
    return (X[:, :3] > 0).astype(int)


def codes(X):
    return (X[:, 0] + X[:, 3] > 0).astype(int) + (X[:, 1] > 1)


# Estimator, what becomes of X, what is y.
CASES = {
    "floats": (CO2ForestClassifier(9, mixture=None), np.asarray, codes),
    "units": (
        CO2ForestClassifier(9, mixture=None),
        lambda X: X * 10.0 ** (np.arange(12) % 4),
        codes,
    ),
    "bytes": (CO2ForestClassifier(9, mixture=None), bytes_of, codes),
    "missing": (CO2ForestClassifier(9, mixture=None), with_gaps, codes),
    "sparse": (CO2ForestClassifier(9, scale="soft", mixture=None), sparse, codes),
    "cccp": (CO2ForestClassifier(5, solver="cccp", max_depth=3, mixture=None), np.asarray, codes),
    "refined": (CO2ForestClassifier(5, refine=2, mixture=None), np.asarray, codes),
    "balanced": (
        CO2ForestClassifier(9, bootstrap=True, class_weight="balanced_subsample", mixture=None),
        np.asarray,
        codes,
    ),
    "out of bag": (
        CO2ForestClassifier(
            9, bootstrap=True, oob_score=lambda a, b: -accuracy_score(a, b), mixture=None
        ),
        np.asarray,
        codes,
    ),
    "costs": (
        CO2ForestClassifier(9, cost_matrix=[[0, 1, 5], [1, 0, 2], [3, 1, 0]], mixture=None),
        np.asarray,
        codes,
    ),
    "labels": (CO2ForestClassifier(9, class_weight="balanced", mixture=None), np.asarray, labels),
    "numbers": (CO2ForestRegressor(9, keep_targets=True, mixture=None), np.asarray, numbers),
    "select": (CO2ForestRegressor(9, solver="select", mixture=None), np.asarray, numbers),
    "huber": (CO2ForestRegressor(9, loss="huber", delta=0.3, mixture=None), np.asarray, numbers),
    "quantile": (CO2ForestRegressor(9, loss="quantile", alpha=0.2, mixture=None), sparse, numbers),
    "axis": (baselines.AxisForestClassifier(9, max_samples=0.5), np.asarray, codes),
    "two-probe": (baselines.TwoProbeForestRegressor(9), bytes_of, numbers),
    "lda": (baselines.LDAForestClassifier(9), np.asarray, codes),
    "oc1": (baselines.OC1ForestClassifier(5, max_depth=4), np.asarray, codes),
}


# How rows travel, and what a pickle must hold, is a question to each backend.
TRAVELS = ("floats", "bytes", "sparse", "out of bag", "costs", "numbers")
WEIGHTED = ("sparse", "out of bag", "labels", "numbers", "axis")


@left_out_by_none
@pytest.mark.parametrize("case", CASES)
def test_the_forest_is_the_same(rows, case):
    assert_grown_alike(rows, case, parallel_config("loky", n_jobs=2))


@left_out_by_none
@pytest.mark.parametrize(
    "backend",
    ["threading", pytest.param("multiprocessing", marks=pytest.mark.slow), "dask"],
    indirect=True,
)
@pytest.mark.parametrize("case", TRAVELS)
def test_the_forest_is_the_same_from_other_backends(rows, backend, case):
    assert_grown_alike(rows, case, backend)


def assert_grown_alike(rows, case, backend):
    estimator, change, target = CASES[case]
    X, y = change(rows[0]), target(rows[0])
    weights = np.arange(len(y)) % 3 if case in WEIGHTED else None
    expected = clone(estimator).set_params(random_state=3).fit(X, y, weights)
    with backend:
        forest = clone(expected).fit(X, y, weights)
    assert_same(forest, expected)
    assert vars(forest).keys() == vars(expected).keys()
    for name in ("solver_", "scale_", "oob_score_"):
        assert getattr(forest, name, None) == getattr(expected, name, None)
    np.testing.assert_array_equal(
        getattr(forest, forest._oob_name, 0), getattr(expected, forest._oob_name, 0)
    )
    assert hasattr(expected, "_kept") == getattr(estimator, "keep_targets", False)
    if hasattr(expected, "_kept"):
        kept = forest._kept.stored()
        for name, array in expected._kept.stored().items():
            np.testing.assert_array_equal(kept[name], array, err_msg=name)


@in_processes
def test_trees_grow_in_two_other_processes(rows, backend):
    def in_two():
        processes = spied_forests.TellsProcess(24, random_state=0).fit(*rows).n_iter_
        assert os.getpid() not in processes
        assert len(np.unique(processes)) <= 2
        return len(np.unique(processes)) == 2

    with backend:
        wait_until(in_two)  # the first may have done all before the second has started


@in_processes
def test_a_batch_has_one_thread(rows, backend):
    with backend:
        forest = spied_forests.TellsThreads(8, n_jobs=2, random_state=0).fit(*rows)
        assert forest._n_threads() == 2
    assert (forest.n_iter_ == 1).all()


@pytest.mark.parametrize("name", ["threading", "sequential"])
def test_one_native_call_where_memory_is_shared(rows, name):
    with parallel_config(name, n_jobs=2):
        forest = spied_forests.TellsProcess(8, random_state=0).fit(*rows)
        threads = spied_forests.TellsThreads(8, random_state=0).fit(*rows)
    assert (forest.n_iter_ == os.getpid()).all()
    assert (threads.n_iter_ == (2 if name == "threading" else 1)).all()


def test_without_a_choice_trees_grow_here(rows):
    forest = spied_forests.TellsProcess(8, n_jobs=2, random_state=0).fit(*rows)
    assert (forest.n_iter_ == os.getpid()).all()


@in_processes
def test_what_has_no_batches_stays_here(rows, backend):
    X, y = rows
    images = [bytes_of(np.random.default_rng(4).normal(size=(30, 30))) for _ in range(2)]
    maps = [(image > 128).astype(np.uint8) for image in images]
    segmenter = ForestSegmenter(5, 4, samples_per_tree=200, random_state=0).fit(images, maps)
    tree = CO2TreeClassifier(random_state=0).fit(X, y)
    boosted = CO2BoostingClassifier(n_estimators=4, random_state=0).fit(X, y)
    single = spied_forests.TellsProcess(1, random_state=0)
    alone = spied_forests.TellsProcess(8, n_jobs=1, random_state=0)
    with backend:
        again = clone(segmenter).fit(images, maps)
        np.testing.assert_array_equal(again.predict(images[0]), segmenter.predict(images[0]))
        assert_same(again.classifier_, segmenter.classifier_)
        assert_same(clone(tree).fit(X, y), tree)
        assert_same(clone(boosted).fit(X, y), boosted)
        for forest in (single, alone):
            assert (forest.fit(X, y).n_iter_ == os.getpid()).all()


@left_out_by_none
@in_processes
@pytest.mark.parametrize("make", [CO2ForestClassifier, CO2ForestRegressor])
def test_warm_start(rows, backend, make):
    params = {"n_estimators": 17, "bootstrap": True, "oob_score": True, "random_state": 5}
    expected = make(**params).fit(*rows)
    forest = make(**{**params, "n_estimators": 5}, warm_start=True).fit(*rows)
    with backend:
        forest.set_params(n_estimators=17).fit(*rows)
    assert_same(forest, expected)
    assert forest.oob_score_ == expected.oob_score_


@in_processes
def test_progress_counts_trees(rows, backend, capsys):
    with backend:
        CO2ForestClassifier(12, random_state=0, verbose=1, mixture=None).fit(*rows)
    lines = capsys.readouterr().err.splitlines()
    assert "0/12 trees" in lines[0]
    assert "12/12 trees" in lines[-1]
    assert any("8/12 trees" in line for line in lines)


@pytest.mark.parametrize("backend", ["multiprocessing", "dask"], indirect=True)
def test_a_failure_reaches_the_user_and_changes_nothing(rows, backend):
    forest = spied_forests.Fails(8, scale="global", random_state=0)
    fitted = CO2ForestClassifier(8, scale="global", random_state=0, mixture=None).fit(*rows)
    vars(forest).update(vars(fitted))
    before = dict(vars(forest))
    with backend, pytest.raises(ValueError, match="tree 7 cannot grow"):
        forest.fit(*rows)
    assert vars(forest) == before


@posix
def test_an_interrupt_ends_the_fit_and_changes_nothing(rows):
    forest = spied_forests.Interrupts(8, scale="global", random_state=0)
    vars(forest).update(
        vars(CO2ForestClassifier(8, scale="global", random_state=0, mixture=None).fit(*rows))
    )
    before = dict(vars(forest))
    with parallel_config("multiprocessing", n_jobs=2), pytest.raises(KeyboardInterrupt):
        forest.fit(*rows)
    assert vars(forest) == before
    assert len(forest.predict(rows[0])) == len(rows[0])


def test_large_rows_are_mapped_by_processes():
    X = np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32)  # 1.6 MB
    with parallel_config("loky", n_jobs=2):
        forest = spied_forests.TellsMapped(8, max_depth=1, random_state=0).fit(X, X[:, 0] > 0)
    assert forest.n_iter_.all()


def test_rows_come_to_a_dask_worker_once(rows, cluster):
    with parallel_config("dask"):
        arrivals = spied_forests.TellsArrival(24, random_state=0).fit(*rows).n_iter_
    assert len(np.unique(arrivals)) <= 2  # workers; there are six batches


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"], indirect=True)
def test_no_processes_in_processes(rows, backend, n_jobs):
    forest = spied_forests.TellsProcess(random_state=0, n_jobs=n_jobs)
    grid = {"n_estimators": [4, 8]}
    search = GridSearchCV(forest, grid, cv=2, scoring=_process_of_all, refit=False)
    with backend:
        search.fit(*rows)
    for name in ("split0_test_score", "split1_test_score"):
        processes = search.cv_results_[name]
        assert (processes > 0).all()
        assert os.getpid() not in processes


def _process_of_all(forest, X, y):
    """The number of this process, if it has grown all trees."""
    return os.getpid() if (forest.n_iter_ == os.getpid()).all() else 0


def test_dask_tasks_may_start_dask_tasks(rows, cluster):
    search = GridSearchCV(
        CO2ForestClassifier(random_state=0, mixture=None), {"n_estimators": [4, 8]}, cv=2
    )
    expected = clone(search).fit(*rows)
    with parallel_config("dask"):
        search.fit(*rows)
    assert_same(search.best_estimator_, expected.best_estimator_)
    for name in ("split0_test_score", "split1_test_score"):
        np.testing.assert_array_equal(search.cv_results_[name], expected.cv_results_[name])


@in_processes
def test_threads_here_do_not_follow_the_jobs_there(rows, backend):
    forest = CO2ForestClassifier(4, random_state=0, mixture=None).fit(*rows)
    with backend:
        assert joblib.effective_n_jobs(None) == 2
        assert forest._n_threads() == n_threads(None) == n_threads(1) == 1
        assert n_threads(3) == 3
        assert n_threads(-1) == joblib.cpu_count()
        assert n_threads(-(10**6)) == 1
        assert n_threads(10**6) == 1024
        with pytest.raises(ValueError, match="n_jobs == 0"):
            n_threads(0)
        assert joblib.effective_n_jobs(None) == 2  # as before


def test_threads_follow_a_backend_of_threads():
    with parallel_config("threading", n_jobs=3):
        assert n_threads(None) == 3
    assert n_threads(None) == 1


def test_batches():
    for n_trees in (2, 3, 7, 8, 24, 100, 1001):
        for n_jobs in (2, 3, 64):
            first, size = split(n_trees, n_jobs)
            assert first == np.concatenate([[0], np.cumsum(size)[:-1]]).tolist()
            assert sum(size) == n_trees
            assert 1 <= min(size) <= max(size) <= min(size) + 1
            assert min(n_jobs, n_trees) <= len(size) <= 3 * n_jobs
    assert split(100, 2).size == [16, 17, 17, 16, 17, 17]
    assert split(8, 2).size == [4, 4]


def test_training_data_can_be_pickled(rows):
    X, y = rows
    forest = CO2ForestClassifier(cost_matrix=1 - np.eye(3), mixture=None)
    _, data = forest._read(X, y, np.arange(len(y)))
    sent = data.to_send()
    assert not any(type(value).__module__ == _native.__name__ for value in vars(sent).values())
    copy = pickle.loads(pickle.dumps(sent))
    for name in ("X", "targets", "weights"):
        assert getattr(copy, name).tobytes() == getattr(data, name).tobytes()
    for name in ("n_rows", "n_features", "n_outputs", "impurity_unit", "loss"):
        assert getattr(copy, name) == getattr(data, name)
    assert X.nbytes < sent.__sizeof__() < 2 * X.nbytes
    for some in (sent, copy):  # Dask does not pickle what a task sends to its own worker
        assert some.rows.count == len(y)


@pytest.mark.parametrize("target", [codes, labels, numbers])
@pytest.mark.parametrize("storage", [np.asarray, sparse])
def test_training_data_may_lie_anywhere(rows, storage, target):
    """Arrays from a network begin in the middle of a number and cannot be written to."""
    X = storage(rows[0])
    make = CO2ForestRegressor if target is numbers else CO2ForestClassifier
    forest = make(3, scale="auto", random_state=0)
    weights = np.arange(1, len(rows[0]) + 1)
    outputs, data = forest._read(X, target(rows[0]).astype(np.uint16), weights)
    plan = forest._decide(outputs, data)
    mean = np.array(grow_here(plan, data, TreeRange(0, 1)).forest.arrays()["mean"])
    sent = (plan, data.to_send(), TreeRange(0, 3, mean), outputs)
    plan, copy, trees, outputs = received(sent)
    assert not trees.mean.flags.aligned
    grown = [grow_here(plan, some, trees).forest.arrays() for some in (data, copy)]
    for name in grown[0]:
        assert grown[0][name].tobytes() == grown[1][name].tobytes()
    assert forest._decide(outputs, copy) == plan  # a trial reads targets and weights, too


def test_trees_may_lie_anywhere(forest):
    arrays, *rest = forest._forest.__reduce__()[1]
    buffers = {name: memoryview(b"-" + array.tobytes())[1:] for name, array in arrays.items()}
    shifted = {name: np.frombuffer(buffers[name], array.dtype) for name, array in arrays.items()}
    assert not shifted["left"].flags.aligned
    copy = _native.Forest(shifted, *rest).arrays()
    for name in arrays:
        assert copy[name].tobytes() == arrays[name].tobytes()
