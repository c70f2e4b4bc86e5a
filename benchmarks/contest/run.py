# SPDX-License-Identifier: BSD-3-Clause
"""Compare methods of regression or boosting, or trees before and after refinement.

    make bench-regression ARGS="--data FOLDER [--sets kin8nm] [--methods random_forest] [--report]"

A cell is one fit: a set, a method and a seed. Each has a process of its own with one thread, and is
stored in benchmarks/results/EXPERIMENT.csv when it ends. The next run goes on with the missing
cells. CPU times are compared only within a run, so --again measures methods once more beside a new
one. At the end, or with --report alone, the tables are printed and written to docs/benchmarks.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

import datasets
import processes
import store
from contest import report
from contest.experiments import EXPERIMENTS

DOCUMENTS = Path(__file__).parent.parent.parent / "docs" / "benchmarks"


class Cell(NamedTuple):
    set: str
    method: str
    seed: int


def plan(args, methods, done):
    """Missing cells. The methods of one set and seed follow each other, to be comparable."""
    return [
        cell
        for name in args.sets
        for seed in range(args.seeds)
        for cell in (Cell(name, method, seed) for method in methods)
        if cell not in done or cell.method in args.again
    ]


def available(experiment, methods):
    """The methods that this machine has; prints what the others lack."""
    lacks = {name: experiment.methods[name].missing() for name in methods}
    for name, reason in lacks.items():
        if reason:
            print(f"{name} is skipped: {reason}", file=sys.stderr)
    return [name for name in methods if not lacks[name]]


def measure(experiment, cell, args):
    job = {"experiment": experiment.name, "folder": str(args.data)} | cell._asdict()
    command = [sys.executable, "-m", "contest.cell", json.dumps(job)]
    variables = processes.variables(threads=1) | {"PYTHONPATH": str(processes.FOLDER)}
    return processes.run_command(command, variables, args.time_limit)


def run(experiment, args, path):
    """Measure what is missing. Returns the number of failures; the next run tries them again."""
    done = {Cell(row["set"], row["method"], int(row["seed"])) for row in store.read(path)}
    cells = plan(args, available(experiment, args.methods), done)
    if not cells:
        return 0
    started = store.start_run(args.results, experiment.name)
    failures = 0
    for number, cell in enumerate(cells, start=1):
        result = measure(experiment, cell, args)
        status = result.pop("status")
        what = f"[{number}/{len(cells)}] {cell.set}, {cell.method}, seed {cell.seed}"
        if status == "ok":
            row = {"run": started} | cell._asdict() | store.rounded(result)
            store.append(path, experiment.fields, [row])
            status = ", ".join(f"{key} {row[key]}" for key in (experiment.error, *report.COSTS))
        else:
            failures += 1
        print(f"{what}: {status}", file=sys.stderr, flush=True)
    return failures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--data", type=Path, help="folder with NAME.npz files")
    parser.add_argument("--sets", nargs="+", help="names of data sets")
    parser.add_argument("--methods", nargs="+", help="default: all")
    parser.add_argument("--seeds", type=int, help="number of seeds, from 0 on")
    parser.add_argument("--again", nargs="+", default=[], help="methods to measure once more")
    parser.add_argument("--time-limit", type=float, default=3600, help="seconds of one cell")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of the tables")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    args = parser.parse_args()
    experiment = EXPERIMENTS[args.experiment]
    args.data = args.data or datasets.default_folder(experiment.folder)
    args.sets = args.sets or experiment.sets
    args.methods = args.methods or list(experiment.methods)
    args.seeds = experiment.seeds if args.seeds is None else args.seeds
    for name in [*args.methods, *args.again]:
        if name not in experiment.methods:
            parser.error(f"no method {name}; there are {', '.join(experiment.methods)}")
    for name in args.again:
        if name not in args.methods:
            parser.error(f"argument --again: {name} is not among --methods")
    if args.seeds < 1:
        parser.error(f"argument --seeds: {args.seeds} must be at least 1")
    if not args.report:
        datasets.check_folder(parser, args.data, args.sets)
    return experiment, args


def main():
    experiment, args = parse_arguments()
    path = args.results / f"{experiment.name}.csv"
    failures = 0
    try:
        failures = 0 if args.report else run(experiment, args, path)
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on with the missing cells") from None
    report.write(experiment, store.read(path), args.documents)
    if failures:
        raise SystemExit(f"{failures} cells failed; the same command tries them again")


if __name__ == "__main__":
    main()
