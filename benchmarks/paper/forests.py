# SPDX-License-Identifier: BSD-3-Clause
"""Forest cells: one large forest, and the test errors of smaller forests within it."""

import contextlib
import importlib
import json
import signal
import time

import numpy as np

from measure import cpu_seconds
from paper import config as configuration


def make(config, method, seed, threads, **parameters):
    """Make a forest by its name in the configuration."""
    settings = config["methods"][method]
    module, _, name = settings["class"].rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    fixed = settings.get("parameters", {})
    return kind(**fixed | parameters, random_state=seed, n_jobs=threads)


class BlockErrors:
    """Errors of forests of several sizes, which are disjoint blocks of trees of a larger one.

    For each size, only a sum of probabilities is kept, whatever the number of trees.
    """

    def __init__(self, sizes, y):
        self.y = y
        self.sums = dict.fromkeys(sizes, 0)
        self.errors = {size: [] for size in sizes}
        self.trees = 0

    def add(self, probabilities, classes):
        """Add one tree."""
        self.trees += 1
        for size in self.sums:
            self.sums[size] = self.sums[size] + probabilities
            if self.trees % size == 0:
                predicted = classes[self.sums[size].argmax(axis=1)]
                self.errors[size].append(100 * np.mean(predicted != self.y))
                self.sums[size] = 0

    def rows(self):
        """Mean, spread and number of blocks, for each size that has any."""
        return [
            {
                "size": size,
                "error_percent": float(np.mean(errors)),
                "error_sd": float(np.std(errors, ddof=1)) if len(errors) > 1 else "",
                "blocks": len(errors),
            }
            for size, errors in self.errors.items()
            if errors
        ]


class LateError(Exception):
    """The CPU time of a cell is used up."""


@contextlib.contextmanager
def cpu_limit(seconds):
    """Raise LateError in the body when this process has used this much CPU time."""

    def late(*_):
        raise LateError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def measure(config, cell, data, threads, parameters, progress=lambda _: None):
    """The rows of a forest cell, one for each size.

    The forest grows by warm starts until it has all its trees or the CPU time of the cell is used
    up. `reached` then tells how many trees there are. If there is none, there is one row of size 0,
    and its time per tree is the time that was not enough.
    """
    target = configuration.trees(config, cell.method, cell.set)
    budget = configuration.limit(config, cell.method, cell.set, "max_cpu_seconds")
    forest = make(config, cell.method, cell.seed, threads, **parameters)
    forest.set_params(warm_start=True)
    blocks = BlockErrors([s for s in config["forest"]["sizes"] if s <= target], data.y_test)
    cpu = wall = 0.0
    while blocks.trees < target:
        chunk = next_chunk(blocks.trees, target, cpu, budget, config["forest"]["chunk"])
        if chunk == 0:
            break
        started = cpu_seconds(), time.perf_counter()
        try:
            with cpu_limit(budget - cpu):
                forest.set_params(n_estimators=blocks.trees + chunk)
                forest.fit(data.X_train, data.y_train)
        except LateError:
            if blocks.trees == 0:
                cpu, wall = cpu_seconds() - started[0], time.perf_counter() - started[1]
            break
        cpu += cpu_seconds() - started[0]
        wall += time.perf_counter() - started[1]
        for tree in forest.estimators_[blocks.trees :]:
            blocks.add(tree.predict_proba(data.X_test), forest.classes_)
        progress(blocks.trees / target)
    shared = {
        "trees": target,
        "reached": blocks.trees,
        "cpu_seconds_per_tree": cpu / max(1, blocks.trees),
        "wall_seconds_per_tree": wall / max(1, blocks.trees),
        "test_rows": len(data.y_test),
        "kind": data.kind,
        "parameters": json.dumps(parameters, sort_keys=True),
    }
    rows = blocks.rows() or [{"size": 0, "error_percent": "", "error_sd": "", "blocks": 0}]
    return [row | shared for row in rows]


def next_chunk(trees, target, cpu, budget, largest):
    """How many trees to add: as many as there are, but no more than the CPU time left allows.

    The trees of a forest do not depend on the chunks.
    """
    chunk = min(max(1, trees), largest, target - trees)
    if trees == 0:
        return chunk
    return max(0, min(chunk, int((budget - cpu) * trees / cpu) if cpu else chunk))
