# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest tune``: all candidates, and a model with the best."""

from co2forest import load_model
from table_command import done, fails, found

FAST = ("--trees", 3, "--jobs", 1, "--quiet")


def test_all_candidates(tables):
    answer = found("tune", tables / "train.csv", "--target", "churn", "--drop", "value", *FAST)
    assert answer["method"] == "halving"
    assert answer["scoring"] == "accuracy"
    candidates = answer["candidates"]
    assert len(candidates) >= 19
    (chosen,) = [row for row in candidates if row["chosen"]]
    assert chosen["score"] == answer["best_score"]
    assert answer["model"] is None


def test_a_model(tables, out):
    command = ("tune", tables / "train.csv", "--target", "value", "--drop", "churn", *FAST)
    result = done(*command, "--out", out, "--method", "oob")
    assert "out of bag" in result.stdout
    assert "Best: " in result.stdout
    assert "3 trees" in result.stdout
    model = load_model(out)
    assert model.target_ == "value"
    assert model.estimator_.n_estimators == 3
    assert "exists already" in fails(*command, "--out", out)


def test_a_wrong_target(tables):
    line = fails("tune", tables / "train.csv", "--target", "chrun")
    assert "did you mean churn?" in line
