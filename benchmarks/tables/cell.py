# SPDX-License-Identifier: BSD-3-Clause
"""Fit one method to one split in this process; tables/run.py starts a process for each.

    PYTHONPATH=benchmarks python -m tables.cell '{"folder": "FOLDER", "set": "adult", "split": 0,
                                                  "method": "random_forest"}'

The last line printed is a JSON object with the measurements.
"""

import json
import sys
from pathlib import Path

from measure import cpu_seconds
from tables.methods import METHODS
from tables.scores import scores_of_classes, scores_of_numbers
from tables.suites import REGRESSION, read_split


def measure(method, data):
    method.create(data.task)  # importing does not count as fitting
    started = cpu_seconds()
    predict = method.fit(data)
    seconds = cpu_seconds() - started
    score = scores_of_numbers if data.task == REGRESSION else scores_of_classes
    return {
        "task": data.task,
        "version": method.version(),
        **score(predict(data.X_test), data.y_test),
        "fit_cpu_s": seconds,
    }


def main():
    job = json.loads(sys.argv[1])
    data = read_split(Path(job["folder"]), job["set"], job["split"])
    print(json.dumps(measure(METHODS[job["method"]], data)))


if __name__ == "__main__":
    main()
