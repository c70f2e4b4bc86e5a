# SPDX-License-Identifier: BSD-3-Clause
"""What tune_forest costs, what it chooses, and how that changes the test error.

    python benchmarks/tuning.py --data FOLDER [--sets letter usps] [--methods halving] [--seeds 2]

FOLDER holds NAME.npz files with X_train, y_train, X_test and y_test (default: the folder "paper" in
the one that the environment variable CO2FOREST_DATA names). The method "as given" is a forest with
default parameters. Every search is added to benchmarks/results/tuning.csv when it ends. Searches
that are already there are not repeated. The table is printed from that file.
"""

import json
import time

import numpy as np

import grid
import store
from co2forest import CO2ForestClassifier
from co2forest.tuning import tune_forest

RESULTS = store.FOLDER / "tuning.csv"
FIELDS = [
    "set",
    "method",
    "seed",
    "cpu_seconds",
    "chosen",
    "trial_score",
    "trial_score_as_given",
    "error_10_percent",
    "error_30_percent",
]
SETS = ("satimage", "usps", "pendigits", "letter")
METHODS = ("as given", "holdout", "halving", "oob")
TREES = (10, 30)


def run(name, method, seed, parts):
    """Run one search on one thread and measure the error of what it chose."""
    X_train, y_train, X_test, y_test = parts
    row = {"set": name, "method": method, "seed": seed}
    if method == "as given":
        forest = CO2ForestClassifier(random_state=seed)
    else:
        search = {"method": method, "random_state": seed, "refit": False, "n_jobs": 1}
        started = time.process_time()
        result = tune_forest(X_train, y_train, **search)
        row["cpu_seconds"] = time.process_time() - started
        row["chosen"] = json.dumps(result.best_params)
        row["trial_score"] = result.best_score
        row["trial_score_as_given"] = result.table[0]["score"]
        forest = result.estimator
    forest.set_params(warm_start=True)
    for trees in TREES:
        forest.set_params(n_estimators=trees).fit(X_train, y_train)
        row[f"error_{trees}_percent"] = float(100 * np.mean(forest.predict(X_test) != y_test))
    return store.rounded(row)


def print_table(sets, methods):
    results = store.read(RESULTS)
    print("\nMeans over seeds: test error in % at 10 / 30 trees (CPU seconds of the search)\n")
    print("| set | " + " | ".join(methods) + " |")
    print("|---|" + "---|" * len(methods))
    for name in sets:
        cells = []
        for method in methods:
            mine = [r for r in results if (r["set"], r["method"]) == (name, method)]
            errors = [store.spread(mine, f"error_{trees}_percent") for trees in TREES]
            cost = store.spread(mine, "cpu_seconds")
            text = " / ".join(f"{error.mean:.2f}" for error in errors if error) or "-"
            if cost:
                text += f" ({cost.mean:.1f} s)"
            cells.append(text)
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = grid.parser(__doc__.split("\n", maxsplit=1)[0], SETS, METHODS, seeds=2)
    args = parser.parse_args()
    for name, method, seed, parts in grid.missing(parser, args, RESULTS):
        row = run(name, method, seed, parts)
        store.append(RESULTS, FIELDS, [row])
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    print_table(args.sets, args.methods)


if __name__ == "__main__":
    main()
