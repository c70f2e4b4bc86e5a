# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that fail: values are missing in training, and a sensor breaks afterwards.

python examples/missing_values.py
"""

import numpy as np

from co2forest import CO2ForestClassifier

rng = np.random.default_rng(0)


def machines(count):
    """Readings of 12 sensors that follow three hidden quantities, and whether the machine fails."""
    hidden = rng.normal(size=(count, 3))
    mixing = np.random.default_rng(1).normal(size=(3, 12))
    readings = hidden @ mixing + 0.3 * rng.normal(size=(count, 12))
    fails = hidden[:, 0] + 0.5 * hidden[:, 1] ** 2 > 0.7
    return readings.astype(np.float32), fails


X_train, y_train = machines(2000)
X_test, y_test = machines(1000)


def with_gaps(X, part):
    """Replace values by NaN, which means missing; you need not fill anything in."""
    return np.where(rng.random(X.shape) < part, np.nan, X)


forest = CO2ForestClassifier(30, random_state=0)
for part in (0, 0.1, 0.3):
    forest.fit(with_gaps(X_train, part), y_train)
    score = forest.score(with_gaps(X_test, part), y_test)
    print(f"{100 * part:3.0f} % of all values missing: accuracy {score:.3f}")

broken = X_test.copy()
broken[:, forest.feature_importances_.argmax()] = np.nan
print(f"the most important sensor broke:  accuracy {forest.score(broken, y_test):.3f}")
