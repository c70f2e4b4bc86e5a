# SPDX-License-Identifier: BSD-3-Clause
"""Compare libraries side by side: fit, error, prediction, memory, size of the model.

    python benchmarks/run.py --data FOLDER [--sets letter usps] [--libraries co2forest lightgbm]
                             [--trees 10 100] [--trees-of co2forest=1,2,3] [--repeats 3]

Each measurement has a process of its own. Every repeat goes over all libraries, every second one
in reversed order. A measurement is added to benchmarks/results/speed.csv when it ends. The same
command with --resume RUN goes on with an interrupted run; with other sets or libraries it adds to
that run.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path
from typing import NamedTuple

import datasets
import processes
import store
from adapters import ADAPTERS, VARIANTS, adapter_class

SPEED = "speed.csv"
MEASURED = [
    "version",
    "fit_wall_seconds",
    "fit_cpu_seconds",
    "fit_peak_mib",
    "input_mib",
    "error_percent",
    "predict_wall_ms_per_1000",
    "predict_cpu_ms_per_1000",
    "predict_one_thread_cpu_ms_per_1000",
    "row_us",
    "row_validation_us",
    "model_bytes",
    "process_seconds",
]
IDENTITY = ["run", "set", "library", "trees", "threads", "repeat", "seed"]
FIELDS = [*IDENTITY, "status", *MEASURED]


class Job(NamedTuple):
    set: str
    library: str
    trees: int
    threads: int
    repeat: int
    seed: int


class Durations:
    """What earlier measurements of a set and library say about the time of the next."""

    def __init__(self, rows):
        self.rows = {}
        for row in rows:
            self.add(row)

    def add(self, row):
        self.rows.setdefault((row["set"], row["library"]), []).append(row)

    def expected(self, job):
        """Expected seconds of its process, from the nearest number of trees; None if unknown."""
        fitted = [r for r in self.rows.get((job.set, job.library), []) if r["status"] == "ok"]
        if not fitted:
            return None
        nearest = min(fitted, key=lambda row: abs(int(row["trees"]) - job.trees))
        fit, process = (float(nearest[f]) for f in ("fit_wall_seconds", "process_seconds"))
        return process - fit + fit * job.trees / int(nearest["trees"])

    def reason_to_skip(self, job, time_limit):
        """None, or why the measurement would take too long.

        Being too slow once says nothing about other repeats; the machine may have been busy.
        """
        for row in self.rows.get((job.set, job.library), []):
            same_repeat, fewer = int(row["repeat"]) == job.repeat, int(row["trees"]) < job.trees
            if same_repeat and fewer and row["status"].startswith(processes.TOO_LONG):
                return f"skipped: {row['trees']} trees took too long"
        seconds = self.expected(job) or 0
        return f"skipped: would take {seconds:.0f} s" if seconds > time_limit else None


def parse_sizes(text):
    """The library and numbers in "library=1,10,100"."""
    library, _, numbers = text.partition("=")
    if library not in ADAPTERS | VARIANTS:
        raise argparse.ArgumentTypeError(f"{library} is not among {', '.join(ADAPTERS | VARIANTS)}")
    return library, [int(number) for number in numbers.split(",")]


def plan(args, libraries):
    """All measurements, in order."""
    chosen = dict(args.trees_of)
    for name, repeat in itertools.product(args.sets, range(args.repeats)):
        pairs = [
            (library, trees)
            for library in libraries
            if repeat == 0 or library not in args.once
            for trees in sorted(chosen.get(library) or args.trees or adapter_class(library).sizes)
        ]
        for library, trees in reversed(pairs) if repeat % 2 else pairs:
            seed = repeat % (args.seeds or args.repeats)
            yield Job(name, library, trees, args.threads, repeat, seed)


def measure(job, folder, time_limit):
    return processes.run_measurement(
        {
            "library": job.library,
            "trees": job.trees,
            "threads": job.threads,
            "seed": job.seed,
            "data": {"folder": str(folder), "name": job.set},
        },
        time_limit,
    )


def run_all(args, run, jobs):
    path = args.results / SPEED
    earlier = [row for row in store.read(path) if row["run"] == run]
    done = {tuple(row[field] for field in IDENTITY[1:]) for row in earlier}
    jobs = [job for job in jobs if tuple(map(str, job)) not in done]
    durations = Durations(earlier)
    begun = time.perf_counter()
    for number, job in enumerate(jobs, start=1):
        reason = durations.reason_to_skip(job, args.time_limit)
        result = {"status": reason} if reason else measure(job, args.data, args.time_limit)
        row = dict.fromkeys(FIELDS, "") | {"run": run} | job._asdict() | store.rounded(result)
        store.append(path, FIELDS, [row])
        durations.add(row)
        mean = (time.perf_counter() - begun) / number
        left = sum(
            durations.expected(later) or mean
            for later in jobs[number:]
            if not durations.reason_to_skip(later, args.time_limit)
        )
        report(number, len(jobs), job, row, left)


def report(number, total, job, row, seconds_left):
    what = row["status"]
    if what == "ok":
        what = f"error {row['error_percent']} %, fit {row['fit_cpu_seconds']} CPU s"
    print(
        f"[{number}/{total}] {job.set}, {adapter_class(job.library).label}, {job.trees} trees, "
        f"repeat {job.repeat}: {what}; about {seconds_left / 60:.0f} min left",
        file=sys.stderr,
        flush=True,
    )


COLUMNS = {  # heading: field, factor
    "error %": ("error_percent", 1),
    "fit CPU s": ("fit_cpu_seconds", 1),
    "fit wall s": ("fit_wall_seconds", 1),
    "peak MiB": ("fit_peak_mib", 1),
    "predict ms / 1000 rows": ("predict_wall_ms_per_1000", 1),
    "on one thread, CPU": ("predict_one_thread_cpu_ms_per_1000", 1),
    "one row us": ("row_us", 1),
    "model MB": ("model_bytes", 1e-6),
}


def cell(rows, field, factor):
    value = store.spread(rows, field)
    if value is None:
        return "-"
    text = f"{factor * value.median:.3g}"
    if value.count > 1:
        text += f" ({factor * value.low:.3g}-{factor * value.high:.3g})"
    return text


def print_table(rows):
    groups = store.grouped(rows, "set", "library", "trees")
    for name in dict.fromkeys(row["set"] for row in rows):
        print(f"\n{name}: medians (and ranges)\n")
        print("| library | trees | " + " | ".join(COLUMNS) + " |")
        print("|---|---|" + "---|" * len(COLUMNS))
        keys = [key for key in groups if key[0] == name]
        order = list(ADAPTERS | VARIANTS)
        for key in sorted(keys, key=lambda key: (order.index(key[1]), int(key[2]))):
            cells = [cell(groups[key], *column) for column in COLUMNS.values()]
            print(f"| {adapter_class(key[1]).label} | {key[2]} | " + " | ".join(cells) + " |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    folder = datasets.default_folder()
    parser.add_argument("--data", type=Path, default=folder, help="folder with NAME.npz files")
    parser.add_argument("--sets", nargs="+", default=list(datasets.SETS), help="names of data sets")
    parser.add_argument(
        "--libraries", nargs="+", default=list(ADAPTERS), choices=list(ADAPTERS | VARIANTS)
    )
    parser.add_argument("--trees", nargs="+", type=int, help="numbers of trees, for all libraries")
    parser.add_argument(
        "--trees-of", nargs="+", type=parse_sizes, default=[], metavar="LIBRARY=1,10,100"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--once", nargs="+", default=[], choices=list(ADAPTERS), help="measure only in one repeat"
    )
    parser.add_argument("--seeds", type=int, help="different seeds among the repeats; default: all")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=600,
        help="seconds per measurement, and per expected fit",
    )
    parser.add_argument("--resume", metavar="RUN", help="go on with this run, or add to it")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    args = parser.parse_args()
    datasets.check_folder(parser, args.data, args.sets)
    if args.resume and args.resume not in {r["run"] for r in store.read(args.results / SPEED)}:
        parser.error(f"no run {args.resume} in {args.results / SPEED}")
    return args


def main():
    args = parse_arguments()
    libraries = processes.available(args.libraries)
    run = args.resume or store.start_run(args.results, Path(__file__).name)
    print(f"run {run}", file=sys.stderr)
    run_all(args, run, list(plan(args, libraries)))
    print_table(store.rows_of_run(args.results / SPEED, run))


if __name__ == "__main__":
    main()
