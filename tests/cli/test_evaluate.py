# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest evaluate`` and ``co2forest report``: how good a model is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix, log_loss, mean_absolute_error, r2_score

from co2forest import CO2ForestClassifier, CO2ForestRegressor, load_model
from table_command import customers, done, fails, found


def metrics(answer):
    return {metric["name"]: metric for metric in answer["metrics"]}


class TestClasses:
    @pytest.mark.parametrize("command", ["evaluate", "report"])
    def test_no_class_of_training(self, tables, tmp_path, command):
        path = tmp_path / "t.csv"
        pd.read_csv(tables / "test.csv").assign(churn="maybe").to_csv(path, index=False)
        page = ("--data", path, "--out", tmp_path / "r.html")
        asked = (path,) if command == "evaluate" else page
        line = fails(command, tables / "churn.model", *asked)
        assert line.startswith(f"co2forest: {path}: y has none of the model's classes")

    @pytest.mark.parametrize("command", ["evaluate", "report"])
    def test_classes_that_training_did_not_have(self, tables, tmp_path, command):
        frame = pd.read_csv(tables / "test.csv")
        frame.loc[:2, "churn"] = ["maybe", "never", "maybe"]
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        page = ("--data", path, "--out", tmp_path / "r.html")
        asked = (path,) if command == "evaluate" else page
        quiet = done(command, tables / "churn.model", *asked, "--quiet").stderr
        assert not quiet
        (tmp_path / "r.html").unlink(missing_ok=True)
        said = done(command, tables / "churn.model", *asked).stderr.splitlines()[-1]
        counts = "maybe (2 rows), never (1 row)"
        assert said.endswith(f"classes that were not in training count as wrong: {counts}")

    def test_metrics(self, tables):
        answer = found("evaluate", tables / "churn.model", tables / "test.csv")
        frame = pd.read_csv(tables / "test.csv")
        model = load_model(tables / "churn.model")
        measured = metrics(answer)
        accuracy = (model.predict(frame) == frame["churn"]).mean()
        assert measured["Accuracy"]["value"] == pytest.approx(accuracy)
        assert measured["Accuracy"]["low"] < accuracy < measured["Accuracy"]["high"]
        expected = log_loss(frame["churn"], model.predict_proba(frame))
        assert measured["Log loss"]["value"] == pytest.approx(expected)
        assert answer["guess"] == pytest.approx(min(frame["churn"].value_counts(normalize=True)))
        matrix = confusion_matrix(frame["churn"], model.predict(frame))
        assert answer["confusion"] == {"classes": ["no", "yes"], "counts": matrix.tolist()}

    def test_calibration(self, tables):
        answer = found("evaluate", tables / "churn.model", tables / "test.csv")
        bins = answer["calibration"]["bins"]
        assert sum(row["count"] for row in bins) == 120
        distances = [row["count"] * abs(row["said"] - row["happened"]) for row in bins]
        expected = sum(distances) / 120
        assert answer["calibration"]["expected_error"] == pytest.approx(expected)
        assert metrics(answer)["Expected calibration error"]["value"] == pytest.approx(expected)

    def test_what_is_printed(self, tables):
        printed = done("evaluate", tables / "churn.model", tables / "test.csv").stdout
        assert "120 rows with churn" in printed
        assert "95 % interval" in printed
        assert "Confusion matrix: a row for each true class" in printed
        assert "Calibration: the probability of the class yes" in printed
        assert "Always predicting this table's most frequent class would be right in" in printed
        assert all(len(line) < 80 for line in printed.splitlines()[1:])

    def test_rows_without_an_answer_and_new_classes(self, tables, tmp_path):
        frame = customers(60, seed=2)
        frame.loc[:9, "churn"] = None
        frame.loc[10, "churn"] = "perhaps"
        frame.to_csv(tmp_path / "t.csv", index=False)
        answer = found("evaluate", tables / "churn.model", tmp_path / "t.csv")
        assert (answer["rows"], answer["rows_without_target"]) == (50, 10)
        assert answer["confusion"]["classes"] == ["no", "yes", "perhaps"]

    def test_weights(self, tables, tmp_path):
        frame = customers(60, seed=2)
        model = load_model(tables / "churn.model")
        right = model.predict(frame) == frame["churn"]
        frame.assign(w=np.where(right, 3.0, 1.0)).to_csv(tmp_path / "t.csv", index=False)
        answer = found("evaluate", tables / "churn.model", tmp_path / "t.csv", "--weights", "w")
        expected = 3 * right.sum() / (3 * right.sum() + (~right).sum())
        assert metrics(answer)["Accuracy"]["value"] == pytest.approx(expected)

    def test_many_classes(self, tmp_path):
        X, y = load_digits(return_X_y=True)
        labels = np.where(X[:, 36] > 8, y, y + 10)
        CO2ForestClassifier(2, max_depth=4, random_state=0).fit(X[:900], labels[:900]).save(
            tmp_path / "m"
        )
        pd.DataFrame(X[900:]).assign(y=labels[900:]).to_csv(tmp_path / "t.csv", index=False)
        printed = done("evaluate", tmp_path / "m", tmp_path / "t.csv", "--target", "y").stdout
        assert "The most frequent confusions" in printed


class TestNumbers:
    def test_metrics(self, tables):
        answer = found("evaluate", tables / "value.model", tables / "test.csv")
        frame = pd.read_csv(tables / "test.csv")
        predicted = load_model(tables / "value.model").predict(frame)
        measured = metrics(answer)
        assert measured["R2"]["value"] == pytest.approx(r2_score(frame["value"], predicted))
        absolute = mean_absolute_error(frame["value"], predicted)
        assert measured["Mean absolute error"]["value"] == pytest.approx(absolute)
        assert answer["guess"] == pytest.approx(frame["value"].std(ddof=0))
        (errors,) = answer["errors"]
        median = np.median(predicted - frame["value"])
        assert errors["error"][errors["quantiles"].index(0.5)] == pytest.approx(median)
        assert errors["absolute_error"] == sorted(errors["absolute_error"])

    def test_what_is_printed(self, tables):
        printed = done("evaluate", tables / "value.model", tables / "test.csv").stdout
        assert "prediction - truth" in printed
        assert "Always predicting this table's mean would have an RMSE of" in printed
        assert "Confusion" not in printed
        assert all(len(line) < 80 for line in printed.splitlines()[1:])


class TestRefusals:
    def test_tables(self, tables, tmp_path):
        frame = customers(30)
        frame.drop(columns="churn").to_csv(tmp_path / "t.csv", index=False)
        line = fails("evaluate", tables / "churn.model", tmp_path / "t.csv")
        assert "--target: there is no column churn" in line
        frame.drop(columns="age").to_csv(tmp_path / "t.csv", index=False)
        line = fails("evaluate", tables / "churn.model", tmp_path / "t.csv")
        assert line.startswith(f"co2forest: {tmp_path / 't.csv'}: the table lacks 1 of the 4")

    def test_models(self, tables, stored, tmp_path):
        assert "a segmenter" in fails("evaluate", stored, tables / "test.csv")
        X = np.random.default_rng(0).normal(size=(30, 3))
        CO2ForestRegressor(1).fit(X, X[:, :2]).save(tmp_path / "m")
        assert "several answers per row" in fails("evaluate", tmp_path / "m", tables / "test.csv")
        CO2ForestRegressor(1).fit(X, X[:, 0]).save(tmp_path / "m")
        line = fails("evaluate", tmp_path / "m", tables / "test.csv")
        assert "name the column to predict by --target" in line


class TestReport:
    def test_a_page(self, tables, tmp_path):
        out = tmp_path / "report.html"
        command = ("report", tables / "churn.model", "--data", tables / "test.csv", "--out", out)
        result = done(*command)
        assert result.stdout.startswith(f"{out}: ")
        assert "120 rows; open it in a browser" in result.stdout
        page = out.read_text()
        assert "churn: churn.model" in page
        assert "exists already; --overwrite replaces it" in fails(*command)
        answer = found(*command, "--overwrite", "--title", "My customers")
        assert answer["rows"] == 120
        assert "My customers" in out.read_text()

    def test_refusals(self, tables, tmp_path):
        command = ("report", tables / "churn.model", "--data", tables / "test.csv", "--out")
        assert "must end with .html" in fails(*command, tmp_path / "r.txt", code=2)
        line = fails(*command, tmp_path / "r.html", "--target", "chur")
        assert "did you mean churn?" in line
        assert not (tmp_path / "r.html").exists()
