# SPDX-License-Identifier: BSD-3-Clause
"""What the constants of ``mixture="auto"`` and of boosting are worth: the sweeps behind them.

    python -m tables.choices --data FOLDER [--of boosting] [--sets adult sick]
                             [--variants "kept 0.8"] [--seeds 2]

On validation parts of the training rows of split 0, and never on test rows: three quarters of the
rows grow a forest of 100 trees, or boosting, with one constant or parameter changed, and the other
quarter judges it. Another seed is another quarter. Every result is added to the CSV file when it is
there, and results that are there are not repeated. The table printed has geometric means of the
ratios to the library as it is.
"""

import argparse
import os
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import train_test_split

import co2forest
import store
from co2forest.fitting import boost_splits, comparison, mixture
from co2forest.tables import TableModel
from measure import cpu_seconds
from tables.methods import METHODS, answers
from tables.scores import scores_of_classes, scores_of_numbers
from tables.suites import REGRESSION, Split, open_suite, read_split

AS_IT_IS = "as it is"
FIELDS = ["set", "task", "variant", "seed", "logloss", "error", "auc", "ece", "rmse", "fit_cpu_s"]


def trial(**values):
    return {"constants": [(mixture, f"_{name.upper()}", value) for name, value in values.items()]}


def without(split):
    splits = tuple(each for each in mixture.SPLITS if each != split)
    return {"constants": [(mixture, "SPLITS", splits)]}


def narrow(**values):
    """Narrow trees of boosting with other defaults."""
    ways = boost_splits._DEFAULTS  # noqa: SLF001
    changed = tuple({**defaults, **values} for defaults in ways["narrow"])
    return {"constants": [(boost_splits, "_DEFAULTS", ways | {"narrow": changed})]}


FOREST = {
    AS_IT_IS: {},
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


BOOSTING = {
    AS_IT_IS: {},
    "LightGBM, early stopping": {"method": "lightgbm_early_stopping"},
    "narrow": {"parameters": {"split": "narrow"}},
    "co2": {"parameters": {"split": "co2"}},
    "narrow, all features": {"parameters": {"split": "narrow", "max_features": None}},
    "one fold": {"parameters": {"n_folds": 1}},
    "three folds": {"parameters": {"n_folds": 3}},
    "five folds": {"parameters": {"n_folds": 5}},
    "rate 0.05": narrow(learning_rate=0.05),
    "rate 0.1": narrow(learning_rate=0.1),
    "rate 0.1, 25 rounds without progress": narrow(learning_rate=0.1)
    | {"parameters": {"n_iter_no_change": 25}},
    "rate 0.1, 0.7 of the rows": narrow(learning_rate=0.1) | {"parameters": {"subsample": 0.7}},
    "15 leaves": narrow(max_leaf_nodes=15),
    "leaves of 20": narrow(min_samples_leaf=20),
    "l2 of 5": narrow(l2_regularization=5.0),
    "a quarter of the features": narrow(max_features=0.25),
    "one unit for all features": narrow(scale="global"),
}

FILES = {"forest": "tables_choices.csv", "boosting": "boosting_choices.csv"}
SWEEPS = {"forest": ("CO2Forest", FOREST), "boosting": ("CO2Boosting", BOOSTING)}


def parts_of(data, seed):
    """Three quarters of the training rows to learn from, and a quarter to judge by."""
    frame, frame_new, y, y_new = train_test_split(
        data.X_train,
        data.y_train,
        test_size=0.25,
        random_state=7 + seed,
        stratify=None if data.task == REGRESSION else data.y_train,
    )
    return Split(data.task, frame, y, frame_new, y_new, data.categorical, data.classes)


def fit(estimator, variant, parts, seed):
    """A function from rows to predictions."""
    if "method" in variant:
        return METHODS[variant["method"]].fit(parts)
    kind = "Regressor" if parts.task == REGRESSION else "Classifier"
    parameters = {"random_state": seed, "n_jobs": 1} | variant.get("parameters", {})
    model = TableModel(getattr(co2forest, estimator + kind)(**parameters))
    with ExitStack() as stack:
        for module, name, value in variant.get("constants", []):
            stack.enter_context(patch.object(module, name, value))
        model.fit(parts.X_train, parts.y_train)
    return lambda X: answers(model, X, parts)


def measure(estimator, variant, data, seed):
    parts = parts_of(data, seed)
    started = cpu_seconds()
    predict = fit(estimator, variant, parts, seed)
    seconds = cpu_seconds() - started
    score = scores_of_numbers if data.task == REGRESSION else scores_of_classes
    return score(predict(parts.X_test), parts.y_test) | {"fit_cpu_s": seconds}


def show(rows, sets, variants):
    values = {}
    for row in rows:
        for field in FIELDS[4:]:
            if row[field] and row["set"] in sets and row["variant"] in variants:
                key = (row["variant"], field)
                values.setdefault(key, {})[row["set"], row["seed"]] = float(row[field])
    for field in FIELDS[4:]:
        reference = values.get((AS_IT_IS, field), {})
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
    parser.add_argument("--of", choices=SWEEPS, default="forest")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--variants", nargs="+", help="default: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, default=store.FOLDER, help="folder of CSV files")
    options = parser.parse_args()
    estimator, variants = SWEEPS[options.of]
    chosen = options.variants or list(variants)
    for name in chosen:
        if name not in variants:
            parser.error(f"no variant {name}; there are {', '.join(variants)}")
    path = options.results / (
        "tables_choices.csv" if options.of == "forest" else "boosting_choices.csv"
    )
    sets = options.sets or list(open_suite(options.data).names())
    keys = ("set", "variant", "seed")
    done = {tuple(row[key] for key in keys) for row in store.read(path)}
    for seed in range(options.seeds):
        for name in sets:
            data = read_split(options.data, name, 0)
            for variant in chosen:
                if (name, variant, str(seed)) in done:
                    continue
                result = measure(estimator, variants[variant], data, seed)
                row = {"set": name, "task": data.task, "variant": variant, "seed": seed}
                store.append(path, FIELDS, [row | store.rounded(result)])
                print(name, variant, seed, result, flush=True)
    show(store.read(path), sets, chosen)


if __name__ == "__main__":
    main()
