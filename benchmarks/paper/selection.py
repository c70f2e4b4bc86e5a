# SPDX-License-Identifier: BSD-3-Clause
"""Selection cells: parameters chosen on the training set only."""

import json
import time

import numpy as np
from sklearn.model_selection import train_test_split

from measure import cpu_seconds
from paper import cells, forests

VALIDATION = 0.2  # the fraction of the training set that the paper holds out


def measure(config, cell, data, threads):
    """The row of a selection cell."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    settings = config["methods"][cell.method]["selection"]
    strategy = {"grid": by_grid, "tune": by_tuning}[settings["strategy"]]
    parameters, error = strategy(config, cell, data, threads, settings)
    return [
        {
            "parameters": json.dumps(parameters, sort_keys=True),
            "error_percent": 100 * float(error),
            "cpu_seconds": cpu_seconds() - cpu,
            "wall_seconds": time.perf_counter() - wall,
        }
    ]


def by_grid(config, cell, data, threads, settings):
    """The best of a few numbers of features (or pairs) on held-out rows, as the paper chooses q."""
    X, y = data.X_train, data.y_train
    train, rest = train_test_split(
        np.arange(len(y)), test_size=VALIDATION, random_state=cell.seed, stratify=y
    )
    trees = settings.get("trees_of", {}).get(cell.set, settings["trees"])
    candidates = {max(1, round(X.shape[1] ** power)) for power in settings["powers"]}
    errors = {}
    for candidate in sorted(candidates):
        forest = forests.make(
            *(config, cell.method, cell.seed, threads),
            **{settings["parameter"]: candidate, "n_estimators": trees},
        )
        forest.fit(X[train], y[train])
        errors[candidate] = np.mean(forest.predict(X[rest]) != y[rest])
    best = min(errors, key=errors.get)
    return {settings["parameter"]: best}, errors[best]


def by_tuning(config, cell, data, threads, settings):
    """What `co2forest.tuning.tune_forest` finds."""
    from co2forest.tuning import tune_forest

    result = tune_forest(
        data.X_train,
        data.y_train,
        estimator=forests.make(config, cell.method, cell.seed, threads),
        refit=False,
        n_jobs=threads,
        random_state=cell.seed,
        **settings.get("options", {}),
    )
    return plain(result.best_params), 1 - result.best_score


def trial_trees(settings):
    """Roughly how many trees a selection grows, to estimate its cost."""
    if settings["strategy"] == "grid":
        return settings["trees"] * len(settings["powers"])
    return settings["trial_trees"]


def plain(parameters):
    """Convert NumPy numbers to Python numbers, which JSON can hold."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def source_of_selection(config, method):
    """The method whose selection cell holds the parameters, or None."""
    selection = config["methods"][method]["selection"]
    strategy = selection["strategy"]
    return {"none": None, "same_as": selection.get("method")}.get(strategy, method)


def selected_parameters(config, folder, cell):
    """The parameters chosen for a forest cell; None if the selection is not done yet."""
    source = source_of_selection(config, cell.method)
    if source is None:
        return {}
    return cells.selected(folder, cell.set, source, cell.seed)
