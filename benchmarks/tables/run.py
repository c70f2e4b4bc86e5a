# SPDX-License-Identifier: BSD-3-Clause
"""Compare methods on ordinary tables.

    make bench-tables ARGS="--data FOLDER [--sets adult] [--methods co2forest] [--splits 0]"
    make bench-tables ARGS="--report [--data FOLDER]"

FOLDER holds a suite of tables (tables/suites.py says what that is). A cell is one fit: a set, a
split and a method. Each has a process of its own with one thread, and is stored in
benchmarks/results/tables.csv when it ends. The next run goes on with the missing cells. CPU times
are compared only within a run, so --again measures methods once more beside a new one. At the end,
or with --report alone, the tables are written to docs/benchmarks/tables.md and printed. What is
printed is limited to --sets and --splits, and has cells of FOLDER/peers.csv where there are none of
our own.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import processes
import store
from tables import report
from tables.methods import METHODS
from tables.suites import PEERS, open_suite

DOCUMENTS = Path(__file__).parent.parent.parent / "docs" / "benchmarks"
PAGE = "tables.md"
FIELDS = ["run", "set", "task", "split", "method", "version"]
FIELDS += ["error", "logloss", "auc", "ece", "rmse", "fit_cpu_s"]


class Cell(NamedTuple):
    set: str
    split: int
    method: str


def plan(args, methods, done):
    """Missing cells. Splits come first, so that a run that is stopped has whole ones."""
    return [
        cell
        for split in args.splits
        for name in args.sets
        for cell in (Cell(name, split, method) for method in methods)
        if cell not in done or cell.method in args.again
    ]


def available(methods):
    """The methods that this machine has; prints what the others lack."""
    lacks = {name: METHODS[name].missing() for name in methods}
    for name, reason in lacks.items():
        if reason:
            print(f"{name} is skipped: {reason}", file=sys.stderr)
    return [name for name in methods if not lacks[name]]


def measure(cell, args):
    job = {"folder": str(args.data.resolve())} | cell._asdict()
    command = [sys.executable, "-m", "tables.cell", json.dumps(job)]
    paths = [str(processes.FOLDER), os.environ.get("PYTHONPATH")]
    places = {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    return processes.run_command(command, processes.variables(threads=1) | places, args.time_limit)


def run(args, path):
    """Measure what is missing. Returns the number of failures; the next run tries them again."""
    done = {Cell(row["set"], int(row["split"]), row["method"]) for row in store.read(path)}
    cells = plan(args, available(args.methods), done)
    if not cells:
        return 0
    started = store.start_run(args.results, "tables")
    failures = 0
    for number, cell in enumerate(cells, start=1):
        result = measure(cell, args)
        status = result.pop("status")
        what = f"[{number}/{len(cells)}] {cell.set}, split {cell.split}, {cell.method}"
        if status == "ok":
            row = {"run": started} | cell._asdict() | store.rounded(result)
            store.append(path, FIELDS, [row])
            status = ", ".join(f"{key} {row[key]}" for key in FIELDS[6:] if key in row)
        else:
            failures += 1
        print(f"{what}: {status}", file=sys.stderr, flush=True)
    return failures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, help="folder of a suite, with its suite.py")
    parser.add_argument("--sets", nargs="+", help="names of tables; default: all")
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1, 2], help="default: all")
    parser.add_argument("--methods", nargs="+", help="default: all")
    parser.add_argument(
        "--again", nargs="*", help="methods to measure once more; without names, all of them"
    )
    parser.add_argument("--time-limit", type=float, default=3600, help="seconds of one cell")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of the page")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    args = parser.parse_args()
    args.methods = args.methods or list(METHODS)
    args.again = args.methods if args.again == [] else args.again or []
    check_methods(parser, args)
    if args.data or not args.report:
        check_data(parser, args)
    return args


def check_methods(parser, args):
    for name in [*args.methods, *args.again]:
        if name not in METHODS:
            parser.error(f"no method {name}; there are {', '.join(METHODS)}")
    for name in args.again:
        if name not in args.methods:
            parser.error(f"argument --again: {name} is not among --methods")


def check_data(parser, args):
    if args.data is None:
        parser.error("argument --data: the folder of a suite is needed")
    if not (args.data / "suite.py").is_file():
        parser.error(f"argument --data: no suite.py in {args.data}")
    suite = open_suite(args.data)
    names = list(suite.names())
    args.sets = args.sets or names
    for name in args.sets:
        if name not in names:
            parser.error(f"argument --sets: no table {name}; there are {', '.join(names)}")
    count = len(suite.splits(args.sets[0]))
    for split in args.splits:
        if not 0 <= split < count:
            parser.error(f"argument --splits: {split} must be from 0 to {count - 1}")


def show(args, rows):
    """Write the page from all rows of our own; print it for what was asked, with other results."""
    target = args.documents / PAGE
    text = (target if target.exists() else DOCUMENTS / PAGE).read_text()
    report.write(target, report.page(text, rows))
    peers = store.read(args.data / PEERS) if args.data else []
    print(report.page(text, *([r for r in each if is_asked(args, r)] for each in (rows, peers))))


def is_asked(args, row):
    return (not args.sets or row["set"] in args.sets) and int(row["split"]) in args.splits


def main():
    args = parse_arguments()
    path = args.results / "tables.csv"
    failures = 0
    try:
        failures = 0 if args.report else run(args, path)
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on with the missing cells") from None
    show(args, store.read(path))
    if failures:
        raise SystemExit(f"{failures} cells failed; the same command tries them again")


if __name__ == "__main__":
    main()
