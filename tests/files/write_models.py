# SPDX-License-Identifier: BSD-3-Clause
"""Write the model files of the current format into a folder: once, when the format is new.

Files of a format that has been released are never written again. They are the promise that such
files can be read for ever, with the same predictions; ``test_model_formats.py`` keeps it.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from co2forest import CO2ForestClassifier, CO2TreeClassifier
from co2forest.tables import TableModel, fit_table

ROWS = np.random.default_rng(4).normal(size=(70, 5)).astype(np.float32)
CODES = (ROWS[:, 0] + 0.5 * ROWS[:, 1] > 0).astype(int) + (ROWS[:, 2] > 0.8)


def forest(**params):
    return CO2ForestClassifier(**{"n_estimators": 3, "random_state": 0, **params}, mixture=None)


def table():
    """Raw columns of every kind, with gaps."""
    choice = np.random.default_rng(6).choice
    return pd.DataFrame(
        {
            "number": np.where(ROWS[:, 0] > 1, np.nan, ROWS[:, 0].astype(float)),
            "kind": choice(["a", "b", "\N{OWL}", None], 70),
            "many": [f"c{i % 9}" if i < 60 else f"rare {i}" for i in range(70)],
            "day": [f"20{10 + i % 13}-0{1 + i % 9}-1{i % 7} 1{i % 10}:30" for i in range(70)],
            "remark": [f"text {i}" if i % 3 else None for i in range(70)],
            "id": np.arange(70),
            "answer": np.array(["no", "yes", "\N{OWL}"], dtype=object)[CODES],
        }
    )


def models():
    """Names, fitted estimators, and rows to predict: together they use all that a file can hold."""
    frame = pd.DataFrame(ROWS, columns=["length", "width", "B\xfchne", "", "a b"])
    holes = np.where(np.random.default_rng(5).random(ROWS.shape) < 0.2, np.nan, ROWS)
    wide = np.zeros((70, 60), dtype=np.float32)
    wide[:, 11:14] = ROWS[:, :3]
    pixels = np.clip(128 + 60 * ROWS, 0, 255).astype(np.uint8)
    names = np.array(["cat", 'a "dog"', "\N{OWL}\n"], dtype=object)
    days = np.array(["2015-11-16", "2020-02-29", "1969-12-31"], dtype="M8[D]")
    bagged = forest(bootstrap=True, n_estimators=20, oob_score=True, max_leaf_nodes=4)
    weighted = forest(class_weight={-7: 2.0, 2**40: 0.5}, solver="cccp", max_depth=2, nu=3.0)

    yield "integers", weighted.fit(ROWS, np.array([-7, 3, 2**40])[CODES]), ROWS
    yield "feature_names", forest().fit(frame, CODES.astype(np.uint8)), frame
    yield "strings_out_of_bag", bagged.fit(ROWS, names[CODES]), ROWS
    yield "fixed_width_strings", forest(scale=None).fit(ROWS, names[CODES].astype("U20")), ROWS
    yield "missing_values", forest().fit(holes, CODES.astype(float)), holes
    yield "dates", forest().fit(ROWS, days[CODES]), ROWS
    yield "few_features_of_many", forest().fit(wide, CODES), wide
    yield "bytes", forest(warm_start=True).fit(pixels, CODES), pixels
    yield "one_class", forest().fit(ROWS, np.ones(70, dtype=np.int8)), ROWS
    yield "tree_of_booleans", CO2TreeClassifier(random_state=0).fit(ROWS, CODES > 0), ROWS
    yield "tree_of_a_forest", forest().fit(ROWS, CODES).estimators_[1], ROWS
    yield "table", fit_table(table(), "answer", estimator=forest()), table()


def main(folder):
    folder = Path(folder)
    for name, model, X in models():
        rows = X[:25]
        is_table = isinstance(model, TableModel)
        model.save(folder / f"{name}.safetensors")
        expected = {
            "rows": rows.to_dict("list") if is_table else np.asarray(rows, dtype=object).tolist(),
            "probabilities": model.predict_proba(rows).tolist(),
            "labels": [str(label) for label in model.predict(rows)],
            "dtype": model.classes_.dtype.str,
            "parameters": {
                name: repr(value)
                for name, value in getattr(model, "estimator_", model).get_params().items()
                if name != "n_jobs"
            },
        }
        text = json.dumps(expected).replace("NaN", "null")
        (folder / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
