# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest predict``: answers in every form, of files of every size."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from co2forest import CO2ForestClassifier, CO2ForestRegressor, load_model
from co2forest.cli import chunks
from co2forest.cli.chunks import read_chunks
from table_command import customers, done, fails, found


@pytest.fixture
def predict(tables):
    return ("predict", tables / "churn.model", tables / "test.csv", "--jobs", 1)


@pytest.fixture
def expected(tables):
    """The frame, and what the library says of it."""
    frame = pd.read_csv(tables / "test.csv")
    model = load_model(tables / "churn.model")
    return frame, model.predict(frame), model.predict_proba(frame)


class TestAnswers:
    def test_on_standard_output(self, predict, expected):
        result = done(*predict)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert [row["prediction"] for row in rows] == expected[1].tolist()
        assert list(rows[0]) == ["prediction"]

    def test_probabilities_and_columns_to_keep(self, predict, expected):
        frame, _, probabilities = expected
        table = pd.read_csv(io.StringIO(done(*predict, "--proba", "--keep", "id,plan").stdout))
        assert list(table) == ["id", "plan", "prediction", "probability_no", "probability_yes"]
        pd.testing.assert_series_equal(table["id"], frame["id"])
        np.testing.assert_array_equal(table[["probability_no", "probability_yes"]], probabilities)

    def test_kept_columns_stay_as_they_are_written(self, tables, tmp_path):
        frame = customers(5).assign(code=[f"{k:03}" for k in range(5)], large=2**60 + 1)
        frame.to_csv(tmp_path / "t.csv", index=False)
        command = ("predict", tables / "churn.model", tmp_path / "t.csv", "--keep", "code,large")
        lines = done(*command).stdout.splitlines()
        assert lines[3].startswith(f"002,{2**60 + 1},")

    @pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "npz"])
    def test_files(self, predict, expected, tmp_path, ending):
        out = tmp_path / f"answers.{ending}"
        result = done(*predict, "--out", out, "--keep", "id")
        assert result.stdout.startswith(f"{out}: 120 rows of ")
        readers = {
            "csv": pd.read_csv,
            "tsv": lambda path: pd.read_csv(path, sep="\t"),
            "parquet": pd.read_parquet,
            "npz": lambda path: pd.DataFrame(dict(np.load(path, allow_pickle=False))),
        }
        table = readers[ending](out)
        assert table["prediction"].tolist() == expected[1].tolist()
        assert table["id"].tolist() == expected[0]["id"].tolist()
        assert "exists already" in fails(*predict, "--out", out)
        assert found(*predict, "--out", out, "--overwrite")["rows"] == 120

    def test_json_lines(self, predict, expected):
        lines = done(*predict, "--json", "--proba", "--keep", "spent").stdout.splitlines()
        rows = [json.loads(line) for line in lines]
        assert [row["prediction"] for row in rows] == expected[1].tolist()
        assert rows[0]["probability_no"] == expected[2][0, 0]
        assert any(row["spent"] is None for row in rows)

    def test_numbers(self, tables):
        table = pd.read_csv(
            io.StringIO(done("predict", tables / "value.model", tables / "test.csv").stdout)
        )
        model = load_model(tables / "value.model")
        np.testing.assert_allclose(
            table["prediction"], model.predict(pd.read_csv(tables / "test.csv")), rtol=1e-15
        )

    def test_standard_input(self, tables, predict):
        text = (tables / "test.csv").read_text()
        piped = done("predict", tables / "churn.model", "-", stdin=text)
        assert piped.stdout == done(*predict).stdout

    def test_other_formats(self, tables, predict, tmp_path):
        frame = pd.read_csv(tables / "test.csv")
        frame.to_parquet(tmp_path / "t.parquet")
        frame.to_csv(tmp_path / "t.tsv.gz", sep="\t", index=False)
        expected = done(*predict).stdout
        for name in ("t.parquet", "t.tsv.gz"):
            assert done("predict", tables / "churn.model", tmp_path / name).stdout == expected

    def test_models_of_the_library(self, tmp_path):
        X, y = load_iris(return_X_y=True, as_frame=True)
        X.assign(name="a").to_csv(tmp_path / "named.csv", index=False)
        X.to_csv(tmp_path / "plain.csv", index=False)
        named = CO2ForestClassifier(3, random_state=0).fit(X, y)
        named.save(tmp_path / "named.model")
        several = CO2ForestRegressor(3, random_state=0).fit(X.to_numpy(), X.to_numpy()[:, :2])
        several.save(tmp_path / "several.model")
        lines = done("predict", tmp_path / "named.model", tmp_path / "named.csv").stdout.split()
        assert lines[1:] == [str(label) for label in named.predict(X)]
        table = pd.read_csv(
            io.StringIO(done("predict", tmp_path / "several.model", tmp_path / "plain.csv").stdout)
        )
        assert list(table) == ["prediction_0", "prediction_1"]
        np.testing.assert_allclose(table, several.predict(X.to_numpy()))
        line = fails("predict", tmp_path / "several.model", tmp_path / "named.csv")
        assert "has columns that are not numbers, which this model cannot encode: name" in line


class TestParts:
    @pytest.mark.parametrize("size", [300, 5000])
    def test_any_size_gives_the_same(self, predict, tables, monkeypatch, size, tmp_path):
        expected = done(*predict, "--proba", "--keep", "id").stdout
        monkeypatch.setattr(chunks, "CHUNK", size)
        assert done(*predict, "--proba", "--keep", "id").stdout == expected
        out = tmp_path / "p.parquet"
        done(*predict, "--keep", "spent", "--out", out)
        assert len(pd.read_parquet(out)) == 120

    def test_quotes_and_blank_lines(self, tables, monkeypatch, tmp_path):
        frame = customers(40).assign(note='two\nlines, "quoted"')
        path = tmp_path / "t.csv"
        path.write_text("\n\n" + frame.to_csv(index=False) + "\n\n")
        command = ("predict", tables / "churn.model", path, "--keep", "note,id")
        expected = done(*command).stdout
        monkeypatch.setattr(chunks, "CHUNK", 300)
        assert done(*command).stdout == expected
        table = pd.read_csv(io.StringIO(expected))
        assert (table["note"] == 'two\nlines, "quoted"').all()
        assert table["id"].tolist() == frame["id"].tolist()

    def test_standard_input(self, tables, monkeypatch):
        data = (tables / "test.csv").read_bytes()
        monkeypatch.setattr(chunks, "CHUNK", 1000)
        for content, one in ((data, False), (gzip.compress(data), True)):
            stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
            monkeypatch.setattr("sys.stdin", stream)
            parts = [frame for frame, _ in read_chunks(Path("-"), header=True, text=["id"])]
            assert (len(parts) == 1) == one
            assert pd.concat(parts)["id"].tolist() == customers(120, seed=1)["id"].tolist()

    def test_a_quote_that_is_not_closed(self, monkeypatch, tmp_path):
        (tmp_path / "t.csv").write_text('a,b\n1,"' + "2\n" * 500)
        monkeypatch.setattr(chunks, "CHUNK", 100)
        monkeypatch.setattr(chunks, "_LONGEST_ROW", 300)
        with pytest.raises(ValueError, match="is a quote not closed"):
            list(read_chunks(tmp_path / "t.csv", header=True, text=[]))

    def test_progress(self, predict, monkeypatch, tmp_path):
        monkeypatch.setattr("co2forest.cli.actions.predict._MB", 1000)
        monkeypatch.setattr("co2forest.cli.actions.predict.CHUNK", 1000)
        monkeypatch.setattr(chunks, "CHUNK", 1000)
        result = done(*predict, "--out", tmp_path / "p.csv")
        assert "MB, 0 s" in result.stderr
        assert not done(*predict, "--out", tmp_path / "q.csv", "--quiet").stderr

    def test_a_row_that_is_wrong_later(self, tables, monkeypatch, tmp_path):
        text = (tables / "test.csv").read_text() + "1,2\n"
        (tmp_path / "t.csv").write_text(text)
        monkeypatch.setattr(chunks, "CHUNK", 1000)
        out = tmp_path / "out.csv"
        line = fails("predict", tables / "churn.model", tmp_path / "t.csv", "--out", out, "--quiet")
        assert "2 fields, but the first row has 8" in line
        assert "(counted from row " in line
        assert not out.exists()

    def test_a_note_comes_once(self, tables, monkeypatch, tmp_path):
        frame = pd.read_csv(tables / "test.csv").assign(plan="platinum")
        frame.to_csv(tmp_path / "t.csv", index=False)
        monkeypatch.setattr(chunks, "CHUNK", 1000)
        result = done("predict", tables / "churn.model", tmp_path / "t.csv")
        assert result.stderr.count("platinum") == 1


class TestRefusals:
    def test_columns_that_are_missing(self, tables, tmp_path):
        pd.read_csv(tables / "test.csv").drop(columns=["age", "plan"]).to_csv(tmp_path / "t.csv")
        line = fails("predict", tables / "churn.model", tmp_path / "t.csv")
        assert "lacks 2 of the 4 columns that the model was trained with: age, plan" in line
        assert line.startswith(f"co2forest: {tmp_path / 't.csv'}: ")

    def test_probabilities_of_numbers(self, tables):
        line = fails("predict", tables / "value.model", tables / "test.csv", "--proba")
        assert "predicts numbers, which have no probabilities" in line

    def test_what_is_no_model(self, tables, stored, tmp_path):
        data = tables / "test.csv"
        assert "the model comes first" in fails("predict", data, tables / "churn.model")
        assert "a segmenter, which takes images; see co2forest segment" in fails(
            "predict", stored, data
        )
        (tmp_path / "x").write_bytes(b"\x80\x04K\x01.")
        assert "a pickle, not a model file" in fails("predict", tmp_path / "x", data)

    def test_inputs_are_never_overwritten(self, tables):
        model, data = tables / "churn.model", tables / "test.csv"
        before = data.read_bytes()
        assert "is an input" in fails("predict", model, data, "--out", data, "--overwrite")
        assert data.read_bytes() == before

    def test_usage(self, predict):
        line = fails(*predict, "--out", "a.xls", code=2)
        assert "must end with .csv, .tsv, .parquet, .npz, but is a.xls" in line

    def test_empty_files(self, tables, tmp_path):
        (tmp_path / "t.csv").touch()
        line = fails("predict", tables / "churn.model", tmp_path / "t.csv")
        assert line == f"co2forest: {tmp_path / 't.csv'}: the file is empty"
        (tmp_path / "t.csv").write_text("a,b\n")
        line = fails("predict", tables / "churn.model", tmp_path / "t.csv")
        assert line.endswith("has names of columns, but no rows")

    @pytest.mark.parametrize("name", ["prediction", "probability_yes"])
    def test_columns_to_keep_that_an_answer_would_replace(self, tables, tmp_path, name):
        pd.read_csv(tables / "test.csv").assign(**{name: 7}).to_csv(tmp_path / "t.csv")
        command = ("predict", tables / "churn.model", tmp_path / "t.csv", "--keep", name, "--proba")
        line = fails(*command)
        assert f"--keep: {name} is also the name of an answer; rename the column" in line

    def test_columns_to_keep_that_are_not_there(self, predict):
        assert "no column plam; did you mean plan?" in fails(*predict, "--keep", "plam")
