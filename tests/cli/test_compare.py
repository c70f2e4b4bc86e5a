# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest compare``: other forests and boosting on the same rows."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from co2forest.cli.codes import codes
from co2forest.tables import TableEncoder
from table_command import customers, done, fails, found

FAST = ("--trees", 3, "--jobs", 1, "--quiet")
NAMES = ["CO2 forest", "random forest", "extra trees", "gradient boosting"]


@pytest.fixture
def compare(tables):
    return ("compare", tables / "train.csv", "--target", "churn", "--drop", "value", *FAST)


def test_classes(compare):
    answer = found(*compare, "--folds", 2)
    assert [row["method"] for row in answer["methods"]] == NAMES
    frame = customers()
    X, y = frame.drop(columns=["churn", "value"]), frame["churn"].to_numpy()
    errors = []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        encoder = make_pipeline(TableEncoder(), codes()).fit(X.iloc[train])
        forest = RandomForestClassifier(3, random_state=0)
        forest.fit(encoder.transform(X.iloc[train]), y[train])
        wrong = forest.predict(encoder.transform(X.iloc[test])) != y[test]
        errors.append(100 * wrong.mean())
    assert answer["methods"][1]["folds"] == pytest.approx(errors)
    assert answer["methods"][1]["error_percent"] == pytest.approx(np.mean(errors))
    first = answer["methods"][0]
    for row in answer["methods"]:
        expected = row["error_percent"] - first["error_percent"]
        assert row["difference"] == pytest.approx(expected)
        assert row["bytes"] > 0
        assert row["fit_seconds"] > 0


def test_numbers_and_a_picture(tables, tmp_path):
    out = tmp_path / "p.svg"
    result = done(
        *("compare", tables / "train.csv", "--target", "value", *FAST, "--boost"),
        *("--held-out", 0.3, "--plot", out),
    )
    assert "RMSE" in result.stdout
    assert "test on 72 rows held out" in result.stdout
    assert "boosted CO2 trees" in result.stdout
    assert all(len(line) < 80 for line in result.stdout.splitlines()[:-1])
    assert "<svg" in out.read_text()


def test_refusals(compare, tmp_path, monkeypatch):
    assert "are too few for --folds 200" in fails(*compare, "--folds", 200)
    assert "must end with .png" in fails(*compare, "--plot", "p.jpg", code=2)
    (tmp_path / "p.png").touch()
    assert "exists already" in fails(*compare, "--plot", tmp_path / "p.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = fails(*compare, "--plot", tmp_path / "q.png")
    assert line == "co2forest: --plot needs matplotlib: pip install 'co2forest[plot]'"
