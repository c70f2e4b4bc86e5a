# SPDX-License-Identifier: BSD-3-Clause
"""One model for many threads, and a process that forks after a fit."""

import threading

import numpy as np

from robustness import data, forks
from robustness.targets import Target

TREES = 10
CALLERS, CALLS = 8, 5
FORK_SECONDS = 10
ROUNDING = 1e-6  # float32 sums may differ by this when added in another order


def eight_threads(target: Target):
    """Whether simultaneous calls give the same result as a single call."""
    X, y, X_test = data.medium()
    predict = target.predictor(target.fit(X, y, TREES, 2, data.SEED), threads=2)
    expected = predict(X_test)
    results, errors = [], []
    together = threading.Barrier(CALLERS)

    def call():
        together.wait()
        try:
            results.extend(predict(X_test) for _ in range(CALLS))
        except Exception as error:  # noqa: BLE001 (whatever a library raises is a result)
            errors.append(type(error).__name__)

    threads = [threading.Thread(target=call) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    differences = [float(np.abs(result - expected).max()) for result in results]
    outcomes = {"same": 0, "last bits differ": 0, "wrong": 0}
    for difference in differences:
        kind = "same" if difference == 0 else "last bits differ"
        outcomes[kind if difference < ROUNDING else "wrong"] += 1
    found = [{"outcome": "exception", "detail": error} for error in errors]
    found += [
        {"outcome": outcome, "count": count, "detail": f"by at most {max(differences):.1g}"}
        for outcome, count in outcomes.items()
        if count
    ]
    return found


def fork_after_fit(target: Target):
    """Whether a child of a process that has fitted can fit and predict."""
    X, y, X_test = data.small()

    def work():
        model = target.fit(X, y, TREES, 2, data.SEED)
        return target.predictor(model, threads=2)(X_test)

    expected = work()

    def again():
        return "works" if np.allclose(work(), expected, atol=ROUNDING) else "other predictions"

    outcome, detail = forks.attempt(again, FORK_SECONDS, memory=None)
    return [{"outcome": outcome, "detail": detail}]
