# SPDX-License-Identifier: BSD-3-Clause
"""Memory and threads of workers: what is asked of them is what they have."""

import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from co2forest.dask import DaskCO2ForestClassifier, _survey, _tasks
from co2forest.dask._memory import Cluster, Demand, make_schedule
from co2forest.dask._threads import ThreadBudget

GIGABYTE = 1e9
SMALL = Cluster(n_workers=2, n_threads=2, memory=2 * GIGABYTE, memory_per_thread=GIGABYTE)


def demand(**changes):
    values = {
        "n_trees": 100,
        "n_partitions": 60,
        "n_rows": 3_000_000,
        "row_bytes": 416,
        "data_bytes": 1_200_000_000,
        "max_samples": 40_000,
        "n_draws": 40_000,
        "replace": True,
    }
    return Demand(**values | changes)


def needed_per_thread(schedule, demand):
    return (schedule.trees_per_task + 2) * demand.tree_bytes


@pytest.mark.parametrize("n_draws", [1, 1000, 40_000, 200_000, 400_000])
def test_a_schedule_fits_the_workers(n_draws):
    asked = demand(n_draws=n_draws)
    found = make_schedule(asked, SMALL, "auto")
    assert found.trees_per_task >= 1
    assert needed_per_thread(found, asked) <= GIGABYTE / 2
    waiting = found.trees_per_wave * asked.tree_bytes
    one_for_each = found.trees_per_task * SMALL.n_threads * asked.tree_bytes
    assert waiting <= max(0.2 * SMALL.memory, one_for_each)


def test_data_are_kept_only_where_they_fit():
    assert not make_schedule(demand(), SMALL, "auto").persist
    assert make_schedule(demand(data_bytes=700_000_000), SMALL, "auto").persist


def test_what_does_not_fit_is_refused_with_what_would():
    asked = demand(max_samples=3_000_000, n_draws=3_000_000)
    with pytest.raises(
        ValueError, match=r"max_samples=3000000: a tree gets about \d+ diff"
    ) as error:
        make_schedule(asked, SMALL, "auto")
    words = str(error.value).split("max_samples=")[2]
    draws = int(words.split()[0])
    make_schedule(demand(max_samples=draws, n_draws=draws), SMALL, 1)  # fits, as it says
    with pytest.raises(ValueError, match="would fit"):
        make_schedule(demand(max_samples=draws, n_draws=round(1.1 * draws)), SMALL, 1)
    size = float(words.split("workers with ")[1].split()[0]) * 1.01e6
    make_schedule(asked, Cluster(2, 2, 2 * size, size), 1)


def test_too_many_trees_in_a_task_are_refused():
    with pytest.raises(ValueError, match=r"trees_per_task=40 trees .*; at most (\d+) would"):
        make_schedule(demand(), SMALL, 40)
    assert make_schedule(demand(), SMALL, 20).trees_per_task == 20


def test_many_partitions_get_larger_tasks_and_every_thread_gets_one():
    many = Cluster(n_workers=50, n_threads=200, memory=8e11, memory_per_thread=4e9)
    few = demand(n_trees=1000, n_partitions=10)
    assert make_schedule(few, many, "auto").trees_per_task == 2  # four tasks for each thread
    assert make_schedule(demand(n_trees=1000, n_partitions=1000), many, "auto").trees_per_task == 3
    assert make_schedule(demand(n_trees=10), many, "auto").trees_per_task == 1


def test_workers_without_a_limit():
    """They are trusted with something, but whoever asks for more gets it."""
    unlimited = Cluster(2, 2, 8e9, 4e9, limited=False)
    large = demand(n_draws=3_000_000)
    assert make_schedule(large, unlimited, "auto").trees_per_task == 1
    assert make_schedule(large, unlimited, 50).trees_per_task == 50


def test_a_fit_that_would_not_fit_starts_nothing(threads, monkeypatch):
    rows = da.zeros((50_000, 3000), chunks=(1000, 3000), dtype=np.float32)
    labels = (da.arange(50_000, chunks=1000) % 2).astype(int)
    monkeypatch.setattr(_survey, "feature_sums", lambda rows, _: (np.zeros(3000), np.ones(3000)))
    with pytest.raises(ValueError, match=r"max_samples=None: a tree .* max_samples=\d+ would fit"):
        DaskCO2ForestClassifier(2).fit(rows, labels)


def test_threads_are_never_more_than_there_are():
    budget, running, most = ThreadBudget(), [0], [0]
    lock = threading.Lock()

    def task(wanted):
        with budget.share(4, wanted) as mine:
            assert 1 <= mine <= wanted
            with lock:
                running[0] += mine
                most[0] = max(most[0], running[0])
            time.sleep(0.005)
            with lock:
                running[0] -= mine

    tasks = [threading.Thread(target=task, args=(1 + i % 6,)) for i in range(40)]
    for thread in tasks:
        thread.start()
    for thread in tasks:
        thread.join(timeout=30)
    assert most[0] == 4
    assert budget._taken == 0


@pytest.mark.parametrize("n_threads", [1, 3])
def test_tasks_use_the_threads_of_their_worker(n_threads, monkeypatch):
    asked = []
    original = _tasks.ThreadPoolExecutor
    monkeypatch.setattr(_tasks, "ThreadPoolExecutor", lambda n: (asked.append(n), original(n))[1])
    rows = da.random.default_rng(0).normal(size=(200, 3), chunks=(100, 3))
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=n_threads,
            processes=False,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster),
    ):
        DaskCO2ForestClassifier(6, trees_per_task=6).fit(rows, (rows[:, 0] > 0).astype(int))
    assert asked == [n_threads]


def test_fits_inside_of_tasks_do_not_block_the_workers(client):
    """A task on each of the threads there are, which must grow the trees for which both wait."""

    def search(seed):
        rows = da.random.default_rng(0).normal(size=(200, 3), chunks=(100, 3))
        labels = (rows[:, 0] > 0).astype(int)
        return DaskCO2ForestClassifier(2, random_state=seed).fit(rows, labels).score(rows, labels)

    assert min(client.gather(client.map(search, range(2), pure=False))) > 0.9
