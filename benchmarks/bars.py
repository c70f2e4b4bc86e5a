# SPDX-License-Identifier: BSD-3-Clause
"""Compare stored results with the targets of this project.

    python benchmarks/bars.py [--run RUN] [--scaling-run RUN] [--threads 2]

It reads the last run in speed.csv and in scaling.csv, or the runs named. A target whose
measurements are missing from the run is listed as not measured.
"""

import argparse
from typing import NamedTuple

import curves
import store
from adapters import ADAPTERS
from curves import first_below, largest_within, with_trees
from datasets import SETS
from run import SPEED
from scaling import SCALING

OURS, FOREST = "co2forest", "random_forest"
PROTEIN = "protein_standin_qian_sejnowski"

# Reaching the error of a random forest with so many trees takes at most this fraction of its CPU
# time.
REACH = {
    ("letter", 1000): 80,
    ("pendigits", 1000): 300,
    ("satimage", 1000): 35,
    ("usps", 1000): 90,
    ("mnist", 1000): 60,
    ("connect4", 100): 4,
    ("covertype_subset", 100): 8,
    (PROTEIN, 100): 2,
}
# CPU time of a tree, divided by that of a tree of the random forest.
PER_TREE = {
    "pendigits": 1.0,
    "satimage": 1.0,
    "usps": 1.0,
    "letter": 1.5,
    "mnist": 1.5,
    "connect4": 3.0,
    "covertype_subset": 3.0,
    PROTEIN: 3.0,
}
AVX2 = 1.3  # CPU time with AVX2, divided by that with AVX-512
BATCH = {"letter": 3.0, "mnist": 1.0}  # times as fast as the random forest
ROW_MICROSECONDS, ROW_TIMES_FASTER = 60, 20  # above input validation; than the random forest
MODEL = dict.fromkeys(SETS, 10) | {"mnist": 5}  # times as small at the error of 100 trees
# The error must be below that of all libraries, or of all forests, with the same CPU time.
BELOW_ALL = ("letter", "pendigits", "satimage", "usps", "covertype_subset")
BELOW_FORESTS = ("mnist", "connect4")
EQUAL_TIME_FROM = 1.0  # CPU seconds
BELOW = 0.9999  # an equal error does not count as below

GROWTH = 1.15  # growth of the cost per row or feature, from the smallest data to the largest
SPEEDUP = 1.85  # by a second thread
MEMORY = 0.35  # work space without the model, as a fraction of the input
IMPORT_SECONDS = 0.15


class Bar(NamedTuple):
    measure: str
    where: str
    measured: float | None
    target: float
    at_most: bool = True
    note: str = ""

    def status(self):
        if self.measured is None:
            return "not measured"
        reached = self.measured <= self.target if self.at_most else self.measured >= self.target
        return "pass" if reached else "FAIL"


def ratio(a, b):
    return a / b if a is not None and b else None


def cost_to_reach_error(found):
    for (name, trees), target in REACH.items():
        theirs = with_trees(found.get((name, FOREST), []), trees)
        ours = first_below(found.get((name, OURS), []), theirs.error) if theirs else None
        yield Bar(
            f"fit CPU of a random forest of {trees} / ours at its error",
            name,
            ratio(theirs.fit_cpu, ours.fit_cpu) if ours else (theirs and 0.0),
            target,
            at_most=False,
            note=f"{ours.trees} trees, {ours.error:.2f} % against {theirs.error:.2f} %"
            if ours
            else "",
        )


def common_size(found, name, one, other):
    """The points of two libraries with the same number of trees, 100 if both have it."""
    a, b = (
        {point.trees: point for point in found.get((name, library), [])} for library in (one, other)
    )
    sizes = a.keys() & b.keys()
    if not sizes:
        return None
    size = 100 if 100 in sizes else max(sizes)
    return a[size], b[size]


def cost_per_tree(found):
    for name, target in PER_TREE.items():
        pair = common_size(found, name, OURS, FOREST)
        value = pair and pair[0].fit_cpu / pair[1].fit_cpu
        note = f"{pair[0].trees} trees" if pair else ""
        yield Bar("fit CPU per tree / random forest's", name, value, target, note=note)


def narrow_vectors(found):
    for name in PER_TREE:
        pair = common_size(found, name, f"{OURS}_avx2", OURS)
        value = pair and pair[0].fit_cpu / pair[1].fit_cpu
        note = f"{pair[0].trees} trees" if pair else ""
        yield Bar("fit CPU with AVX2 / with AVX-512", name, value, AVX2, note=note)


def prediction(found):
    def pair(name):
        return [with_trees(found.get((name, library), []), 100) for library in (OURS, FOREST)]

    for name, target in BATCH.items():
        ours, theirs = pair(name)
        both = ours and theirs
        value = theirs.predict_one_thread / ours.predict_one_thread if both else None
        yield Bar("batch prediction, times as fast, one thread", name, value, target, at_most=False)
    ours, theirs = pair("letter")
    above = ours.row - ours.row_validation if ours else None
    yield Bar("one row, us above input validation", "letter", above, ROW_MICROSECONDS)
    value = theirs.row / ours.row if ours and theirs else None
    yield Bar("one row, times as fast", "letter", value, ROW_TIMES_FASTER, at_most=False)


def model_size(found):
    for name, target in MODEL.items():
        theirs = with_trees(found.get((name, FOREST), []), 100)
        ours = first_below(found.get((name, OURS), []), theirs.error) if theirs else None
        yield Bar(
            "pickle of a random forest of 100 / ours at its error",
            name,
            theirs.model_bytes / ours.model_bytes if ours else (theirs and 0.0),
            target,
            at_most=False,
            note=f"{ours.trees} trees, {ours.model_bytes / 1e6:.2f} MB" if ours else "",
        )


def error_at_equal_time(found):
    for name in (*BELOW_ALL, *BELOW_FORESTS):
        for library, adapter in ADAPTERS.items():
            if library == OURS or (name in BELOW_FORESTS and adapter.family != "forest"):
                continue
            where = f"{name}, {adapter.label}"
            worst = worst_at_equal_time(found.get((name, OURS), []), found.get((name, library), []))
            value, note = worst or (None, "")
            yield Bar("error / theirs at equal fit CPU", where, value, BELOW, note=note)


def worst_at_equal_time(ours, theirs):
    """The largest ratio of errors, and where it occurs.

    Ours is the largest forest that fits in the time, whatever its error; theirs is the best point.
    Between two of their points only ours can change, and only for the better.
    """
    times = {EQUAL_TIME_FROM} | {p.fit_cpu for p in theirs if p.fit_cpu > EQUAL_TIME_FROM}
    ratios = []
    for time in times:
        mine = largest_within(ours, time)
        best = min((p.error for p in theirs if p.fit_cpu <= time), default=None)
        if mine and best is not None:
            note = f"{mine.error:.2f} % against {best:.2f} % at {time:.1f} s"
            ratios.append((mine.error / best, note))
        elif best is not None:
            ratios.append((float("inf"), f"nothing of ours in {time:.1f} s"))
    return max(ratios, default=None)


def growth(rows, experiment, field):
    """The largest cost per row or feature, divided by that of the smallest data."""
    groups = store.grouped([r for r in rows if r["experiment"] == experiment], field)
    cost = {
        int(key[0]): curves.median(group, "fit_cpu_seconds") / int(key[0])
        for key, group in groups.items()
    }
    if len(cost) < 2:
        return None
    return max(value for size, value in cost.items() if size > min(cost)) / cost[min(cost)]


def scaling_bars(rows):
    for field in ("rows", "features"):
        sizes = [int(r[field]) for r in rows if r["experiment"] == field]
        where = f"{min(sizes)} to {max(sizes)}" if sizes else ""
        yield Bar(
            f"growth of fit CPU over linear in {field}", where, growth(rows, field, field), GROWTH
        )
    by_threads = store.grouped([r for r in rows if r["experiment"] == "threads"], "threads")
    walls = [
        curves.median(by_threads.get((threads,), []), "fit_wall_seconds") for threads in ("1", "2")
    ]
    yield Bar(
        "fit on two threads, times as fast", "generated", ratio(*walls), SPEEDUP, at_most=False
    )
    yield from memory_bars(rows)
    vectors = store.grouped([r for r in rows if r["experiment"] == "vectors"], "library")
    for field, what in (
        ("fit_cpu_seconds", "fit"),
        ("predict_one_thread_cpu_ms_per_1000", "prediction"),
    ):
        narrow, wide = (
            curves.median(vectors.get((library,), []), field) for library in (f"{OURS}_avx2", OURS)
        )
        yield Bar(f"{what} CPU with AVX2 / with AVX-512", "generated", ratio(narrow, wide), AVX2)
    imports = [r for r in rows if r["experiment"] == "import"]
    yield Bar("import, s", "", curves.median(imports, "import_seconds"), IMPORT_SECONDS)


def memory_bars(rows):
    groups = store.grouped(
        [r for r in rows if r["experiment"] == "memory"], "rows", "features", "dtype"
    )
    for (count, features, dtype), group in groups.items():
        peak, model, data = (
            curves.median(group, field) for field in ("fit_peak_mib", "model_bytes", "input_mib")
        )
        value = (peak - model / 2**20) / data if peak is not None else None
        where = f"{count} x {features} {dtype}"
        yield Bar("peak of fit without model / input", where, value, MEMORY)


def speed_bars(found):
    for bars in (
        cost_to_reach_error,
        cost_per_tree,
        narrow_vectors,
        prediction,
        model_size,
        error_at_equal_time,
    ):
        yield from bars(found)


def print_bars(bars):
    print("| measure | where | measured | target | | |")
    print("|---|---|---|---|---|---|")
    for bar in bars:
        measured = "-" if bar.measured is None else f"{bar.measured:.3g}"
        target = f"{'at most' if bar.at_most else 'at least'} {bar.target:.3g}"
        cells = [bar.measure, bar.where, measured, target, bar.status(), bar.note]
        print("| " + " | ".join(cells) + " |")
    statuses = [bar.status() for bar in bars]
    counts = ", ".join(f"{statuses.count(v)} {v}" for v in ("pass", "FAIL", "not measured"))
    print(f"\n{counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    store.add_options_of_readers(parser)
    args = parser.parse_args()
    speed = store.rows_of_run(args.results / SPEED, args.run)
    print_bars(list(speed_bars(curves.read_curves(speed, args.threads))))
    if (args.results / SCALING).exists():
        print()
        scaling = store.rows_of_run(args.results / SCALING, args.scaling_run)
        print_bars(list(scaling_bars(scaling)))


if __name__ == "__main__":
    main()
