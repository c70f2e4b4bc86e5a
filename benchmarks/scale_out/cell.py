# SPDX-License-Identifier: BSD-3-Clause
"""Measure in one process; scale_out/run.py starts a process for each.

    PYTHONPATH=benchmarks:tests/helpers python -m scale_out.cell JOB

JOB is a JSON object such as '{"experiment": "fit", "workers": 2, "repeat": 0, "scale": 1}'. The
last line printed is a JSON object with rows of measurements.
"""

import json
import logging
import os
import sys
import time

import numpy as np
from distributed import Client, LocalCluster, SchedulerPlugin

import dask_data
from co2forest import CO2ForestClassifier
from co2forest.dask import DaskCO2ForestClassifier
from co2forest.dask._survey import survey
from co2forest.dask._targets import all_targets
from co2forest.dask._tasks import Source, draw
from co2forest.fitting.draws import Draws
from scale_out.settings import (
    BATCHES,
    DRAWS,
    FEATURES,
    PARTITION_ROWS,
    PARTITIONS,
    ROWS,
    TREE_DRAWS,
    TREES,
    TREES_PER_TASK,
    WIDE,
)


class Counter(SchedulerPlugin):
    """Counts the tasks that workers have finished."""

    def __init__(self):
        self.tasks = 0

    def transition(self, key, start, finish, *args, **kwargs):
        del key, args, kwargs
        self.tasks += start == "processing" and finish == "memory"


def in_order(cases, repeat):
    """Every second repeat goes backwards, so that slow minutes do not hit the same case."""
    return cases[::-1] if repeat % 2 else cases


def lazy_data(n_rows, n_partitions):
    """Data that the workers generate, as in the tests."""
    size = n_rows // n_partitions
    return dask_data.lazy_data(n_partitions, size, FEATURES, make=dask_data.large_block)


def forest(scale, **params):
    return {"n_estimators": TREES, "max_samples": DRAWS // scale, "random_state": 0} | params


def measure_fits(workers, repeat, scale):
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        # What a process does once, such as imports, does not count for any fit.
        DaskCO2ForestClassifier(4, trees_per_task=1).fit(*lazy_data(1000, 4))
        local = local_fit(scale)
        cases = in_order(PARTITIONS, repeat)
        return [measure_fit(cluster, client, number, scale) | local for number in cases]


def measure_fit(cluster, client, n_partitions, scale):
    X, y = lazy_data(ROWS // scale, n_partitions)
    counter = Counter()
    cluster.scheduler.add_plugin(counter, name="counter")
    before = client.run(time.process_time)
    wall, cpu = time.perf_counter(), time.process_time()
    DaskCO2ForestClassifier(**forest(scale, trees_per_task=TREES_PER_TASK)).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = client.run(time.process_time)
    cluster.scheduler.remove_plugin("counter")
    return {
        "partitions": n_partitions,
        "wall_seconds": wall,
        "client_cpu_seconds": cpu,
        "worker_cpu_seconds": sum(after[name] - before[name] for name in after),
        "tasks": counter.tasks,
        "load": os.getloadavg()[0],
    }


def local_fit(scale):
    """The same forest without Dask, on one thread."""
    rows = dask_data.large_block(0, ROWS // scale, FEATURES)
    cpu = time.process_time()
    CO2ForestClassifier(**forest(scale, bootstrap=True), n_jobs=1).fit(
        dask_data.features(rows), dask_data.labels(rows)
    )
    return {"tree_cpu_seconds": (time.process_time() - cpu) / TREES}


def measure_parts(repeat, scale):
    """Measure the steps of a large forest's tasks without Dask, on one thread."""
    parts = in_order([measure_survey_and_draw, measure_trees], repeat)
    return [row for part in parts for row in part(scale)]


def measure_survey_and_draw(scale):
    n_rows = PARTITION_ROWS // scale
    rows = dask_data.large_block(0, n_rows, WIDE)
    X, y = dask_data.features(rows), dask_data.labels(rows)
    del rows
    cpu = time.process_time()
    summary = survey(0, X, y, None, labels=True)
    surveyed = time.process_time() - cpu
    targets = all_targets([summary.targets], CO2ForestClassifier())
    draws = Draws(0, n_rows, n_rows, bootstrap=True)
    source = Source("float32", targets, [n_rows], [n_rows], draws)
    n_batches, n_trees, n_draws = BATCHES
    batches = [
        {batch * n_trees + tree: n_draws for tree in range(n_trees)} for batch in range(n_batches)
    ]
    cpu = time.process_time()
    draw(0, X, y, None, source, batches)
    drawn = time.process_time() - cpu
    known = {"rows": n_rows, "features": WIDE, "load": os.getloadavg()[0]}
    return [
        known | {"part": "survey", "worker_cpu_seconds": surveyed},
        known
        | {"part": "draw", "trees": n_batches * n_trees, "draws": n_draws}
        | {"worker_cpu_seconds": drawn},
    ]


def measure_trees(scale):
    found = []
    for n_draws in TREE_DRAWS:
        rows = dask_data.large_block(1, n_draws // scale, WIDE)
        X, y = dask_data.features(rows), dask_data.labels(rows)
        # Nearly all draws of a tree of a large forest are different rows.
        model = CO2ForestClassifier(1, scale="global", random_state=0, n_jobs=1)
        cpu = time.process_time()
        model.fit(X, y)
        cpu = time.process_time() - cpu
        size = sum(array.nbytes for array in model._forest.arrays().values())  # noqa: SLF001
        found.append(
            {
                "part": "tree",
                "draws": len(X),
                "features": WIDE,
                "tree_cpu_seconds": cpu,
                "tree_bytes": int(np.ceil(size)),
                "load": os.getloadavg()[0],
            }
        )
    return found


def main():
    job = json.loads(sys.argv[1])
    if job["experiment"] == "fit":
        rows = measure_fits(job["workers"], job["repeat"], job["scale"])
    else:
        rows = measure_parts(job["repeat"], job["scale"])
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":  # processes of the cluster import this file
    main()
