# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long each kind of work computes on after Ctrl-C, at many moments.

    make bench-ctrl-c ARGS="[--moments 20] [--work predict apply]"

Works are those of tests/helpers/long_work.py. Half of the moments meet one thread, and half two.
Each work has processes of its own. Results are added to benchmarks/results/ctrl_c.csv, and their
table is written into docs/robustness.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import interruptions
import long_work
import store
from ctrl_c.table import CSV

FIELDS = ["run", "work", "threads", "moments", "ended", "computing_median", "computing_most"]
FIELDS += ["waiting_most", "threads_left"]
THREADS = (1, 2)
MOST = 0.25  # seconds of computing after the signal
PATIENCE = 600  # seconds for a process


def measure(work, threads, moments):
    """A row of the CSV file."""
    command = [sys.executable, interruptions.__file__, str(threads), str(moments), work]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True, env=_variables()
    )
    found = json.loads(done.stdout)["moments"]
    computing = [each["computing"] for each in found]
    return {
        "work": work,
        "threads": threads,
        "moments": len(found),
        "ended": Counter(each["outcome"] for each in found)["KeyboardInterrupt"],
        "computing_median": statistics.median(computing),
        "computing_most": max(computing),
        "waiting_most": max(each["waiting"] for each in found),
        "threads_left": max(each["threads_left"] for each in found),
    }


def _variables():
    # What a thread of BLAS spins would count as computing.
    return os.environ | {"OPENBLAS_NUM_THREADS": "1"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--work", nargs="+", default=list(long_work.WORK), choices=long_work.WORK)
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    return parser.parse_args()


def main():
    args = parse_arguments()
    run = store.start_run(args.results, "ctrl_c/run.py")
    failed = False
    for work in args.work:
        rows = []
        for threads in THREADS:
            row = measure(work, threads, args.moments // len(THREADS))
            wrong = row["ended"] < row["moments"] or row["threads_left"] > 0
            failed |= wrong or row["computing_most"] > MOST
            rows.append({"run": run} | {k: _rounded(v) for k, v in row.items()})
            print(", ".join(f"{k} {v}" for k, v in rows[-1].items()), flush=True)
        store.append(args.results / CSV, FIELDS, rows)
    import pages  # which imports all that pages are made of

    pages.main()
    return int(failed)


def _rounded(value):
    return f"{value:.3f}" if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
