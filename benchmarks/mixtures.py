# SPDX-License-Identifier: BSD-3-Clause
"""What ``mixture="auto"`` costs where hyperplanes win, and that it makes nothing worse there.

    python benchmarks/mixtures.py --data FOLDER [--sets letter pol] [--trees 10 30 100] [--seeds 3]

FOLDER has the folders "paper" and "regression" with NAME.npz files, as benchmarks/README.md says
(default: the environment variable CO2FOREST_DATA). A forest with ``mixture="auto"`` and one with
None are fitted one after the other, on one thread. Errors are in %, or RMSE in standard deviations
of the training targets. Results are added to benchmarks/results/mixtures.csv, and those that are
there are not repeated. The table has ratios of "auto" to None.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import store
from co2forest import CO2ForestClassifier, CO2ForestRegressor
from measure import cpu_seconds

RESULTS = store.FOLDER / "mixtures.csv"
FIELDS = ["set", "trees", "seed", "kinds", "error", "error_auto"]
FIELDS += ["fit_cpu_s", "fit_cpu_s_auto", "predict_cpu_s", "predict_cpu_s_auto"]
PAPER = ["letter", "pendigits", "satimage", "usps", "connect4", "mnist", "covertype_subset"]
PAPER += ["protein_standin_qian_sejnowski"]
NUMBERS = ["california_housing", "cpu_act", "pol", "kin8nm", "protein_casp", "naval_2out"]
NUMBERS += ["kin40k", "ailerons", "sarcos_test4449_7out"]


def read(folder, name):
    with np.load(folder / ("paper" if name in PAPER else "regression") / f"{name}.npz") as file:
        return [file[part] for part in ("X_train", "y_train", "X_test", "y_test")]


def fit(name, trees, seed, mixture, parts):
    X, y, X_test, y_test = parts
    kind = CO2ForestClassifier if name in PAPER else CO2ForestRegressor
    forest = kind(trees, mixture=mixture, random_state=seed, n_jobs=1)
    began = cpu_seconds()
    forest.fit(X, y)
    fitted = cpu_seconds()
    found = forest.predict(X_test)
    ended = cpu_seconds()
    if name in PAPER:
        error = 100 * np.mean(found != y_test)
    else:
        error = np.sqrt(np.mean(((found - y_test) / y.std(axis=0)) ** 2))
    return float(error), fitted - began, ended - fitted, forest.mixture_


def measure(name, trees, seed, parts):
    error, seconds, predicting, _ = fit(name, trees, seed, None, parts)
    error_auto, seconds_auto, predicting_auto, kinds = fit(name, trees, seed, "auto", parts)
    used = (f"{k['split']} {k['min_samples_leaf']} x{k['n_trees']}" for k in kinds if k["n_trees"])
    values = (error, error_auto, seconds, seconds_auto, predicting, predicting_auto)
    row = {"set": name, "trees": trees, "seed": seed, "kinds": " + ".join(used)}
    return row | store.rounded(dict(zip(FIELDS[4:], values, strict=True)))


def ratios(rows, field):
    return [float(row[f"{field}_auto"]) / max(float(row[field]), 1e-9) for row in rows]


def show(rows, sets):
    """Errors are means over seeds, costs medians of ratios; then means of ratios over sets."""
    print("| trees | set | error | error, auto | fit | predict | kinds |")
    print("|---|---|---|---|---|---|---|")
    for trees in sorted({int(row["trees"]) for row in rows}):
        means = []
        for name in sets:
            own = [row for row in rows if row["set"] == name and int(row["trees"]) == trees]
            if not own:
                continue
            errors = [np.mean([float(r[f]) for r in own]) for f in ("error", "error_auto")]
            costs = [np.median(ratios(own, f)) for f in ("fit_cpu_s", "predict_cpu_s")]
            means.append([errors[1] / errors[0], *costs])
            cells = [f"{value:.4g}" for value in errors] + [f"{value:.2f}" for value in costs]
            print(f"| {trees} | {name} |", " | ".join([*cells, own[0]["kinds"]]), "|")
        total = np.mean(means, axis=0)
        print(f"| {trees} | mean ratio | | {total[0]:.3f} | {total[1]:.3f} | {total[2]:.3f} | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CO2FOREST_DATA"))
    parser.add_argument("--sets", nargs="+", choices=PAPER + NUMBERS, default=PAPER + NUMBERS)
    parser.add_argument("--trees", nargs="+", type=int, default=[10, 30, 100])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    keys = ("set", "trees", "seed")
    done = {tuple(row[key] for key in keys) for row in store.read(options.results)}
    for trees in options.trees:
        for seed in range(options.seeds):
            for name in options.sets:
                if (name, str(trees), str(seed)) not in done:
                    row = measure(name, trees, seed, read(options.data, name))
                    store.append(options.results, FIELDS, [row])
                    print(row, flush=True)
    show(store.read(options.results), options.sets)


if __name__ == "__main__":
    main()
