# SPDX-License-Identifier: BSD-3-Clause
"""Clusters that lose workers, data, or everything: the same forest, or an error that says why."""

import copy
import logging
import os
import signal
import sys
import threading

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import dask_data
from co2forest.dask import ClusterError, DaskCO2ForestClassifier, _cluster, _fit
from co2forest.dask._memory import Schedule
from dask_data import lazy_data
from dask_faults import (
    Death,
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
MANY_TREES = 200  # for a fit that must not end before something happens to it
N_ROWS = 1000  # of a partition: a tree takes long enough to be lost on the way
N_PARTITIONS = 6


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


def check_kill(client, diary, undisturbed, assert_same_trees, n_trees):
    with plugged(client, Death(diary, n_trees)) as death:
        forest = untrained().fit(*data())
    assert death.victim() not in client.run(os.getpid).values()
    assert_same_trees(forest.to_local(), undisturbed.to_local())
    assert N_TREES < len(diary.read("began")) <= 1.5 * N_TREES


@pytest.mark.parametrize("n_trees", [1, 3, 5])
def test_a_killed_worker_changes_nothing(client, diary, undisturbed, assert_same_trees, n_trees):
    check_kill(client, diary, undisturbed, assert_same_trees, n_trees)


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(20))
def test_no_killed_worker_changes_anything(client, diary, undisturbed, assert_same_trees, attempt):
    check_kill(client, diary, undisturbed, assert_same_trees, 1 + attempt % 10)


def test_one_worker_of_two_is_enough(empty_cluster, undisturbed, assert_same_trees, tmp_path):
    with (
        bare_workers(empty_cluster, 2),
        Client(empty_cluster) as client,
        plugged(client, Diary(tmp_path / "diary")) as diary,
        plugged(client, Death(diary, 2)) as death,
    ):
        forest = untrained().fit(*data())
        (survivor,) = client.run(os.getpid).values()
        assert survivor != death.victim()
    assert_same_trees(forest.to_local(), undisturbed.to_local())


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
    assert diary.n_finished() >= 1


def scattered(client):
    """Blocks that lie on workers and that nobody can make again."""
    blocks = [dask_data.block(seed, N_ROWS, 8) for seed in range(N_PARTITIONS)]
    return dask_data.collections(client.scatter(blocks), N_ROWS, 8)


def test_lost_data_are_an_error(client, diary, undisturbed, monkeypatch):
    X, y = scattered(client)
    # Waves of two trees: most are still to be drawn when a worker is lost.
    schedule = Schedule(1, 2, 2, 2, persist=False)
    monkeypatch.setattr(_fit, "make_schedule", lambda *_: schedule)
    with (
        plugged(client, Death(diary, 1)),
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
    forest = copy.deepcopy(undisturbed).set_params(estimator__random_state=1)
    before = vars(forest).copy()
    with plugged(client, Trap(key)), pytest.raises(ClusterError, match=message):
        forest.fit(*data())
    assert vars(forest) == before
    forest.set_params(estimator__random_state=0).fit(*data())
    assert forest.estimator_ is not before["estimator_"]
    assert_same_trees(forest.to_local(), undisturbed.to_local())


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
        wait_until(lambda: diary.n_finished() >= 1)
        empty_cluster.close()

    with (
        bare_workers(empty_cluster, 1),
        Client(empty_cluster) as client,
        plugged(client, Diary(tmp_path / "diary")) as diary,
        meanwhile(close, diary),
        pytest.raises(ClusterError, match="connection to the Dask scheduler is lost"),
    ):
        untrained().set_params(estimator__n_estimators=MANY_TREES).fit(*data())


def unfinished(cluster):
    """Tasks of forests that workers have still to do."""
    ended = {"memory", "erred", "released", "forgotten"}
    tasks = list(cluster.scheduler.tasks.values())
    return [task for task in tasks if "co2forest" in str(task.key) and task.state not in ended]


# Dask cancels what a client waits for. It warns if that has not even begun to wait.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_an_interrupted_fit_leaves_no_work(cluster, client, diary, undisturbed):
    forest = copy.deepcopy(undisturbed).set_params(estimator__n_estimators=MANY_TREES)
    before = vars(forest).copy()

    def interrupt():
        wait_until(lambda: diary.n_finished() >= 1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with meanwhile(interrupt), pytest.raises(KeyboardInterrupt):
        forest.fit(*data())
    assert vars(forest) == before
    wait_until(lambda: not unfinished(cluster))
    assert diary.n_finished() < MANY_TREES / 2  # it was not waited for the others


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


# The client ends at once when it has stored three trees.
DRIVER = """
import os, signal, sys
from distributed import Client
from co2forest.dask import DaskCO2ForestClassifier, _checkpoint
from dask_data import lazy_data

keep, kept = _checkpoint.Checkpoint.keep, []

def keep_three(*args):
    keep(*args)
    kept.append(args)
    if len(kept) == 3:
        os.kill(os.getpid(), signal.SIGKILL)

_checkpoint.Checkpoint.keep = keep_three
with Client(sys.argv[1]):
    DaskCO2ForestClassifier(
        int(sys.argv[3]), trees_per_task=1, random_state=0, checkpoint=sys.argv[2]
    ).fit(*lazy_data(int(sys.argv[4]), int(sys.argv[5])))
"""


def test_a_killed_client_goes_on(cluster, diary, undisturbed, assert_same_trees, tmp_path):
    folder = tmp_path / "checkpoint"
    with python(DRIVER, cluster.scheduler_address, folder, N_TREES, N_PARTITIONS, N_ROWS) as driver:
        assert driver.wait(timeout=240) == -signal.SIGKILL
    wait_until(lambda: not unfinished(cluster))
    kept = {int(path.stem.removeprefix("trees-")) for path in folder.glob("trees-*.safetensors")}
    assert len(kept) == 3
    (first,) = {entry.fit for entry in diary.read("began")}
    forest = untrained(checkpoint=folder).fit(*data())
    # Workers may have begun trees of the first fit before they heard that nobody wants them.
    began = {entry.tree for entry in diary.read("began") if entry.fit != first}
    assert began == set(range(N_TREES)) - kept
    assert_same_trees(forest.to_local(), undisturbed.to_local())


@pytest.mark.slow
def test_more_data_than_memory(monkeypatch):
    """1.2 GB on two workers of 1 GB each: nothing is kept, and no worker comes near its limit."""
    schedules = []
    make = _fit.make_schedule
    monkeypatch.setattr(
        _fit, "make_schedule", lambda *args: schedules.append(make(*args)) or schedules[-1]
    )
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
    assert [schedule.persist for schedule in schedules] == [False]
    assert forest.score(X[:2000].compute(), y[:2000].compute()) > 0.6
    print(f"peaks of memory: {sorted(peaks.values())}")  # noqa: T201
    assert max(peaks.values()) < 1e9
