# SPDX-License-Identifier: BSD-3-Clause
"""Which kinds of trees a mixture needs: the sweep behind ``mixture="auto"``.

    python -m tables.kinds --data FOLDER [--sets adult sick] [--results FILE]

On validation parts of the training rows of split 0, and never on test rows: three quarters of the
rows grow trees of every kind, five folds of 6 trees each, which also predict the fold that they
did not get. Those predictions choose greedy shares for each subset of kinds. The other quarter
judges. One line of the CSV file is a table and a subset; the table printed has geometric means of
the ratios to all kinds.
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold, train_test_split

import store
from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.baselines import BaselineForestClassifier, BaselineForestRegressor
from co2forest.tables import TableEncoder
from tables.suites import REGRESSION, open_suite, read_split

FOLDS, TREES, ROUNDS, CAUTION = 5, 6, 25, 1e-3
LEAVES = (1, 5)
SUBSETS = {
    "all": ("co2", "axis", "pair"),
    "co2": ("co2",),
    "without pairs": ("co2", "axis"),
    "without axis": ("co2", "pair"),
    "without co2": ("axis", "pair"),
    "leaves of 1": ("co2 1", "axis 1", "pair 1"),
    "leaves of 5": ("co2 5", "axis 5", "pair 5"),
}


def forest(task, split, leaf, seed):
    numbers = task == REGRESSION
    common = {"min_samples_leaf": leaf, "random_state": seed, "n_jobs": 1}
    if split == "co2":
        return (CO2ForestRegressor if numbers else CO2ForestClassifier)(TREES, **common)
    kind = BaselineForestRegressor if numbers else BaselineForestClassifier
    if split == "axis":
        share = None if numbers else 0.5
        return kind(TREES, split="axis", max_features=share, bootstrap=False, **common)
    return kind(TREES, split="two_probe", bootstrap=False, **common)


def outputs(model, rows, classes):
    if classes is None:
        return model.predict(rows)[:, None]
    found = np.zeros((len(rows), classes))
    found[:, model.classes_] = model.predict_proba(rows)
    return found


def grow(data, rows, y, new, split, leaf):
    """Outputs for the rows by trees that did not get them, and for new rows by all trees."""
    out_of_fold = np.zeros((len(y), data.classes or 1))
    of_new = np.zeros((new.shape[0], data.classes or 1))
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(folds.split(rows)):
        model = forest(data.task, split, leaf, number).fit(rows[train], y[train])
        out_of_fold[test] = outputs(model, rows[test], data.classes)
        of_new += outputs(model, new, data.classes) / FOLDS
    return out_of_fold, of_new


def loss(found, y, classes):
    if classes is None:
        return float(np.mean((found[:, 0] - y) ** 2))
    p = found[np.arange(len(y)), y]
    return float(-np.mean(np.log(p * (1 - CAUTION) + CAUTION / classes)))


def greedy(found, y, classes):
    counts, total = np.zeros(len(found)), np.zeros_like(found[0])
    for taken in range(1, ROUNDS + 1):
        best = int(np.argmin([loss((total + each) / taken, y, classes) for each in found]))
        counts[best] += 1
        total += found[best]
    return counts / counts.sum()


def power(found, exponent):
    q = (found * (1 - CAUTION) + CAUTION / found.shape[1]) ** exponent
    return q / q.sum(axis=1, keepdims=True)


def judged(known, y, new, y_new, classes):
    """The log loss with the best exponent, or the root of the squared error, of the mixture."""
    shares = greedy(known, y, classes)
    mean, mean_new = (np.tensordot(shares, each, axes=1) for each in (known, new))
    if classes is None:
        return loss(mean_new, y_new, classes) ** 0.5
    best = minimize_scalar(
        lambda x: loss(power(mean, np.exp(x)), y, classes), bounds=(-2, 2), method="bounded"
    )
    return loss(power(mean_new, np.exp(best.x)), y_new, classes)


def measure(folder, name):
    data = read_split(folder, name, 0)
    strata = None if data.task == REGRESSION else data.y_train
    frame, frame_new, y, y_new = train_test_split(
        data.X_train, data.y_train, test_size=0.25, random_state=7, stratify=strata
    )
    encoder = TableEncoder().fit(frame)
    rows, new = encoder.transform(frame), encoder.transform(frame_new)
    kinds = {
        f"{split} {leaf}": grow(data, rows, y, new, split, leaf)
        for split in SUBSETS["all"]
        for leaf in LEAVES
    }
    for subset, names in SUBSETS.items():
        used = [each for kind, each in kinds.items() if kind in names or kind.split()[0] in names]
        known, of_new = zip(*used, strict=True)
        yield subset, data.task, judged(known, y, of_new, y_new, data.classes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CO2FOREST_TABLES"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--results", type=Path, default=store.FOLDER / "tables_kinds.csv")
    options = parser.parse_args()
    ratios = {}
    with options.results.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "task", "kinds", "loss"])
        for name in options.sets or open_suite(options.data).names():
            found = list(measure(options.data, name))
            for subset, task, value in found:
                writer.writerow([name, task, subset, f"{value:.6g}"])
                ratio = np.log(value / found[0][2])
                ratios.setdefault((task == REGRESSION, subset), []).append(ratio)
            file.flush()
            print(name, *(f"{subset} {value:.4f}" for subset, _, value in found), flush=True)
    for (numbers, subset), logs in ratios.items():
        print("RMSE" if numbers else "log loss", subset, f"{np.exp(np.mean(logs)):.3f}")


if __name__ == "__main__":
    main()
