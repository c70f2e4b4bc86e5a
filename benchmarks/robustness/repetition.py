# SPDX-License-Identifier: BSD-3-Clause
"""Fits and predictions that should be the same every time."""

import numpy as np

from robustness import data
from robustness.targets import Target

TREES = 10
CALLS = 20
THREADS = (1, 2, 3, 7)
FITS = 2  # for each number of threads


def predict_twice(target: Target):
    """The number of different results, bit by bit, of the same call on two threads."""
    X, y, X_test = data.medium()
    predict = target.predictor(target.fit(X, y, TREES, 2, data.SEED), threads=2)
    results = [predict(X_test) for _ in range(CALLS)]
    distinct = len({result.tobytes() for result in results})
    difference = max(float(np.abs(result - results[0]).max()) for result in results)
    return [
        {
            "outcome": "same" if distinct == 1 else "different",
            "value": distinct,
            "detail": f"differ by at most {difference:.1g}",
        }
    ]


def fit_twice(target: Target):
    """The number of different models for the same data and seed, by predictions and by bytes."""
    X, y, X_test = data.medium()
    predictions, files = set(), set()
    for threads in THREADS * FITS:
        model = target.fit(X, y, TREES, threads, data.SEED)
        files.add(target.stored_bytes(model))
        predictions.add(target.predictor(model, threads=1)(X_test).tobytes())
    return [
        {
            "case": f"{what} of {FITS * len(THREADS)} fits",
            "outcome": "same" if len(found) == 1 else "different",
            "value": len(found),
        }
        for what, found in (("predictions", predictions), ("files", files))
    ]
