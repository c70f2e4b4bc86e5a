# SPDX-License-Identifier: BSD-3-Clause
"""Measure one library once in this process; benchmarks/run.py starts a process for each.

    python benchmarks/measure.py '{"library": "random_forest", "trees": 10, "threads": 2, "seed": 0,
                                   "data": {"folder": "FOLDER", "name": "letter"}}'

Instead of a file, "data" may hold the arguments of datasets.generate. The last line printed is a
JSON object with the measurements. Nothing is warmed up: the first fit of a process is the one
that counts.
"""

import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import datasets
from adapters import adapter_class
from memory import PeakMemory

BATCH_SECONDS, BATCH_CALLS = 0.5, 7
ROW_SECONDS, ROW_CALLS = 0.25, 1000


def cpu_seconds():
    """CPU time of all threads of this process, and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed_calls(function, arguments, seconds):
    """Wall and CPU seconds of each call; no call starts after this many seconds."""
    walls, cpus = [], []
    for argument in arguments:
        cpu, wall = cpu_seconds(), time.perf_counter()
        function(argument)
        walls.append(time.perf_counter() - wall)
        cpus.append(cpu_seconds() - cpu)
        if sum(walls) > seconds:
            break
    return walls, cpus


def batch_milliseconds(predict, X):
    """Wall and CPU milliseconds per 1000 rows."""
    walls, cpus = timed_calls(predict, [X] * BATCH_CALLS, BATCH_SECONDS)
    return [1e6 * statistics.median(seconds) / len(X) for seconds in (walls, cpus)]


def row_microseconds(function, X):
    rows = [X[i % len(X)][np.newaxis] for i in range(ROW_CALLS)]
    walls, _ = timed_calls(function, rows, ROW_SECONDS)
    return 1e6 * statistics.median(walls)


def saved_bytes(adapter, model):
    with tempfile.TemporaryDirectory() as folder:
        adapter.save(model, Path(folder) / "model")
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def load(data):
    return datasets.load(**data) if "folder" in data else datasets.generate(**data)


def measure(adapter, data, trees, threads, seed, settings):
    X_train, y_train, X_test, y_test = load(data)
    with PeakMemory() as peak:
        cpu, wall = cpu_seconds(), time.perf_counter()
        model = adapter.fit(X_train, y_train, trees, threads, seed, **settings)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    predict = adapter.predictor(model, threads)
    error = np.mean(predict(X_test) != y_test)
    batch_wall, batch_cpu = batch_milliseconds(predict, X_test)
    predict = adapter.predictor(model, 1)
    _, one_thread_cpu = batch_milliseconds(predict, X_test)
    validate = adapter.validator(model)
    return {
        "fit_wall_seconds": wall,
        "fit_cpu_seconds": cpu,
        "fit_peak_mib": peak.mib,
        "input_mib": X_train.nbytes / 2**20,
        "error_percent": 100 * error,
        "predict_wall_ms_per_1000": batch_wall,
        "predict_cpu_ms_per_1000": batch_cpu,
        "predict_one_thread_cpu_ms_per_1000": one_thread_cpu,
        "row_us": row_microseconds(predict, X_test),
        "row_validation_us": row_microseconds(validate, X_test) if validate else None,
        "model_bytes": saved_bytes(adapter, model),
    }


def main():
    job = json.loads(sys.argv[1])
    adapter = adapter_class(job["library"])()
    parameters = [job[key] for key in ("data", "trees", "threads", "seed")]
    result = measure(adapter, *parameters, job.get("settings", {}))
    print(json.dumps({"version": adapter.version()} | result))


if __name__ == "__main__":
    main()
