# SPDX-License-Identifier: BSD-3-Clause
"""Run the experiments of the paper: Table 1, Figures 1 and 2, and a study of nu.

    make paper ARGS="--data FOLDER [--only forest] [--sets letter] [--methods co2 rf] [--list]"

benchmarks/paper/config.toml defines what is measured. Each cell is stored in
benchmarks/results/paper when it ends, so a run can be stopped at any time, and the next one goes on
with the missing cells. A cell is identified by set, method and seed alone, so give a changed
configuration its own --results. At the end, or with --report alone, tables and figures are written
to docs/paper. FOLDER is that of `datasets.by_name.load_dataset`, which downloads what is missing.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import store
from datasets.by_name import DatasetNotFoundError, load_dataset
from measure import cpu_seconds
from paper import cells, config, costs, forests, measured, selection, tables, trees

RESULTS = store.FOLDER / "paper"
DOCUMENTS = Path(__file__).parent.parent.parent / "docs" / "paper"


def measure(settings, cell, data, args):
    """The rows of a cell."""
    if cell.kind == "selection":
        return selection.measure(settings, cell, data, args.jobs)
    if cell.kind in {"depth", "nu"}:
        return trees.measure(settings, cell, data, args.jobs)
    parameters = selection.selected_parameters(settings, args.results, cell)
    if parameters is None:
        source = selection.source_of_selection(settings, cell.method)
        wanted = config.Cell("selection", cell.set, source, cell.seed)
        add_cell(settings, wanted, data, args)
        parameters = selection.selected_parameters(settings, args.results, cell)
    return forests.measure(settings, cell, data, args.jobs, parameters, show_part)


def add_cell(settings, cell, data, args):
    rows = measure(settings, cell, data, args)
    cells.add(args.results, cell, rows)
    return rows


def show_part(part):
    """Show how much of a cell is done, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r  {100 * part:3.0f} %", end="\r", file=sys.stderr, flush=True)


def summary(cell, rows):
    last = rows[-1]
    if cell.kind == "selection":
        return f"{last['parameters']} ({last['cpu_seconds']:.0f} CPU s)"
    if cell.kind == "forest":
        error = f"{last['error_percent']:.2f} % at {last['size']} trees" if last["size"] else "-"
        return (
            f"{error}, {last['reached']} of {last['trees']} trees, "
            f"{last['cpu_seconds_per_tree']:.3f} CPU s per tree"
        )
    return f"{last['validation_error_percent']:.2f} % at depth {last['depth']}"


def run(settings, missing, args):
    started, cpu = time.perf_counter(), cpu_seconds()
    estimates = costs.Estimates(settings, args.results)
    loaded = None, None
    for i, cell in enumerate(missing):
        if cell in cells.done(args.results, [cell.kind]):
            continue  # a selection that an earlier forest needed
        if loaded[0] != cell.set:
            loaded = cell.set, load_dataset(cell.set, folder=args.data)
        left = sum(estimates.cpu_seconds(other) for other in missing[i:])
        # From CPU time to wall time: as in this run so far; at first, as if all threads were busy.
        elapsed = time.perf_counter() - started
        left *= elapsed / (cpu_seconds() - cpu) if i else 1 / args.jobs
        print(f"[{i + 1}/{len(missing)}, {costs.duration(left)} left] {cell}", flush=True)
        rows = add_cell(settings, cell, loaded[1], args)
        estimates.learn(args.results)
        print(f"    {summary(cell, rows)}", flush=True)
    print(f"{len(missing)} cells in {costs.duration(time.perf_counter() - started)}")


def show_list(settings, wanted, done, args):
    estimates = costs.Estimates(settings, args.results)
    total = 0.0
    for cell in wanted:
        if cell in done:
            print(f"done     {cell}")
            continue
        seconds = estimates.cpu_seconds(cell)
        total += seconds
        print(f"missing  {cell}: about {costs.duration(seconds)} of CPU time")
    print(f"missing cells: about {costs.duration(total)} of CPU time")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--config", type=Path, default=config.FILE, help="TOML file")
    parser.add_argument("--only", nargs="+", choices=config.KINDS, help="kinds of cells")
    parser.add_argument("--sets", nargs="+", help="names of data sets")
    parser.add_argument("--methods", nargs="+", help='names of methods; in studies "nu=10"')
    parser.add_argument("--seeds", nargs="+", type=int)
    parser.add_argument("--data", type=Path, help="folder of data sets; default: CO2FOREST_DATA")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="threads; default: all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of stored cells")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of the report")
    parser.add_argument("--formats", nargs="+", default=["svg"], choices=["svg", "png"])
    parser.add_argument("--list", action="store_true", help="show what is done and what is missing")
    parser.add_argument("--report", action="store_true", help="only draw the stored cells")
    args = parser.parse_args()
    if args.jobs < 1:
        parser.error(f"argument --jobs: {args.jobs} must be at least 1")
    return parser, args


def main():
    parser, args = parse_arguments()
    settings = config.read(args.config)
    if not args.report:
        check_names(parser, settings, args)
        wanted = config.cells(
            settings, args.only or config.KINDS, args.sets, args.methods, args.seeds
        )
        done = cells.done(args.results, config.KINDS)
        if args.list:
            show_list(settings, wanted, done, args)
            return
        missing = [cell for cell in wanted if cell not in done]
        try:
            run(settings, missing, args)
        except KeyboardInterrupt:
            raise SystemExit("stopped; the same command goes on with the missing cells") from None
        except DatasetNotFoundError as error:
            raise SystemExit(str(error)) from None
    write_report(settings, args)


def write_report(settings, args):
    """Write everything that the stored cells allow."""
    from paper import drawings  # needs matplotlib, and --list does not

    args.documents.mkdir(parents=True, exist_ok=True)
    curves = stored_curves(settings, args.results)
    if not any(args.results.glob("*.csv")):
        raise SystemExit(f"no stored cells in {args.results}: nothing to report")
    if curves:
        tables.write(settings, curves, args.documents)
    drawings.write(settings, curves, args.results, args.documents, args.formats)
    print(f"wrote the report to {args.documents}")


def stored_curves(settings, results):
    """The curves of all sets and methods that the configuration names."""
    return {
        (name, method): curve
        for (name, method), curve in measured.curves(results).items()
        if name in settings["sets"] and method in settings["methods"]
    }


def check_names(parser, settings, args):
    studies = [f"nu={nu:g}" for kind in ("depth", "nu") for nu in settings[kind]["nu"]]
    known = {
        "sets": settings["sets"],
        "methods": [*settings["methods"], config.UNIVARIATE, *studies],
    }
    for option, names in known.items():
        for name in getattr(args, option) or ():
            if name not in names:
                parser.error(f"argument --{option}: {name!r} is not one of {', '.join(names)}")


if __name__ == "__main__":
    main()
