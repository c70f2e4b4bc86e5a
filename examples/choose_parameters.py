# SPDX-License-Identifier: BSD-3-Clause
"""Choose parameters on held-out rows, in a search that you can interrupt.

python examples/choose_parameters.py
"""

from sklearn.datasets import load_digits

from co2forest import CO2ForestClassifier
from co2forest.tuning import tune_forest

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = X[:1000], X[1000:], y[:1000], y[1000:]

result = tune_forest(
    X_train,
    y_train,
    estimator=CO2ForestClassifier(50, random_state=0),
    grid={"nu": [1, 10, 100], "learning_rate": [0.03, 0.3]},
    max_features_grid=[0.5, 0.8],  # powers of the number of features
    method="halving",  # weak candidates get few trees
    trial_n_estimators=10,
    checkpoint="search.json",  # after Ctrl-C, the same call goes on from here
    random_state=0,
)
print(result)
print("changed:", result.best_params or "nothing; the defaults were not beaten")
print(f"test accuracy: {result.estimator.score(X_test, y_test):.3f}")
