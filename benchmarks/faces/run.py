# SPDX-License-Identifier: BSD-3-Clause
"""Run the paper's experiment on faces: Jaccard scores of axis, two-probe and CO2 forests.

    make faces ARGS="--data FOLDER [--only forest] [--problems frontal8] [--forests co2] [--list]"

benchmarks/faces/config.toml defines what is measured. Scores are stored in
benchmarks/results/faces_*.csv as they are measured, so a run can be stopped at any time, and the
next one goes on with what is missing. Scores of a selection are identified by problem, forest,
split and parameters; forests by problem, kind and seed. So give a configuration with other numbers
of trees or windows its own --results. At the end, or with --report alone, docs/faces.md and its
figures are written. FOLDER has fasseg_frontal.npz and fasseg_multipose.npz; --quick needs no data
and takes seconds.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import datasets
import store
from faces import cells, config, drawn, forests, images, selection

PROJECT = Path(__file__).parent.parent.parent
DOCUMENTS = PROJECT / "docs"
SCRATCH = PROJECT / "benchmarks" / "scratch" / "faces"


def show(text):
    print(f"    {text}", flush=True)


def show_part(part):
    """Show how many of the test images are done, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r  test images: {100 * part:3.0f} %", end="\r", file=sys.stderr, flush=True)


def choose(settings, cell, args):
    """The parameters of a problem and forest; measures what is missing."""
    cell = cell._replace(problem=config.selected_on(settings, cell.problem))
    data = images.load(args.data, settings["problems"][cell.problem], "train")
    return selection.choose(settings, cell, data, args.results, args.jobs, show)


def measure(settings, cell, args):
    parameters = choose(settings, cell, args)
    if cell.kind == "selection":
        show(f"chosen: {parameters}")
        return
    counts, rows, fit, maps = forests.measure(
        settings, cell, parameters, args.data, args.jobs, show_part
    )
    cells.keep_maps(args.maps, cell, maps)
    cells.add(args.results, "counts", counts)
    cells.add(args.results, "images", rows)
    cells.add(args.results, "fits", [fit])
    show(
        f"{fit['cpu_seconds_per_tree']:.1f} CPU s per tree, {fit['model_megabytes']:.0f} MB, "
        f"test images in {fit['test_wall_seconds']:.0f} s"
    )


def is_done(settings, cell, args):
    if cell.kind == "forest":
        return cell in cells.done_forests(args.results)
    chosen = selection.Selection(settings, args.results, cell.problem, cell.forest).run()
    return chosen is not None


def run(settings, missing, args):
    for i, cell in enumerate(missing, start=1):
        started = time.perf_counter()
        print(f"[{i}/{len(missing)}] {cell}", flush=True)
        measure(settings, cell, args)
        show(f"{time.perf_counter() - started:.0f} s")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--config", type=Path, default=config.FILE, help="TOML file")
    parser.add_argument("--only", nargs="+", choices=config.KINDS, help="kinds of cells")
    parser.add_argument("--problems", nargs="+", help="default: all")
    parser.add_argument("--forests", nargs="+", help="default: all")
    parser.add_argument("--seeds", nargs="+", type=int, help="seeds; default: configuration")
    parser.add_argument("--data", type=Path, help="folder of NPZ files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="threads; default: all")
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of faces.md")
    parser.add_argument("--maps", type=Path, default=SCRATCH, help="folder of label maps")
    parser.add_argument("--list", action="store_true", help="show what is done and what is missing")
    parser.add_argument("--report", action="store_true", help="only write page and figures")
    parser.add_argument(
        "--quick",
        type=Path,
        nargs="?",
        const=PROJECT / "build" / "faces_quick",
        metavar="FOLDER",
        help="all of it in seconds on drawings, in a folder",
    )
    args = parser.parse_args()
    if args.jobs < 1:
        parser.error(f"argument --jobs: {args.jobs} must be at least 1")
    if args.quick:
        args.config, args.data = config.QUICK, args.quick
        args.results = args.documents = args.maps = args.quick
        drawn.write(args.quick)
    args.data = args.data or datasets.default_folder("segmentation")
    return parser, args


def check(parser, settings, args):
    """Exit if a name is unknown or a file is missing."""
    for option in ("problems", "forests"):
        for name in getattr(args, option) or ():
            if name not in settings[option]:
                known = ", ".join(settings[option])
                parser.error(f"argument --{option}: {name!r} is not one of {known}")
    files = {settings["problems"][name]["file"] for name in args.problems or settings["problems"]}
    if not (args.list or args.report):
        datasets.check_folder(parser, args.data, sorted(files))


def write_report(settings, args):
    """Write everything that the stored cells allow."""
    from faces import report  # needs matplotlib, and --list does not

    report.write(settings, args.results, args.documents, args.data, args.maps)
    print(f"wrote {args.documents / 'faces.md'}")


def main():
    parser, args = parse_arguments()
    settings = config.read(args.config)
    check(parser, settings, args)
    wanted = config.cells(
        settings, args.only or config.KINDS, args.problems, args.forests, args.seeds
    )
    if args.list:
        for cell in wanted:
            print(f"{'done   ' if is_done(settings, cell, args) else 'missing'}  {cell}")
        return
    if not args.report:
        try:
            run(settings, [cell for cell in wanted if not is_done(settings, cell, args)], args)
        except KeyboardInterrupt:
            raise SystemExit("stopped; the same command goes on with what is missing") from None
    write_report(settings, args)


if __name__ == "__main__":
    main()
