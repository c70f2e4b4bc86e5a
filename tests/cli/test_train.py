# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest train``: what it writes, says and refuses."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from co2forest import (
    CO2BoostingClassifier,
    CO2EnsembleClassifier,
    CO2ForestClassifier,
    load_model,
)
from co2forest.tables import TableEncoder, TableModel
from table_command import FAST, TRAIN_FAST, customers, done, fails, found, run


@pytest.fixture
def train(tables, out):
    """The arguments of a small training."""
    return ("train", tables / "train.csv", "--target", "churn", "--out", out, *TRAIN_FAST)


class TestTrain:
    def test_the_model_is_that_of_the_library(self, train, tables, out):
        done(*train, "--drop", "value", "--seed", 3)
        model = load_model(out)
        assert isinstance(model, TableModel)
        assert (model.target_, model.task_) == ("churn", "classification")
        frame = pd.read_csv(tables / "train.csv")
        estimator = CO2EnsembleClassifier(5, n_rounds=10, random_state=3)
        encoder = TableEncoder(drop=["value"])
        expected = TableModel(estimator, target="churn", encoder=encoder).fit(frame)
        np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))
        assert model.encoder_.to_json() == expected.encoder_.to_json()

    def test_what_is_said(self, train, out):
        result = done(*train, "--drop", "value")
        said = result.stderr
        assert "240 rows, 7 columns" in said
        assert "classification, because the target 'churn' is text" in said
        assert "spent: a number" in said
        assert "plan: 3 categories" in said
        assert "id: dropped, 240 different texts in 240 rows" in said
        assert "currency: dropped, constant" in said
        assert "value: dropped, as asked" in said
        printed = result.stdout
        assert "on 48 of 240 rows, held out; then trained again on all" in printed
        assert "if the answer is always the most frequent class" in printed
        assert f"co2forest evaluate {out} TEST.csv" in printed
        assert f"co2forest report {out} --data TEST.csv --out {out}.html" in printed
        assert f"co2forest predict {out} NEW.csv" in printed

    def test_progress(self, tables, out):
        result = done(
            *("train", tables / "train.csv", "--target", "churn", "--out", out, "--trees", 3)
        )
        assert result.stderr.count("3/3 trees") == 2
        assert "estimating the error: training on 192 rows, testing on 48" in result.stderr
        assert "training on all 240 rows" in result.stderr

    def test_the_estimate(self, train, tables, out):
        answer = found(*train, "--drop", "value", "--seed", 1)
        (error,) = answer["estimate"]["metrics"]
        assert error["low"] <= error["value"] <= error["high"]
        wrong = error["value"] * answer["estimate"]["test_rows"]
        assert wrong == pytest.approx(round(wrong))
        frame = customers()
        rare = min(frame["churn"].value_counts(normalize=True))
        assert answer["estimate"]["guess"] == pytest.approx(rare, abs=0.02)  # stratified
        assert error["value"] < answer["estimate"]["guess"]
        # Other rows of the same kind must agree with it.
        test_error = 1 - load_model(out).score(pd.read_csv(tables / "test.csv"))
        assert error["low"] - 0.05 < test_error < error["high"] + 0.05

    def test_numbers(self, tables, out):
        answer = found(
            *("train", tables / "train.csv", "--target", "value", "--out", out, *TRAIN_FAST),
            *("--drop", "churn"),
        )
        assert answer["task"] == "regression"
        assert answer["classes"] is None
        metrics = {metric["name"]: metric for metric in answer["estimate"]["metrics"]}
        assert metrics.keys() == {"RMSE", "R2", "MAE"}
        assert metrics["RMSE"]["value"] < answer["estimate"]["guess"]
        assert metrics["R2"]["value"] == pytest.approx(
            1 - (metrics["RMSE"]["value"] / answer["estimate"]["guess"]) ** 2, abs=0.02
        )

    def test_task_that_is_asked_for(self, tmp_path, out):
        frame = customers().assign(stars=lambda f: f["age"] // 20)
        frame.to_csv(tmp_path / "t.csv", index=False)
        command = ("train", tmp_path / "t.csv", "--target", "stars", "--out", out, *TRAIN_FAST)
        assert found(*command)["task"] == "classification"
        assert found(*command, "--task", "regression", "--overwrite")["task"] == "regression"

    @pytest.mark.parametrize(
        ("options", "kind", "said"),
        [
            (
                (),
                CO2EnsembleClassifier,
                r"a CO2 ensemble \(5 trees with \d+ % of the weight, \d rounds",
            ),
            (("--model", "ensemble"), CO2EnsembleClassifier, "a CO2 ensemble"),
            (("--model", "forest"), CO2ForestClassifier, r"a CO2 forest \(5 trees\) that"),
            (("--model", "boosting"), CO2BoostingClassifier, r"boosted CO2 trees \(7 trees\) that"),
        ],
    )
    def test_what_learns(self, tables, out, options, kind, said):
        command = ("train", tables / "train.csv", "--target", "churn", "--out", out, "--quiet")
        sizes = () if "boosting" in options else ("--trees", 5)
        sizes += () if "forest" in options else ("--rounds", 7)
        printed = done(*command, *options, *sizes).stdout
        model = load_model(out).estimator_
        assert type(model) is kind
        assert re.search(said, printed)
        if kind is CO2EnsembleClassifier:
            assert model.boosting_.n_estimators_ <= 7

    def test_tuning(self, tables, out):
        answer = found(
            *("train", tables / "train.csv", "--target", "churn", "--out", out, *FAST, "--tune")
        )
        assert answer["tuning"]["method"] == "halving"
        assert len(answer["tuning"]["candidates"]) >= 19
        chosen = answer["tuning"]["best_params"]
        assert chosen.items() <= load_model(out).estimator_.get_params().items()
        assert answer["estimate"]["test_rows"] == 48

    def test_no_estimate(self, train, tables, tmp_path, out):
        answer = found(*train, "--held-out", 0)
        assert answer["estimate"] is None
        customers(12).to_csv(tmp_path / "few.csv", index=False)
        result = done(
            *("train", tmp_path / "few.csv", "--target", "churn", "--out", out, *TRAIN_FAST),
            "--overwrite",
        )
        assert "note: no estimate of the error, which needs 20 rows" in result.stderr
        assert "error     not estimated" in result.stdout

    def test_roles_of_columns(self, train, tmp_path, out):
        frame = customers().assign(weight=lambda f: 1 + (f.index % 3), a_code=lambda f: f.index)
        frame.to_csv(tmp_path / "t.csv", index=False)
        command = ("train", tmp_path / "t.csv", "--target", "churn", "--out", out, *TRAIN_FAST)
        done(*command, "--drop", "value,joined", "--keep", "a_code", "--categorical", "age")
        columns = {column.name: column.kind for column in load_model(out).encoder_.columns_}
        assert columns.keys() == {"age", "plan", "spent", "weight", "a_code"}
        assert columns["age"] == "category"
        assert columns["a_code"] == "number"
        done(*command, "--weights", "weight", "--overwrite")
        weighted = load_model(out)
        assert "weight" not in weighted.feature_names_in_
        ensemble = CO2EnsembleClassifier(5, n_rounds=10, random_state=0)
        fresh = TableModel(ensemble, target="churn")
        expected = fresh.fit(frame, sample_weight="weight")
        np.testing.assert_array_equal(
            weighted.predict_proba(frame), expected.predict_proba(frame.drop(columns="weight"))
        )

    def test_standard_input(self, tables, out):
        text = (tables / "train.csv").read_text()
        result = done("train", "-", "--target", "churn", "--out", out, *TRAIN_FAST, stdin=text)
        assert "standard input: 240 rows" in result.stderr
        assert f"co2forest evaluate {out} TEST.csv" in result.stdout

    def test_formats_that_name_their_target(self, tmp_path, out):
        X = np.random.default_rng(0).normal(size=(60, 3))
        np.savez(tmp_path / "t.npz", X_train=X, y_train=X[:, 0] > 0, X_test=X, y_test=X[:, 0] > 0)
        answer = found("train", tmp_path / "t.npz", "--out", out, *TRAIN_FAST)
        assert (answer["target"], answer["rows"]) == ("y", 60)
        assert found("evaluate", out, tmp_path / "t.npz", "--part", "test")["rows"] == 60
        assert len(done("predict", out, tmp_path / "t.npz", "--part", "test").stdout.split()) == 61

    def test_a_file_without_names(self, tmp_path, out):
        path = tmp_path / "t.csv"
        customers().to_csv(path, index=False, header=False)
        done("train", path, "--no-header", "--target", "x6", "--out", out, *TRAIN_FAST)
        assert load_model(out).target_ == "x6"


class TestRefusals:
    def test_a_column_that_is_not_there(self, train, tables, out):
        line = fails("train", tables / "train.csv", "--target", "chrun", "--out", out)
        assert "--target: there is no column chrun; did you mean churn? (there are id, age" in line
        line = fails("train", tables / "train.csv", "--target", "zzz", "--out", out)
        assert line.endswith("there are id, age, plan, spent, joined, currency, churn, value")
        line = fails("train", tables / "train.csv", "--out", out)
        assert "name the column to predict by --target: id, age, plan" in line
        for option in ("--drop", "--keep", "--categorical", "--weights"):
            assert f"{option}: there is no column spend; did you" in fails(*train, option, "spend")
        assert not out.exists()

    def test_roles_of_the_target(self, train):
        assert "--drop names churn, which is the target" in fails(*train, "--drop", "churn")
        assert "--weights names churn, which" in fails(*train, "--weights", "churn")
        assert "--weights plan must have numbers" in fails(*train, "--weights", "plan")

    def test_data_in_place_of_names(self, tmp_path, out):
        path = tmp_path / "t.csv"
        pd.DataFrame(np.arange(12.0).reshape(4, 3)).assign(y="a").to_csv(
            path, index=False, header=False
        )
        line = fails("train", path, "--target", "y", "--out", out)
        assert line.endswith("the first line looks like data, not names: --no-header")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("", "the file is empty"),
            ("a,b\n", "has names of columns, but no rows"),
            ("a,b\n1,2\n3\n", "1 fields, but the first row has 2"),
            ("a,b\n1,x\n2,x\n", "is 'x' in every row"),
        ],
    )
    def test_files_that_are_no_tables(self, tmp_path, out, content, words):
        path = tmp_path / "t.csv"
        path.write_text(content)
        line = fails("train", path, "--target", "b", "--out", out)
        assert words in line
        assert line.startswith(f"co2forest: {path}")

    def test_files_that_are_not_there(self, tmp_path, out):
        line = fails("train", tmp_path / "none.csv", "--target", "b", "--out", out)
        assert line == f"co2forest: {tmp_path / 'none.csv'}: No such file or directory"
        assert "a folder" in fails("train", tmp_path, "--target", "b", "--out", out)

    def test_nothing_is_overwritten_unasked(self, train, tables, out):
        out.write_text("mine")
        assert "exists already; --overwrite replaces it" in fails(*train)
        assert out.read_text() == "mine"
        data = tables / "train.csv"
        before = data.read_bytes()
        line = fails("train", data, "--target", "churn", "--out", data, "--overwrite")
        assert "is an input" in line
        assert data.read_bytes() == before

    @pytest.mark.parametrize("command", ["train", "tune", "compare"])
    def test_infinite_numbers_by_their_row_in_the_file(self, tmp_path, command):
        frame = customers(60)
        frame.loc[[3, 20], "churn"] = None  # rows that are left out count
        lines = frame.astype({"spent": object}).to_csv(index=False).splitlines()
        fields = lines[41].split(",")
        fields[3] = "1e400"
        lines[41] = ",".join(fields)
        (tmp_path / "t.csv").write_text("\n".join(lines))
        out = () if command == "compare" else ("--out", tmp_path / "m")
        line = fails(command, tmp_path / "t.csv", "--target", "churn", *out, "--quiet")
        right = "column 'spent', row 41 is infinite; leave it empty or give a finite number"
        assert line == f"co2forest: {tmp_path / 't.csv'}: {right}"

    def test_a_part_held_out_that_leaves_too_little(self, train):
        line = fails(*train, "--held-out", "0.999")
        assert ": with --held-out 0.999, training on 1 row and testing on 239 fails: " in line

    def test_the_task_is_named_as_an_option(self, train):
        assert "--task regression" in fails(*train, "--task", "regression")

    def test_far_names_are_not_meant(self, tables, out):
        line = fails("train", tables / "train.csv", "--target", "chair", "--out", out)
        assert "there is no column chair; there are id, age, plan" in line

    def test_no_column_is_left(self, tmp_path, out):
        (tmp_path / "t.csv").write_text("a,y\n" + "1,n\n1,y\n" * 20)
        line = fails("train", tmp_path / "t.csv", "--target", "y", "--out", out)
        assert line.startswith(f"co2forest: {tmp_path / 't.csv'}: no column is left to learn from")

    def test_usage(self, train):
        small = train[: -len(TRAIN_FAST)]
        for options, option, model in (
            (("--model", "boosting", "--tune"), "--tune", "boosting"),
            (("--model", "ensemble", "--tune"), "--tune", "ensemble"),
            (("--model", "boosting", "--trees", 3), "--trees", "boosting"),
            (("--model", "forest", "--rounds", 3), "--rounds", "forest"),
            (("--tune", "--rounds", 3), "--rounds", "forest"),
        ):
            line = fails(*small, *options, code=2)
            assert f"{option}: has no meaning with --model {model}" in line
        assert "must lie between 0 and 1" in fails(*train, "--held-out", 2, code=2)
        assert "Missing option '--out'" in fails("train", "a.csv", "--target", "b", code=2)

    def test_interrupted(self, train, out, monkeypatch):
        def fit(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(TableModel, "fit", fit)
        assert fails(*train, code=130) == "co2forest: interrupted"
        assert not out.exists()

    def test_debug(self, tmp_path):
        result = run("train", tmp_path / "none", "--target", "x", "--out", "y", "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr


def test_json_is_all_of_standard_output(train):
    assert json.loads(done(*train, "--json").stdout)["rows"] == 240
