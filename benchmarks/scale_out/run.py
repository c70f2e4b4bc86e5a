# SPDX-License-Identifier: BSD-3-Clause
"""Measure what a forest on Dask costs beyond its trees, and estimate a large one.

    PYTHONPATH=benchmarks python -m scale_out.run [--repeats 3] [--resume RUN]
    PYTHONPATH=benchmarks python -m scale_out.run --report

fit: the same forest on clusters of one and two processes, from few and many partitions.
parts: the steps of a large forest's tasks, without a cluster.
Measurements are added to benchmarks/results/scale_out.csv when they end. The order of repeats
alternates. --resume goes on with a run that was stopped. At the end, or with --report alone, the
page docs/benchmarks/scale_out.md is written from the last stored run.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import processes
import store
from scale_out import report
from scale_out.settings import DRAWS, FEATURES, ROWS, TREES, WORKERS

RESULTS = "scale_out.csv"
FIELDS = [
    "run",
    "experiment",
    "workers",
    "repeat",
    "part",
    "partitions",
    "rows",
    "features",
    "trees",
    "draws",
    "load",
    "wall_seconds",
    "client_cpu_seconds",
    "worker_cpu_seconds",
    "tree_cpu_seconds",
    "tasks",
    "tree_bytes",
]
PAGE = Path(__file__).parent.parent.parent / "docs" / "benchmarks" / "scale_out.md"
FIT = {"rows": ROWS, "features": FEATURES, "trees": TREES, "draws": DRAWS}


def plan(repeats):
    """The cells, each a process; every second repeat is in reversed order."""
    for repeat in range(repeats):
        cells = [("fit", workers) for workers in WORKERS] + [("parts", "")]
        for experiment, workers in reversed(cells) if repeat % 2 else cells:
            yield {"experiment": experiment, "workers": workers, "repeat": repeat}


def measure(cell, args):
    job = cell | {"scale": args.scale}
    command = [sys.executable, "-m", "scale_out.cell", json.dumps(job)]
    ours = [str(processes.FOLDER), str(processes.FOLDER.parent / "tests/helpers")]  # with dask_data
    paths = [*ours, *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = processes.variables(threads=1) | {"PYTHONPATH": os.pathsep.join(paths)}
    return processes.run_command(command, variables, args.time_limit)


def run(args, path):
    """Measure what is missing. Returns the number of failures, which are not stored."""
    started = args.resume or store.start_run(args.results, "scale_out")
    done = store.read(path)
    failures = 0
    for cell in plan(args.repeats):
        known = {"run": started} | cell
        if any(all(row[key] == str(value) for key, value in known.items()) for row in done):
            continue
        result = measure(cell, args)
        failures += result["status"] != "ok"
        what = ", ".join(f"{key} {value}" for key, value in cell.items() if value != "")
        print(f"{what}: {result['status']}", file=sys.stderr, flush=True)
        known |= FIT if cell["experiment"] == "fit" else {}
        rows = [known | row for row in result.get("rows", [])]
        store.append(path, FIELDS, [dict.fromkeys(FIELDS, "") | store.rounded(r) for r in rows])
    return failures


def cores_of(run, folder):
    """The number of cores of the machine of a run."""
    return next(int(row["cores"]) for row in store.read(folder / store.RUNS) if row["run"] == run)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=int, default=1, help="divide all rows by this, for a trial")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of one process")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    parser.add_argument("--page", type=Path, default=PAGE, help="page to write")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run")
    parser.add_argument("--report", action="store_true", help="only write the page")
    args = parser.parse_args()
    path = args.results / RESULTS
    failures = 0 if args.report else run(args, path)
    rows = store.rows_of_run(path)
    report.write(rows, cores_of(rows[0]["run"], args.results), args.page)
    if failures:
        raise SystemExit(f"{failures} processes failed; --resume tries them again")


if __name__ == "__main__":
    main()
