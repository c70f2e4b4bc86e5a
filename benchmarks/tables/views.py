# SPDX-License-Identifier: BSD-3-Clause
"""Which views of categories and gaps serve: the sweep behind ``co2forest.data.columns.views``.

    python -m tables.views --data FOLDER [--sets adult sick] [--results FILE]

On validation parts of the training rows of split 0, and never on test rows: three quarters of at
most 4000 rows grow a forest for each variant, the other quarter judges. One line of the CSV file is
a table, a variant and a seed. The table printed has geometric means of the ratios to the defaults.
"""

import argparse
import os
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import train_test_split

import store
from co2forest import CO2ForestClassifier, CO2ForestRegressor
from co2forest.data.columns import statistics, views
from tables.methods import answers
from tables.scores import scores_of_classes, scores_of_numbers
from tables.suites import REGRESSION, open_suite, read_split

ROWS, TREES, SEEDS = 3000, 50, (0, 1)
# What differs from the defaults: a module, a name in it, and its value.
VARIANTS = {
    "default": [],
    "no means": [(views, "_FEWEST_FOR_MEANS", 2**31)],
    "means from 10 categories on": [(views, "_FEWEST_FOR_MEANS", 10)],
    "10 indicators": [(views, "_MOST_INDICATORS", 10)],
    "no indicators": [(views, "_MOST_INDICATORS", 0)],
    "one direction": [(statistics, "_MOST_DIRECTIONS", 1)],
    "four directions": [(statistics, "_MOST_DIRECTIONS", 4)],
    "categories are frequent from 100 rows on": [(statistics, "_FREQUENT", 100.0)],
    "no category is frequent": [(statistics, "_FREQUENT", np.inf)],
    "no gaps": [(views, "_LEAST_GAPS", 1.0)],
    "all gaps": [(views, "_LEAST_GAPS", 0.0)],
}


def measure(data, variant, seed):
    rows = np.random.default_rng(seed).permutation(len(data.y_train))[: ROWS * 4 // 3]
    X, y = data.X_train.iloc[rows], data.y_train[rows]
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.25, random_state=seed)
    kind = CO2ForestRegressor if data.task == REGRESSION else CO2ForestClassifier
    with ExitStack() as stack:
        for module, name, value in VARIANTS[variant]:
            stack.enter_context(patch.object(module, name, value))
        model = kind(TREES, mixture="auto", random_state=seed).fit(X, y)
    found = answers(model, X_new, data)
    if data.task == REGRESSION:
        return scores_of_numbers(found, y_new)["rmse"]
    return scores_of_classes(found, y_new)["logloss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CO2FOREST_TABLES"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--results", type=Path, default=store.FOLDER / "tables_views.csv")
    options = parser.parse_args()
    ratios = {}
    for name in options.sets or open_suite(options.data).names():
        data = read_split(options.data, name, 0)
        if not data.categorical and not data.X_train.isna().any(axis=None):
            continue
        for seed in SEEDS:
            found = {each: measure(data, each, seed) for each in options.variants}
            rows = [
                {"set": name, "task": data.task, "variant": each, "seed": seed, "loss": f"{x:.6g}"}
                for each, x in found.items()
            ]
            store.append(options.results, list(rows[0]), rows)
            print(name, seed, *(f"{each} {x:.4f}," for each, x in found.items()), flush=True)
            for each, x in found.items():
                key = "RMSE" if data.task == REGRESSION else "log loss", each
                ratios.setdefault(key, []).append(np.log(x / found[options.variants[0]]))
    for (metric, each), logs in ratios.items():
        print(metric, each, f"{np.exp(np.mean(logs)):.3f}")


if __name__ == "__main__":
    main()
