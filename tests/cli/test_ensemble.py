# SPDX-License-Identifier: BSD-3-Clause
"""Commands on the model that ``co2forest train`` writes by default: an ensemble."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from co2forest import load_model, to_codes
from table_command import done, found


@pytest.fixture
def model(tables):
    return tables / "ensemble.model"


def test_predict(model, tables):
    test = tables / "test.csv"
    lines = done("predict", model, test, "--proba").stdout.splitlines()
    expected = load_model(model).predict_proba(pd.read_csv(test))
    assert lines[0] == "prediction,probability_no,probability_yes"
    probabilities = [[float(p) for p in line.split(",")[1:]] for line in lines[1:]]
    np.testing.assert_allclose(probabilities, expected, rtol=1e-12)


def test_evaluate(model, tables):
    answer = found("evaluate", model, tables / "test.csv")
    metrics = {metric["name"]: metric["value"] for metric in answer["metrics"]}
    score = load_model(model).score(pd.read_csv(tables / "test.csv"))
    assert metrics["Accuracy"] == pytest.approx(score)


def test_report(model, tables, tmp_path):
    page = tmp_path / "page.html"
    done("report", model, "--data", tables / "test.csv", "--out", page)
    assert "Weight of the forest" in page.read_text("utf-8")


def test_export(model, tables, tmp_path):
    out = tmp_path / "m.onnx"
    answer = found("export", model, "--out", out)
    loaded = load_model(model)
    assert answer["features"] == len(answer["feature_names"]) == 6
    rows = loaded.encoder_.transform(pd.read_csv(tables / "test.csv"))
    codes = to_codes(loaded.estimator_, rows)
    _, probabilities = onnxruntime.InferenceSession(out).run(None, {"X": codes})
    expected = loaded.estimator_.predict_proba(rows)
    assert np.isclose(probabilities, expected, atol=1e-6).all(axis=1).mean() > 0.99
    done("export", model, "--out", tmp_path / "m.c")
    done("export", model, "--out", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["table"]["target"] == "churn"
    assert document["members"].keys() == {"forest", "boosting"}
