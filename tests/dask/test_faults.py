"""Clusters that lose workers, data, or everything: the same forest, or an error that says why."""

import copy
import logging
import os
import signal
import sys
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import dask_data
from co2forest.dask import ClusterError, DaskCO2ForestClassifier, _cluster, _forest
from co2forest.dask._memory import Plan
from dask_data import lazy_data
from dask_faults import (
    Diary,
    Trap,
    bare_workers,
    deadly_block,
    kill,
    meanwhile,
    peak_memory,
    plugged,
    python,
    unreachable_block,
    wait_until,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing can be killed there")

N_TREES = 16
N_ROWS = 1000  # of a partition: a tree takes long enough to be lost on the way
N_PARTITIONS = 6

# What takes a second may take this many where sanitizers slow all down.
PATIENCE = float(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))


def untrained(**parameters):
    return DaskCO2ForestClassifier(N_TREES, trees_per_task=1, random_state=0, **parameters)


def data(**kwargs):
    return lazy_data(N_PARTITIONS, N_ROWS, **kwargs)


@pytest.fixture(scope="module")
def undisturbed(cluster):
    """The forest of a fit during which nothing happens."""
    with Client(cluster):
        return untrained().fit(*data())


@pytest.fixture
def diary(client, tmp_path):
    with plugged(client, Diary(tmp_path / "diary")) as diary:
        yield diary


@pytest.fixture
def strict(cluster):
    """A task that has ended a worker is not tried again."""
    before = cluster.scheduler.allowed_failures
    cluster.scheduler.allowed_failures = 0
    yield
    cluster.scheduler.allowed_failures = before


@pytest.fixture
def empty_cluster():
    with LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


def n_finished(diary):
    return len({tree for tree, _ in diary.read("finished")})


def kill_after(diary, n_trees):
    """Kill the worker that finished a tree; gives how many had been finished by then."""
    wait_until(lambda: n_finished(diary) >= n_trees)
    kill(diary.read("finished")[n_trees - 1][1])
    return n_finished(diary)


def check_kill(diary, undisturbed, assert_same_trees, n_trees):
    with meanwhile(kill_after, diary, n_trees) as killed:
        forest = untrained().fit(*data())
    assert n_trees <= killed.result() < N_TREES
    assert_same_trees(forest, undisturbed)
    assert N_TREES <= len(diary.read("began")) <= 1.5 * N_TREES


@pytest.mark.parametrize("n_trees", [1, 3, 5])
def test_a_killed_worker_changes_nothing(diary, undisturbed, assert_same_trees, n_trees):
    check_kill(diary, undisturbed, assert_same_trees, n_trees)


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(20))
def test_no_killed_worker_changes_anything(diary, undisturbed, assert_same_trees, attempt):
    check_kill(diary, undisturbed, assert_same_trees, 1 + attempt % 10)


def test_one_worker_of_two_is_enough(empty_cluster, undisturbed, assert_same_trees, tmp_path):
    with (
        bare_workers(empty_cluster, 2),
        Client(empty_cluster) as client,
        plugged(client, Diary(tmp_path / "diary")) as diary,
    ):
        with meanwhile(kill_after, diary, 2) as killed:
            forest = untrained().fit(*data())
        assert killed.result() < N_TREES
        assert len(client.nthreads()) == 1
    assert_same_trees(forest, undisturbed)


@pytest.fixture
def hasty():
    """The client waits for workers for one second; what a scheduler does was decided before."""
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"}):
        yield


def test_no_worker_ever(empty_cluster, hasty):
    with Client(empty_cluster), pytest.raises(ClusterError, match="has had no worker for 1 s"):
        untrained().fit(*data())


def test_the_last_worker_is_lost_with_a_finished_tree(empty_cluster, hasty, monkeypatch, tmp_path):
    """A result that was ready is not any more when it is fetched."""
    fetch = _cluster.Running._fetch
    with (
        bare_workers(empty_cluster, 1) as workers,
        Client(empty_cluster) as client,
        plugged(client, Diary(tmp_path / "diary")) as diary,
    ):

        def too_late(self, future):
            if diary.read("finished"):
                kill(workers[0].pid)
                workers[0].join(timeout=60)
            return fetch(self, future)

        monkeypatch.setattr(_cluster.Running, "_fetch", too_late)
        with pytest.raises(ClusterError, match="the cluster has had no worker for 1 s"):
            untrained().fit(*data())
    assert 1 <= n_finished(diary) < N_TREES


def scattered(client):
    """Blocks that lie on workers and that nobody can make again."""
    blocks = [dask_data.block(seed, N_ROWS, 8) for seed in range(N_PARTITIONS)]
    return dask_data.collections(client.scatter(blocks), N_ROWS, 8)


def test_lost_data_are_an_error(client, diary, undisturbed, monkeypatch):
    X, y = scattered(client)
    # Waves of two trees: most are still to be drawn when a worker is lost.
    monkeypatch.setattr(_forest, "plan", lambda *_: Plan(1, 2, 2, 2, persist=False))
    with (
        meanwhile(kill_after, diary, 1),
        pytest.raises(ClusterError, match=r"trees (\d+) to \1: a worker was lost.*scatter"),
    ):
        untrained().fit(X, y)
    for use in (untrained().fit, undisturbed.score):
        with pytest.raises(ClusterError, match=r"partition \d: a worker was lost.*scatter"):
            use(X, y)


def test_a_block_that_ends_every_worker_is_named(client):
    X, y = data(make=deadly_block)
    message = r"partition 5: the task .*deadly_block-.* ended its worker 4 times"
    with pytest.raises(ClusterError, match=message):
        untrained().fit(X, y)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        # Dask blames all tasks that were on a worker when it ended.
        pytest.param(
            "co2forest-draw-.*-0-5$",
            r"a trial on a sample .*: the task .* ended its worker 1 time",
            marks=pytest.mark.slow,
        ),
        ("co2forest-grow-.*-5$", r"trees (\d+) to \1: the task .* ended its worker 1 time"),
    ],
    ids=["draw", "grow"],
)
def test_a_task_that_ends_every_worker_is_named(
    client, strict, undisturbed, assert_same_trees, key, message
):
    forest = copy.copy(undisturbed).set_params(random_state=1)
    before = vars(forest).copy()
    with plugged(client, Trap(key)), pytest.raises(ClusterError, match=message):
        forest.fit(*data())
    assert vars(forest) == before
    forest.set_params(random_state=0).fit(*data())
    assert forest._forest is not undisturbed._forest
    assert_same_trees(forest, undisturbed)


def test_a_scheduler_that_gives_up_first(hasty):
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster,
        Client(cluster),
        dask.config.set({"distributed.scheduler.no-workers-timeout": "1h"}),
        pytest.raises(ClusterError, match=r"partition \d: the scheduler has had no worker .* 1 s"),
    ):
        untrained().fit(*data())


def test_a_timeout_of_the_data_is_not_one_of_the_cluster(client):
    X, y = data(make=unreachable_block)
    with pytest.raises(TimeoutError, match="the disk does not answer"):
        untrained().fit(X, y)


def test_no_scheduler_left(empty_cluster, tmp_path):
    def close(diary):
        wait_until(lambda: n_finished(diary) >= 1)
        empty_cluster.close()

    with (
        bare_workers(empty_cluster, 1),
        Client(empty_cluster) as client,
        plugged(client, Diary(tmp_path / "diary")) as diary,
        meanwhile(close, diary),
        pytest.raises(ClusterError, match="connection to the Dask scheduler is lost"),
    ):
        untrained().fit(*data())


def unfinished(cluster):
    """Tasks of forests that workers have still to do."""
    ended = {"memory", "erred", "released", "forgotten"}
    tasks = list(cluster.scheduler.tasks.values())
    return [task for task in tasks if "co2forest" in str(task.key) and task.state not in ended]


def test_an_interrupted_fit_leaves_no_work(cluster, client, diary, undisturbed):
    forest = copy.copy(undisturbed).set_params(n_estimators=100)
    before = vars(forest).copy()

    def interrupt():
        wait_until(lambda: n_finished(diary) >= 1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return time.monotonic()

    with meanwhile(interrupt) as sent, pytest.raises(KeyboardInterrupt):
        forest.fit(*data())
    assert time.monotonic() - sent.result() < 2.0 * PATIENCE
    assert vars(forest) == before
    wait_until(lambda: not unfinished(cluster), 10)


def test_lazy_predictions_survive_a_killed_worker(client, undisturbed):
    X, _ = data()
    expected = undisturbed.to_local().predict_proba(X.compute())
    prediction = undisturbed.predict_proba(X)
    key = undisturbed._model_key
    wait_until(lambda: client.who_has().get(key))
    address = client.who_has()[key][0]
    kill(client.run(os.getpid, workers=[address])[address])
    wait_until(lambda: address not in client.nthreads())
    np.testing.assert_array_equal(prediction.compute(), expected)


DRIVER = """
import sys
from distributed import Client
from co2forest.dask import DaskCO2ForestClassifier
from dask_data import lazy_data

with Client(sys.argv[1]):
    DaskCO2ForestClassifier(
        int(sys.argv[3]), trees_per_task=1, random_state=0, checkpoint=sys.argv[2]
    ).fit(*lazy_data(int(sys.argv[4]), int(sys.argv[5])))
"""


def test_a_killed_client_goes_on(cluster, diary, undisturbed, assert_same_trees, tmp_path):
    folder = tmp_path / "checkpoint"
    with python(DRIVER, cluster.scheduler_address, folder, N_TREES, N_PARTITIONS, N_ROWS):
        wait_until(lambda: len(list(folder.glob("trees-*.safetensors"))) >= 3)
    wait_until(lambda: not unfinished(cluster))
    kept = {int(path.stem.removeprefix("trees-")) for path in folder.glob("trees-*.safetensors")}
    assert 3 <= len(kept) < N_TREES
    before = len(diary.read("began"))
    forest = untrained(checkpoint=folder).fit(*data())
    began = [tree for tree, _ in diary.read("began")[before:]]
    assert sorted(began) == sorted(set(range(N_TREES)) - kept)
    assert_same_trees(forest, undisturbed)


@pytest.mark.slow
def test_more_data_than_memory(monkeypatch):
    """1.2 GB on two workers of 1 GB each: nothing is kept, and no worker comes near its limit."""
    plans = []
    deal = _forest.plan
    monkeypatch.setattr(_forest, "plan", lambda *args: plans.append(deal(*args)) or plans[-1])
    X, y = lazy_data(60, 50_000, 100, make=dask_data.large_block)
    assert X.nbytes >= 1.2e9
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="1GB",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(os.getpid)
        forest = DaskCO2ForestClassifier(8, max_samples=40_000, random_state=0).fit(X, y)
        assert client.run(os.getpid) == before
        peaks = client.run(peak_memory)
    assert [dealt.persist for dealt in plans] == [False]
    assert forest.score(X[:2000].compute(), y[:2000].compute()) > 0.6
    print(f"peaks of memory: {sorted(peaks.values())}")  # noqa: T201
    assert max(peaks.values()) < 1e9
