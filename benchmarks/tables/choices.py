# SPDX-License-Identifier: BSD-3-Clause
"""What the constants of ``mixture="auto"`` are worth: the sweep behind them.

    python -m tables.choices --data FOLDER [--sets adult sick] [--variants kept_0.9] [--seeds 2]

On validation parts of the training rows of split 0, and never on test rows: three quarters of the
rows grow a forest of 100 trees, with one constant of the library changed, and the other quarter
judges it. Another seed is another quarter. Every result is added to the CSV file when it is there,
and results that are there are not repeated. The table printed has geometric means of the ratios to
the library as it is.
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
from co2forest.fitting import comparison, mixture
from co2forest.tables import TableModel
from measure import cpu_seconds
from tables.methods import answers
from tables.scores import scores_of_classes, scores_of_numbers
from tables.suites import REGRESSION, open_suite, read_split

TREES = 100
FIELDS = ["set", "task", "variant", "seed", "logloss", "error", "auc", "ece", "rmse", "fit_cpu_s"]


def trial(**values):
    return {"constants": [(mixture, f"_{name.upper()}", value) for name, value in values.items()]}


def without(split):
    splits = tuple(each for each in mixture.SPLITS if each != split)
    return {"constants": [(mixture, "SPLITS", splits)]}


VARIANTS = {
    "as it is": {},
    "plain": {"parameters": {"mixture": None}},
    "without axis": without("axis"),
    "without pair": without("pair"),
    "without narrow": without("narrow"),
    "without random": without("random"),
    "leaves of 1 and 5": trial(leaves=(1, 5)),
    "leaves of 1 and 20": trial(leaves=(1, 20)),
    "leaves of 1, 5 and 20": trial(leaves=(1, 5, 20)),
    "kept 0.8": trial(kept=0.8),
    "four trees of each kind": trial(trees=4),
    "a sixth of the budget": trial(budget=1 / 3),
    "no thrift": trial(thrift=0.0),
    "judged as 100 trees": {"constants": [(comparison, "_FOREST", 100)]},
    "a mixture at any gain": {"constants": [(mixture, "_least_gain", lambda *_: -np.inf)]},
}


def measure(data, variant, seed):
    numbers = data.task == REGRESSION
    frame, frame_new, y, y_new = train_test_split(
        data.X_train,
        data.y_train,
        test_size=0.25,
        random_state=7 + seed,
        stratify=None if numbers else data.y_train,
    )
    kind = CO2ForestRegressor if numbers else CO2ForestClassifier
    parameters = {"mixture": "auto", "random_state": seed, "n_jobs": 1}
    model = TableModel(kind(TREES, **parameters | variant.get("parameters", {})))
    with ExitStack() as stack:
        for module, name, value in variant.get("constants", []):
            stack.enter_context(patch.object(module, name, value))
        started = cpu_seconds()
        model.fit(frame, y)
        seconds = cpu_seconds() - started
    score = scores_of_numbers if numbers else scores_of_classes
    return score(answers(model, frame_new, data), y_new) | {"fit_cpu_s": seconds}


def show(rows, sets, variants):
    values = {}
    for row in rows:
        for field in FIELDS[4:]:
            if row[field] and row["set"] in sets:
                key = (row["variant"], field)
                values.setdefault(key, {})[row["set"], row["seed"]] = float(row[field])
    for field in FIELDS[4:]:
        reference = values.get(("as it is", field), {})
        for variant in variants:
            own = values.get((variant, field), {})
            both = [key for key in own if key in reference]
            if not both:
                continue
            if field == "ece":
                means = [np.mean([each[key] for key in both]) for each in (own, reference)]
                print(f"{field:9} {variant:28} {means[0]:.4f}, as it is {means[1]:.4f}")
                continue
            logs = [np.log(max(own[key], 1e-4) / max(reference[key], 1e-4)) for key in both]
            print(
                f"{field:9} {variant:28} {np.exp(np.mean(logs)):.4f} "
                f"+- {np.std(logs) / len(logs) ** 0.5:.4f}, {len(both)} results"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CO2FOREST_TABLES"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, default=store.FOLDER / "tables_choices.csv")
    options = parser.parse_args()
    sets = options.sets or list(open_suite(options.data).names())
    keys = ("set", "variant", "seed")
    done = {tuple(row[key] for key in keys) for row in store.read(options.results)}
    for seed in range(options.seeds):
        for name in sets:
            data = read_split(options.data, name, 0)
            for variant in options.variants:
                if (name, variant, str(seed)) in done:
                    continue
                result = measure(data, VARIANTS[variant], seed)
                row = {"set": name, "task": data.task, "variant": variant, "seed": seed}
                store.append(options.results, FIELDS, [row | store.rounded(result)])
                print(name, variant, seed, result, flush=True)
    show(store.read(options.results), sets, options.variants)


if __name__ == "__main__":
    main()
