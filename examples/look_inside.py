# SPDX-License-Identifier: BSD-3-Clause
"""Look inside a forest: a tree, weights, errors, and why a row got its answer.

python examples/look_inside.py

It writes five pictures and a text file into the current directory and takes a few seconds.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split

from co2forest import CO2ForestClassifier
from co2forest.inspection import (
    explain,
    export_text,
    plot_error_curve,
    plot_path,
    plot_tree,
    plot_weights,
)


def save(axes, name):
    axes.figure.savefig(name)
    plt.close(axes.figure)
    print("wrote", name)


# Flowers: four measurements, three species.
iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
forest = CO2ForestClassifier(100, random_state=0).fit(iris.data, species)

save(plot_tree(forest, max_depth=2), "tree.svg")
save(plot_path(forest, iris.data.iloc[133]), "path.svg")
Path("tree.txt").write_text(export_text(forest, n_weights=2), encoding="utf-8")
why = explain(forest, iris.data)
flower = why.contributions[133]
for name, contribution in zip(why.feature_names, flower[:, 2], strict=True):
    print(f"{name:18} {contribution:+.3f} for virginica")

# Digits: the features are the pixels of 8 x 8 images.
digits = load_digits()
X, X_test, y, y_test = train_test_split(digits.data, digits.target, random_state=0)
forest = CO2ForestClassifier(50, random_state=0).fit(X, y)

grid = plot_weights(forest, (8, 8), trees=range(12), n_columns=6)
save(grid[0, 0], "weights.svg")
save(plot_error_curve(forest, X_test, y_test, reference=(X, y)), "errors.svg")

# Four digits, and the pixels that speak for or against the forest's answer.
figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for row, ax in zip(X_test, axes, strict=False):
    plot_path(forest, row, image_shape=(8, 8), ax=ax)
save(axes[0], "digits.svg")
