# SPDX-License-Identifier: BSD-3-Clause
"""One of the two processes of side_by_side.py: runs cases with the co2forest that it imports.

It reads JSON lines from standard input, each naming a case, a step and for how long to repeat it,
and answers each with a line: the CPU and wall seconds of the fastest run. Models and data stay in
memory.
"""

import hashlib
import json
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import co2forest
from co2forest.segmentation import ForestSegmenter

LEAST_SECONDS = 0.005  # of a run: the clock and this program count for nothing then


class Case:
    """A model to fit, and rows to predict."""

    def __init__(self, model, X, y, rows=None):
        self.model, self.X, self.y = model, X, y
        self.rows = X if rows is None else rows

    def fit(self):
        self.model.fit(self.X, self.y)

    def predict(self):
        return self.model.predict(self.rows)


def normal(n_rows, n_features):
    return np.random.default_rng(0).standard_normal((n_rows, n_features), dtype=np.float32)


def grouped(score, n_classes):
    """Classes of equal size, by quantiles of a score."""
    return score.argsort().argsort() * n_classes // len(score)


def letter():
    """16 whole numbers, 26 classes, as in the Letter data."""
    X = np.clip(np.round(3 * normal(10_000, 16) + 7), 0, 15)
    y = grouped(X[:, 0] + X[:, 1] * X[:, 2] / 8 - X[:, 3] + X[:, 4] / 2, 26)
    return Case(co2forest.CO2ForestClassifier(4, random_state=0, n_jobs=1), X, y)


def images():
    """784 bytes, ten classes: a bright stroke whose place depends on the class."""
    random = np.random.default_rng(1)
    X = random.integers(0, 60, (3000, 784), dtype=np.uint8)
    y = random.integers(0, 10, 3000)
    for row, label, shift in zip(X, y, random.integers(0, 8, 3000), strict=True):
        row[60 * label + 10 * shift :][:120] += 140
    return Case(co2forest.CO2ForestClassifier(10, random_state=0, n_jobs=1), X, y)


def sparse():
    """Counts of 2000 words in 3000 texts, 40 a text."""
    random = np.random.default_rng(2)
    columns = np.minimum(random.integers(0, 2000, 120_000), random.integers(0, 2000, 120_000))
    counts = random.integers(1, 4, 120_000).astype(np.float32)
    X = sp.csr_matrix((counts, columns, range(0, 120_001, 40)), shape=(3000, 2000))
    X.sum_duplicates()
    score = np.asarray(X[:, ::3].sum(axis=1) - X[:, 1::3].sum(axis=1)).ravel()
    score = score + random.standard_normal(3000)
    return Case(co2forest.CO2ForestClassifier(1, random_state=0, n_jobs=1), X, grouped(score, 5))


def binary():
    """126 features that are zero or one, as in the Connect-4 data."""
    X = (normal(10_000, 126) > 0.5).astype(np.float32)
    score = X[:, :20].sum(axis=1) - 2 * X[:, 3] * X[:, 7] + 0.5 * normal(10_000, 1)[:, 0]
    return Case(co2forest.CO2ForestClassifier(3, random_state=0, n_jobs=1), X, grouped(score, 3))


def _numbers(X):
    noise = np.random.default_rng(3).standard_normal(len(X))
    return X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3] - X[:, 4]) + 0.3 * noise


def numbers_8():
    X = normal(6000, 8)
    return Case(co2forest.CO2ForestRegressor(3, random_state=0, n_jobs=1), X, _numbers(X))


def numbers_100():
    X = normal(3000, 100)
    return Case(co2forest.CO2ForestRegressor(4, random_state=0, n_jobs=1), X, _numbers(X))


def boosted_numbers():
    X = normal(4000, 10)
    model = co2forest.CO2BoostingRegressor(
        n_estimators=30, early_stopping=False, random_state=0, n_jobs=1
    )
    return Case(model, X, _numbers(X))


def boosted_classes():
    X = normal(2000, 10)
    model = co2forest.CO2BoostingClassifier(
        n_estimators=10, early_stopping=False, random_state=0, n_jobs=1
    )
    return Case(model, X, grouped(_numbers(X), 4))


def segments():
    """Bright squares in noise, with three channels."""
    pictures = np.random.default_rng(4).integers(0, 140, (4, 80, 80, 3), dtype=np.uint8)
    maps = np.zeros((4, 80, 80), dtype=np.uint8)
    for number in range(4):
        maps[number, 10 * number :, 5 * number + 20 :][:40, :30] = 1
    pictures[maps == 1] += 60
    model = ForestSegmenter(
        window=11, n_estimators=4, samples_per_tree=4000, random_state=0, n_jobs=1
    )
    return Case(model, pictures, maps, rows=pictures[0])


def one_row():
    """A row of a hundred trees: what a call costs."""
    X = normal(1000, 16)
    model = co2forest.CO2ForestClassifier(100, random_state=0, n_jobs=1)
    return Case(model, X, grouped(_numbers(X), 5), rows=X[:1])


@cache
def prepared(name):
    """The case after one fit, and a digest of its predictions."""
    case = globals()[name]()
    case.fit()
    data = np.ascontiguousarray(case.predict()).tobytes()
    return case, hashlib.sha256(data).hexdigest()


def run(name, step, seconds):
    """The least seconds of a step that is repeated for about as long as asked for."""
    case, digest = prepared(name)
    call = getattr(case, step)
    each = max(timed(call, 1)[0], 1e-6)
    calls = max(1, round(LEAST_SECONDS / each))
    runs = max(1, round(seconds / (each * calls)))
    cpu, wall = zip(*(timed(call, calls) for _ in range(runs)), strict=True)
    return {"cpu": min(cpu), "wall": min(wall), "digest": digest}


def timed(call, calls):
    """CPU and wall seconds of a call, as a mean of several."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        call()
    return (time.process_time() - cpu) / calls, (time.perf_counter() - wall) / calls


def main():
    print(json.dumps({"folder": str(Path(co2forest.__file__).parent)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
