# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest info`` and ``co2forest export``: model files for people and for other places."""

import json
import subprocess
import sys

import numpy as np
import onnxruntime
import pandas as pd

from co2forest import CO2ForestRegressor, load_model, to_codes
from table_command import done, fails, found


class TestInfo:
    def test_a_model_of_a_table(self, tables):
        printed = done("info", tables / "churn.model").stdout
        assert "a CO2 forest that predicts classes (churn)" in printed
        assert "2: no, yes" in printed
        assert "spent: a number" in printed
        assert "currency: dropped, constant" in printed
        assert "n_estimators=5" in printed
        assert all(len(line) < 100 for line in printed.splitlines()[1:])

    def test_for_programs(self, tables):
        answer = found("info", tables / "churn.model")
        model = load_model(tables / "churn.model")
        trees = model.estimator_.estimators_
        assert answer["estimator"] == "CO2ForestClassifier"
        assert answer["parameters"] == {"n_estimators": 5, "random_state": 0}
        assert answer["trees"] == 5
        assert answer["leaves"] == sum(tree.get_n_leaves() for tree in trees)
        depths = [tree.get_depth() for tree in trees]
        assert (answer["least_depth"], answer["most_depth"]) == (min(depths), max(depths))
        assert answer["feature_names"][:2] == ["age", "plan=pro"]
        assert answer["bytes"] == (tables / "churn.model").stat().st_size
        assert answer["target"] == "churn"

    def test_an_ensemble(self, tables):
        printed = done("info", tables / "ensemble.model").stdout
        assert "a CO2 ensemble that predicts classes (churn)" in printed
        answer = found("info", tables / "ensemble.model")
        model = load_model(tables / "ensemble.model").estimator_
        assert answer["estimator"] == "CO2EnsembleClassifier"
        assert answer["forest_share"] == model.forest_share_
        assert answer["trees"] == 5
        assert answer["boosting"]["trees"] == model.boosting_.n_estimators_
        share = 100 * model.forest_share_
        for name, trees, weight in (
            ("forest", "5 trees", share),
            ("boosting", f"{model.boosting_.n_estimators_} trees", 100 - share),
        ):
            (line,) = [line for line in printed.splitlines() if line.startswith(name)]
            assert trees in line
            assert f"{weight:.0f} % of the weight" in line

    def test_other_models(self, stored, tmp_path):
        printed = done("info", stored).stdout
        assert "a segmenter of images that predicts a label for each pixel" in printed
        assert "5 x 5 pixels" in printed
        X = np.random.default_rng(0).normal(size=(60, 3))
        forest = CO2ForestRegressor(20, bootstrap=True, oob_score=True, random_state=0)
        forest.fit(X, X[:, 0]).save(tmp_path / "m")
        printed = done("info", tmp_path / "m").stdout
        assert "predicts numbers" in printed
        assert f"out-of-bag score   {forest.oob_score_:.4f}" in printed
        assert "3, without names" in printed

    def test_what_is_no_model(self, tmp_path):
        assert "No such file" in fails("info", tmp_path / "none")
        (tmp_path / "t.csv").write_text("a,b\n1,2\n")
        line = fails("info", tmp_path / "t.csv")
        assert line == f"co2forest: {tmp_path / 't.csv'}: a table, not a model"
        (tmp_path / "x").touch()
        assert "the file is empty" in fails("info", tmp_path / "x")


class TestExport:
    def test_onnx(self, tables, tmp_path):
        out = tmp_path / "m.onnx"
        result = done("export", tables / "churn.model", "--out", out)
        assert "an ONNX model" in result.stdout
        assert "takes the 6 features that the table becomes, in this order" in result.stderr
        model = load_model(tables / "churn.model")
        rows = model.encoder_.transform(pd.read_csv(tables / "test.csv"))
        codes = to_codes(model.estimator_, rows)
        label, _ = onnxruntime.InferenceSession(out).run(None, {"X": codes})
        assert (label == model.estimator_.predict(rows)).mean() > 0.99

    def test_c(self, tables, tmp_path):
        out = tmp_path / "m.c"
        answer = found("export", tables / "value.model", "--out", out, "--prefix", "worth")
        assert "void worth_predict(const float *x" in out.read_text()
        model = load_model(tables / "value.model")
        assert answer["feature_names"] == list(model.encoder_.get_feature_names_out())
        assert answer["bytes"] == out.stat().st_size

    def test_json(self, tables, tmp_path):
        out = tmp_path / "m"
        done("export", tables / "churn.model", "--to", "json", "--out", out)
        document = json.loads(out.read_text())
        assert document["classes"] == ["no", "yes"]
        features = document["feature_names"]  # of the trees, which see categories one by one
        assert features[:2] == ["age", "plan=pro"]
        assert {name.split("=")[0].split(":")[0] for name in features} == {
            *("age", "plan", "spent", "spent is missing", "joined")
        }
        assert document["table"]["target"] == "churn"
        kinds = {column["name"]: column["kind"] for column in document["table"]["columns"]}
        assert kinds == {"age": "number", "plan": "category", "spent": "number", "joined": "date"}

    def test_refusals(self, tables, stored, tmp_path):
        model = tables / "churn.model"
        line = fails("export", model, "--out", tmp_path / "m.txt", code=2)
        assert "m.txt ends with none of .onnx, .c, .json" in line
        line = fails("export", model, "--out", tmp_path / "m.c", "--bfloat16", code=2)
        assert "has no meaning with --to c" in line
        assert "prefix must be" in fails(
            "export", model, "--out", tmp_path / "m.c", "--prefix", "1"
        )
        assert "a segmenter" in fails("export", stored, "--out", tmp_path / "m.c")
        (tmp_path / "m.c").touch()
        assert "exists already" in fails("export", model, "--out", tmp_path / "m.c")
        assert "is an input" in fails("export", model, "--to", "c", "--out", model, "--overwrite")


def test_missing_libraries(tables, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    line = fails("export", tables / "churn.model", "--out", tmp_path / "m.onnx")
    assert 'pip install "co2forest[onnx]"' in line


def test_start():
    """Nothing heavy is imported for the help, or for a mistake in the command line."""
    code = (
        "import sys, co2forest.cli.app;"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'rich', 'matplotlib'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
