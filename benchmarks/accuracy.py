# SPDX-License-Identifier: BSD-3-Clause
"""Test error of CO2 forests with default parameters on the paper's data sets.

    python benchmarks/accuracy.py --data FOLDER [--sets letter usps] [--methods co2] [--seeds 3]

FOLDER holds NAME.npz files with X_train, y_train, X_test and y_test (default: the folder "paper" in
the one that the environment variable CO2FOREST_DATA names). Every run is added to
benchmarks/results/accuracy.csv when it ends. Runs that are already there are not repeated. The
table is printed from that file.
"""

import time
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import grid
import store
from co2forest import CO2ForestClassifier

RESULTS = store.FOLDER / "accuracy.csv"
FIELDS = ["set", "method", "seed", "trees", "error_percent", "fit_cpu_seconds"]
TREES = (10, 30, 100)

METHODS = {
    "co2": lambda seed: CO2ForestClassifier(random_state=seed),
    "cccp": lambda seed: CO2ForestClassifier(random_state=seed, solver="cccp"),
    "random forest": lambda seed: RandomForestClassifier(criterion="entropy", random_state=seed),
}


class Paper(NamedTuple):
    """Table 1 of the paper: errors of CO2 forests with tuned parameters, by number of trees."""

    co2_10: float
    co2_30: float
    co2_1000: float


# Sets whose files are subsets or stand-ins have no counterpart in the paper.
PAPER = {
    "letter": Paper(3.2, 2.3, 1.8),
    "pendigits": Paper(1.8, 1.7, 1.7),
    "satimage": Paper(9.6, 9.1, 8.9),
    "usps": Paper(5.8, 5.9, 5.5),
    "connect4": Paper(17.1, 15.7, 14.7),
    "mnist": Paper(2.5, 2.0, 1.9),
    "covertype_subset": None,
    "protein_standin_qian_sejnowski": None,
}


def run(name, method, seed, parts, threads):
    """Grow one forest by warm starts and measure it at each size."""
    X_train, y_train, X_test, y_test = parts
    forest = METHODS[method](seed).set_params(warm_start=True, n_jobs=threads)
    seconds = 0.0
    for trees in TREES:
        started = time.process_time()
        forest.set_params(n_estimators=trees).fit(X_train, y_train)
        seconds += time.process_time() - started
        error = 100 * np.mean(forest.predict(X_test) != y_test)
        yield {
            "set": name,
            "method": method,
            "seed": seed,
            "trees": trees,
            "error_percent": f"{error:.3f}",
            "fit_cpu_seconds": f"{seconds:.3f}",
        }


def print_table(sets, methods):
    results = store.read(RESULTS)
    print("\nTest error in %, mean over seeds (and CPU ms per tree), at 10 / 30 / 100 trees")
    print("Paper: CO2 with selected parameters at 10 / 30 / 1000 trees\n")
    print("| set | paper | " + " | ".join(methods) + " |")
    print("|---|---|" + "---|" * len(methods))
    for name in sets:
        paper = PAPER.get(name)
        cells = [" / ".join(f"{x:.1f}" for x in paper) if paper else "-"]
        for method in methods:
            mine = [r for r in results if (r["set"], r["method"]) == (name, method)]
            errors = [
                np.mean([float(r["error_percent"]) for r in mine if int(r["trees"]) == trees])
                for trees in TREES
                if any(int(r["trees"]) == trees for r in mine)
            ]
            last = [r for r in mine if int(r["trees"]) == TREES[-1]]
            cpu = np.mean([float(r["fit_cpu_seconds"]) for r in last]) / TREES[-1] if last else 0
            text = " / ".join(f"{e:.2f}" for e in errors)
            cells.append(f"{text} ({1000 * cpu:.0f} ms)" if last else "-")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = grid.parser(__doc__.split("\n", maxsplit=1)[0], PAPER, METHODS, seeds=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    for name, method, seed, parts in grid.missing(parser, args, RESULTS):
        rows = list(run(name, method, seed, parts, args.threads))
        store.append(RESULTS, FIELDS, rows)
        errors = " / ".join(row["error_percent"] for row in rows)
        print(f"{name}, {method}, seed {seed}: {errors}", flush=True)
    print_table(args.sets, args.methods)


if __name__ == "__main__":
    main()
