# SPDX-License-Identifier: BSD-3-Clause
"""Use a forest in a pipeline on a table with categories; scikit-learn searches its parameters.

    python examples/pipeline.py

Needs pandas.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from co2forest import CO2ForestClassifier

rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "width": rng.normal(20, 4, size=800),
        "height": rng.normal(30, 6, size=800),
        "weight": rng.normal(5, 1, size=800),
        "colour": rng.choice(["red", "green", "blue"], size=800),
    }
)
density = table["weight"] / (table["width"] * table["height"]) * 100
sinks = density + 0.3 * (table["colour"] == "red") > 0.95
train, test, y_train, y_test = train_test_split(table, sinks, random_state=0)

pipeline = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    ),
    CO2ForestClassifier(20, random_state=0),
)
search = GridSearchCV(
    pipeline,
    {
        "co2forestclassifier__scale": ["auto", "standard"],
        "co2forestclassifier__min_samples_leaf": [1, 5],
    },
    cv=3,
).fit(train, y_train)
print("best:", search.best_params_)
print(f"cross-validated accuracy {search.best_score_:.3f}, test {search.score(test, y_test):.3f}")
