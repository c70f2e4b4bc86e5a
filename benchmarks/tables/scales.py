# SPDX-License-Identifier: BSD-3-Clause
"""Whether numbers should become ranks, or be clipped, before a forest sees them.

    python -m tables.scales --data FOLDER [--sets adult sick] [--results FILE]

FOLDER is that of a suite of tables. On validation parts of the training rows of split 0, and never
on test rows: three quarters of the rows grow a forest for each variant, the other quarter judges.
"rank": between 65 quantiles, numbers become their ranks. "robust": less their median, divided by
the range of their middle half, and smoothly clipped at three of it. One line of the CSV file is a
table and a variant. The table printed has geometric means of the ratios to the numbers as they are.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

import store
from co2forest import CO2ForestClassifier, CO2ForestRegressor
from tables.methods import answers
from tables.scores import scores_of_classes, scores_of_numbers
from tables.suites import REGRESSION, open_suite, read_split

FIELDS = ["set", "task", "variant", "loss"]
QUANTILES = 65
CLIP = 3.0


def rank(known):
    knots = np.unique(np.quantile(known, np.linspace(0, 1, QUANTILES)))
    ordered = np.sort(known)
    below, up_to = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
    ranks = (below + up_to) / (2 * len(ordered))
    return lambda x: np.where(np.isnan(x), np.nan, np.interp(x, knots, ranks))


def robust(known):
    centre = np.median(known)
    spread = np.subtract(*np.quantile(known, [0.75, 0.25])) or np.ptp(known)

    def clipped(x):
        z = (x - centre) / spread
        return z / np.sqrt(1 + (z / CLIP) ** 2)

    return clipped


VARIANTS = {"as they are": None, "rank": rank, "robust": robust}


def transformed(kind, frame, new):
    if kind is None:
        return frame, new
    frame, new = frame.copy(), new.copy()
    for name in frame.columns:
        if frame[name].dtype.kind not in "fiu":
            continue
        numbers = frame[name].to_numpy(dtype=float)
        known = numbers[~np.isnan(numbers)]
        if len(np.unique(known)) > 2:
            change = kind(known)
            frame[name], new[name] = change(numbers), change(new[name].to_numpy(dtype=float))
    return frame, new


def measure(data, kind):
    numbers = data.task == REGRESSION
    frame, frame_new, y, y_new = train_test_split(
        data.X_train,
        data.y_train,
        test_size=0.25,
        random_state=7,
        stratify=None if numbers else data.y_train,
    )
    frame, frame_new = transformed(kind, frame, frame_new)
    forest = (CO2ForestRegressor if numbers else CO2ForestClassifier)(random_state=0, n_jobs=1)
    found = answers(forest.fit(frame, y), frame_new, data)
    if numbers:
        return scores_of_numbers(found, y_new)["rmse"]
    return scores_of_classes(found, y_new)["logloss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CO2FOREST_TABLES"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--results", type=Path, default=store.FOLDER / "tables_scales.csv")
    options = parser.parse_args()
    ratios = {}
    for name in options.sets or open_suite(options.data).names():
        data = read_split(options.data, name, 0)
        if not any(data.X_train[each].dtype.kind in "fiu" for each in data.X_train):
            continue
        losses = {variant: measure(data, kind) for variant, kind in VARIANTS.items()}
        rows = [
            {"set": name, "task": data.task, "variant": variant, "loss": f"{loss:.6g}"}
            for variant, loss in losses.items()
        ]
        store.append(options.results, FIELDS, rows)
        print(name, *(f"{variant} {loss:.4f}," for variant, loss in losses.items()), flush=True)
        for variant, loss in losses.items():
            ratios.setdefault(variant, []).append(np.log(loss / losses["as they are"]))
    for variant, logs in ratios.items():
        better = np.count_nonzero(np.array(logs) < 0)
        print(f"{variant}: {np.exp(np.mean(logs)):.3f}, better on {better} of {len(logs)}")


if __name__ == "__main__":
    main()
