# SPDX-License-Identifier: BSD-3-Clause
"""How other values of the defaults would change the error, measured on training sets only.

    python benchmarks/defaults.py --data FOLDER rate_weights=4 ridge_rows=60 scale=soft,nu=30

Each setting changes parameters of CO2ForestClassifier, or fields of the native SolverParams that
have no public name. Forests of 50 trees are fitted on a subset of each training set and judged on
the rest; test sets are not read. For each setting, the script prints the mean change against the
defaults, in percent: of the logarithm of the error at 10 and 50 trees, and of the CPU time.
"""

import argparse
import ast
import time
from pathlib import Path
from unittest import mock

import numpy as np

import datasets
from co2forest import CO2ForestClassifier, _native
from co2forest.fitting import parameters

# Rows to train on. At most 12 000 other rows judge.
TRAIN_ROWS = {
    "letter": 4500,
    "pendigits": 1000,
    "satimage": 1500,
    "usps": 2000,
    "mnist": 3000,
    "connect4": 6000,
    "covertype_subset": 5000,
    "protein_standin_qian_sejnowski": 4000,
    "sensit_standin_phoneme": 1000,
    "sensit_standin_sleep": 4000,
}
TREES = (10, 50)


def parse_setting(text):
    """The parameters in "name=value,name=value"."""
    pairs = (part.split("=", 1) for part in text.split(",") if part)
    return {name: _literal(value) for name, value in pairs}


def _literal(text):
    try:
        return ast.literal_eval(text)
    except ValueError:
        return text  # a word, like "soft"


def make_forest(setting, seed):
    """A forest with this setting, and the native parameters that have to change for it."""
    public = {k: v for k, v in setting.items() if k in CO2ForestClassifier().get_params()}
    hidden = {k: v for k, v in setting.items() if k not in public}
    for name in hidden:
        if not hasattr(_native.Co2Params(), name):
            raise SystemExit(f"{name} is neither a parameter nor a field of Co2Params")
    original = parameters.co2_params

    def changed(*args):
        params = original(*args)
        for name, value in hidden.items():
            setattr(params, name, value)
        return params

    forest = CO2ForestClassifier(random_state=seed, n_jobs=-1, warm_start=True, **public)
    return forest, mock.patch("co2forest.estimators.classifier.co2_params", changed)


def measure(setting, seed, X, y, train, test):
    """Errors at each number of trees, and CPU seconds."""
    forest, change = make_forest(setting, seed)
    errors, seconds = [], 0.0
    for trees in TREES:
        started = time.process_time()
        with change:
            forest.set_params(n_estimators=trees).fit(X[train], y[train])
        seconds += time.process_time() - started
        errors.append(np.mean(forest.predict(X[test]) != y[test]))
    return [*errors, seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("settings", nargs="+", type=parse_setting)
    parser.add_argument(
        "--data", type=Path, default=datasets.default_folder(), help="folder with NAME.npz files"
    )
    parser.add_argument("--sets", nargs="+", default=list(TRAIN_ROWS), choices=TRAIN_ROWS)
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    settings = [{}, *args.settings]
    logs = []  # per data set: settings x (error at 10, at 50, seconds)
    for name in args.sets:
        with np.load(args.data / f"{name}.npz") as data:
            X, y = data["X_train"], data["y_train"]
        X = X if X.dtype == np.uint8 else X.astype(np.float32)
        results = []
        for seed in range(args.seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = np.split(order[: TRAIN_ROWS[name] + 12_000], [TRAIN_ROWS[name]])
            results.append([measure(s, seed, X, y, train, test) for s in settings])
        mean = np.mean(results, axis=0)
        logs.append(np.log(mean / mean[0]))
        print(name, np.round(100 * mean[:, :2], 2).tolist(), flush=True)
    for setting, (few, many, cpu) in zip(settings, np.mean(logs, axis=0), strict=True):
        spread = np.std([log[settings.index(setting), :2].mean() for log in logs])
        print(
            f"{setting}: error {100 * few:+.1f} % and {100 * many:+.1f} %, "
            f"CPU time x {np.exp(cpu):.2f} (spread over sets {100 * spread:.1f})"
        )


if __name__ == "__main__":
    main()
