# SPDX-License-Identifier: BSD-3-Clause
"""Fit one method once in this process; contest/run.py starts a process for each.

    PYTHONPATH=benchmarks python -m contest.cell '{"experiment": "regression", "set": "kin8nm",
                                                   "method": "random_forest", "seed": 0,
                                                   "folder": "FOLDER"}'

The last line printed is a JSON object with the measurements.
"""

import json
import sys

import datasets
from contest.experiments import EXPERIMENTS
from measure import cpu_seconds


def measure(experiment, method, data, seed):
    X_train, y_train, X_test, y_test = data
    y_train, y_test = experiment.prepared(y_train, y_test)
    method.find()  # importing does not count as fitting
    started = cpu_seconds()
    fitted = method.fit(X_train, y_train, seed)
    seconds = cpu_seconds() - started
    return {
        "version": method.version(),
        experiment.error: experiment.error_of(fitted.predict(X_test), y_test),
        "fit_cpu_seconds": seconds,
        **fitted.counts()._asdict(),
    }


def main():
    job = json.loads(sys.argv[1])
    experiment = EXPERIMENTS[job["experiment"]]
    data = datasets.load(job["folder"], job["set"])
    result = measure(experiment, experiment.methods[job["method"]], data, job["seed"])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
