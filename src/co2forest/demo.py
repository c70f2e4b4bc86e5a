"""The main job on data that ships with scikit-learn: ``python -m co2forest.demo``.

Trains CO2 forests and random forests of 10, 30 and 100 trees on the 8 x 8 digits and prints their
test errors, fit times and sizes.
"""

import pickle
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestClassifier

_TREES = (10, 30, 100)
_SEEDS = range(3)


def _measure(model: Any, data: list[npt.NDArray[Any]]) -> tuple[float, float, int]:
    """Test error in percent, seconds to fit, and bytes of the pickled model."""
    X_train, X_test, y_train, y_test = data
    started = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    error = 100 * np.mean(model.predict(X_test) != y_test)
    return float(error), seconds, len(pickle.dumps(model))


def main() -> None:
    """Print the table."""
    X, y = load_digits(return_X_y=True)
    data = train_test_split(X.astype(np.uint8), y, test_size=0.5, random_state=0, stratify=y)
    print(f"Handwritten digits: {len(data[0])} training and {len(data[1])} test rows, ", end="")
    print(f"{X.shape[1]} features, {len(np.unique(y))} classes; means of {len(_SEEDS)} seeds.\n")
    print(f"{'':24}{'trees':>6}{'test error':>12}{'fit time':>11}{'size':>10}")
    for name, forest in (
        ("random forest", RandomForestClassifier),
        ("CO2 forest", CO2ForestClassifier),
    ):
        for trees in _TREES:
            runs = [_measure(forest(trees, random_state=seed), data) for seed in _SEEDS]
            error, seconds, size = np.mean(runs, axis=0)
            print(f"{name:24}{trees:6}{error:10.2f} %{seconds:9.3f} s{size / 1e6:7.2f} MB")


if __name__ == "__main__":
    main()
