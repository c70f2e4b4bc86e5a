# SPDX-License-Identifier: BSD-3-Clause
"""How co2forest's time and memory grow, on generated data.

    python benchmarks/scaling.py [--experiments rows features] [--repeats 3] [--largest 100000]

Each measurement has a process of its own, and the order alternates. The experiments:
rows, features: CPU time of a fit with a budget of leaves per tree, so that only the data grow.
threads: wall time of a fit on one and two threads.
memory: peak of a fit above float32 and uint8 input.
vectors: CPU time of fit and prediction with AVX-512, AVX2 and neither.
import: seconds that "import co2forest" adds to "import sklearn.ensemble".
Every measurement is added to benchmarks/results/scaling.csv when it ends. --resume RUN goes on with
an interrupted run, or adds experiments to it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import processes
import store

SCALING = "scaling.csv"
IDENTITY = ["run", "experiment", "library", "rows", "features", "dtype", "trees", "threads"]
MEASURED = [
    "version",
    "fit_wall_seconds",
    "fit_cpu_seconds",
    "fit_peak_mib",
    "input_mib",
    "predict_one_thread_cpu_ms_per_1000",
    "model_bytes",
    "import_seconds",
]
FIELDS = [*IDENTITY, "repeat", "status", *MEASURED]
LEAVES = 128  # per tree; only the trees of "threads" and "vectors" are full

IMPORT = """
import time, sklearn.ensemble
started = time.perf_counter()
import co2forest
print(time.perf_counter() - started)
"""


def case(rows, features, dtype="float32", trees=2, threads=2, library="co2forest"):
    return {
        "library": library,
        "rows": rows,
        "features": features,
        "dtype": dtype,
        "trees": trees,
        "threads": threads,
    }


EXPERIMENTS = {
    "rows": [case(rows, 32) for rows in (10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "features": [case(10_000, features) for features in (16, 64, 256, 1024, 4096)],
    "threads": [case(20_000, 64, trees=16, threads=threads) for threads in (1, 2)],
    "memory": [
        case(rows, features, dtype)
        for rows, features in ((1_000_000, 32), (100_000, 512), (10_000, 4096))
        for dtype in ("float32", "uint8")
    ],
    "vectors": [
        case(20_000, 64, trees=10, library=library)
        for library in ("co2forest", "co2forest_avx2", "co2forest_baseline")
    ],
    "import": [{"library": "co2forest"}],
}


def measure(experiment, case, time_limit):
    if experiment == "import":
        return measure_import(case["library"])
    full = experiment in {"threads", "vectors"}
    return processes.run_measurement(
        {
            "library": case["library"],
            "trees": case["trees"],
            "threads": case["threads"],
            "seed": 0,
            "data": {key: case[key] for key in ("rows", "features", "dtype")},
            "settings": {} if full else {"max_leaf_nodes": LEAVES},
        },
        time_limit,
    )


def measure_import(library):
    output = subprocess.run(
        [sys.executable, "-c", IMPORT],
        env=processes.variables_of(library, threads=1),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    return {"status": "ok", "import_seconds": float(output)}


def plan(experiments, repeats, largest):
    for repeat in range(repeats):
        cases = [
            (experiment, case)
            for experiment in experiments
            for case in EXPERIMENTS[experiment]
            if case.get("rows", 0) <= largest
        ]
        for experiment, case in reversed(cases) if repeat % 2 else cases:
            yield experiment, case, repeat


def report(experiment, case, repeat, row):
    what = ", ".join(f"{key} {value}" for key, value in case.items())
    found = ", ".join(f"{key} {row[key]}" for key in MEASURED[1:] if row[key] != "")
    print(f"{experiment} ({what}), repeat {repeat}: {row['status']}, {found}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--experiments", nargs="+", default=list(EXPERIMENTS), choices=list(EXPERIMENTS)
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--largest", type=int, default=10**9, help="skip data with more rows")
    parser.add_argument("--time-limit", type=float, default=600, help="seconds per measurement")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run, or add to it")
    args = parser.parse_args()
    path = args.results / SCALING
    run = args.resume or store.start_run(args.results, Path(__file__).name)
    done = store.rows_of_run(path, run) if args.resume else []
    for experiment, case, repeat in plan(args.experiments, args.repeats, args.largest):
        known = {"run": run, "experiment": experiment, **case, "repeat": repeat}
        if any(all(row[key] == str(value) for key, value in known.items()) for row in done):
            continue
        known |= store.rounded(measure(experiment, case, args.time_limit))
        row = {field: known.get(field, "") for field in FIELDS}
        store.append(path, FIELDS, [row])
        report(experiment, case, repeat, row)


if __name__ == "__main__":
    main()
