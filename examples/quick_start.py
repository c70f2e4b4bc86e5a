# SPDX-License-Identifier: BSD-3-Clause
"""Replace a random forest by a CO2 forest, on handwritten digits.

python examples/quick_start.py
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

for model in (
    RandomForestClassifier(n_estimators=100, random_state=0),
    CO2ForestClassifier(n_estimators=10, random_state=0),
    CO2ForestClassifier(n_estimators=30, random_state=0),
):
    model.fit(X_train, y_train)
    error = 100 * (1 - model.score(X_test, y_test))
    print(f"{type(model).__name__:24}{model.n_estimators:4} trees  {error:.2f} % errors")

# Everything else is as usual: probabilities, importances, leaves.
print("probabilities of the first row:", model.predict_proba(X_test[:1]).round(2)[0])
print("most important pixel:", model.feature_importances_.argmax())
