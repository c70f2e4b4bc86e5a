# SPDX-License-Identifier: BSD-3-Clause
"""Predict not only a number but also its range: quantiles from one regression forest.

python examples/prediction_intervals.py
"""

import numpy as np
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(2000, 5))
noise = rng.normal(size=2000) * (0.2 + 0.8 * (X[:, 0] > 0))  # more where the first feature is > 0
y = np.sin(X[:, 0] + X[:, 1]) * 3 + X[:, 2] + noise
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

# Leaves have at least five rows, because quantiles of single rows would be too narrow.
forest = CO2ForestRegressor(100, keep_targets=True, min_samples_leaf=5, random_state=0)
forest.fit(X_train, y_train)
print(f"R2 of the means: {forest.score(X_test, y_test):.3f}")

low, median, high = forest.predict_quantiles(X_test, (0.05, 0.5, 0.95)).T
print(f"targets within the range of 90 %: {((low <= y_test) & (y_test <= high)).mean():.2f}")
for name, rows in {"quiet": X_test[:, 0] <= 0, "noisy": X_test[:, 0] > 0}.items():
    print(f"mean width of the range, {name} half: {(high - low)[rows].mean():.2f}")
