# SPDX-License-Identifier: BSD-3-Clause
"""The main job on data that ships with scikit-learn: ``python -m co2forest.demo``.

Trains CO2 forests and random forests of 10, 30 and 100 trees on the 8 x 8 digits and prints their
test errors, fit times and sizes.
"""

import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestClassifier

_FORESTS = {"random forest": RandomForestClassifier, "CO2 forest": CO2ForestClassifier}
_TREES = (10, 30, 100)
_SEEDS = range(3)


@dataclass(frozen=True)
class Measurement:
    """Means over the seeds."""

    method: str
    trees: int
    error_percent: float
    fit_seconds: float
    bytes: int  # of the pickled model


def digits() -> list[npt.NDArray[Any]]:
    """The data: training and test rows, training and test labels."""
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X.astype(np.uint8), y, test_size=0.5, random_state=0, stratify=y)
    return list(parts)


def measurements(data: list[npt.NDArray[Any]]) -> Iterator[Measurement]:
    """One for each forest and number of trees, when it is done."""
    for method, forest in _FORESTS.items():
        for trees in _TREES:
            runs = [_measure(forest(trees, random_state=seed), data) for seed in _SEEDS]
            error, seconds, size = np.mean(runs, axis=0).tolist()
            yield Measurement(method, trees, error, seconds, round(size))


def main() -> None:
    """Print the table."""
    data = digits()
    print(f"Handwritten digits: {len(data[0])} training and {len(data[1])} test rows, ", end="")
    print(f"{data[0].shape[1]} features, {len(np.unique(data[2]))} classes; ", end="")
    print(f"means of {len(_SEEDS)} seeds.\n")
    print(f"{'':24}{'trees':>6}{'test error':>12}{'fit time':>11}{'size':>10}")
    for m in measurements(data):
        print(f"{m.method:24}{m.trees:6}{m.error_percent:10.2f} %", end="")
        print(f"{m.fit_seconds:9.3f} s{m.bytes / 1e6:7.2f} MB", flush=True)


def _measure(model: Any, data: list[npt.NDArray[Any]]) -> tuple[float, float, int]:
    """Test error in percent, seconds to fit, and bytes of the pickled model."""
    X_train, X_test, y_train, y_test = data
    started = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    error = 100 * np.mean(model.predict(X_test) != y_test)
    return float(error), seconds, len(pickle.dumps(model))


if __name__ == "__main__":
    main()
