# SPDX-License-Identifier: BSD-3-Clause
"""Test error against the number of trees, beside a random forest.

    python examples/error_curve.py

Needs co2forest[plot].
"""

import matplotlib as mpl

mpl.use("Agg")  # draw into a file, without a window

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
sizes = (1, 2, 3, 5, 10, 20, 30, 50)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for model in (RandomForestClassifier(random_state=0), CO2ForestClassifier(random_state=0)):
    model.set_params(warm_start=True)  # adds trees to the existing ones
    errors = []
    for size in sizes:
        model.set_params(n_estimators=size).fit(X_train, y_train)
        errors.append(100 * (1 - model.score(X_test, y_test)))
    axes.plot(sizes, errors, marker="o", label=type(model).__name__)
    print(f"{type(model).__name__:24}", *(f"{error:6.1f}" for error in errors))
axes.set(xscale="log", xlabel="trees", ylabel="test error, %")
axes.legend()
figure.savefig("error_curve.png", dpi=150)
