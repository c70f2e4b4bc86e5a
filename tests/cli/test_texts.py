# SPDX-License-Identifier: BSD-3-Clause
"""Words of tables and models that a terminal would obey, or that a spreadsheet would run."""

import csv
import io
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from co2forest import CO2ForestClassifier
from co2forest.cli.app import app
from co2forest.cli.options import complete_column
from co2forest.cli.texts import without_formula
from co2forest.inspection import export_dot, export_text
from small_models import posix
from table_command import FAST, done, fails

# Each clears, colours, returns, goes backwards, begins a command of 8 bits, or looks like markup.
CONTROLS = ("\x1b[2J", "\x1b]0;title\x07", "a\rb", "\u202e", "\x9b31m", "\x08", "[/red]")
YES, NO = (f"{answer}{''.join(CONTROLS)}" for answer in ("yes", "no"))
NAME = "".join(CONTROLS[:1] + CONTROLS[2:5])  # of columns and files
FORBIDDEN = set("\x1b\x07\r\x9b\x08\u202e")


def hostile(n=60):
    rng = np.random.default_rng(0)
    number, kind = rng.normal(size=n), rng.choice([f"k{NAME}", f"l{NAME}", f"m{NAME}"], n)
    answer = np.where(number + 0.3 * rng.normal(size=n) > 0, YES, NO)
    return pd.DataFrame({f"number{NAME}": number, f"kind{NAME}": kind, f"target{NAME}": answer})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table and a model whose words, and whose own names, are full of controls."""
    folder = tmp_path_factory.mktemp("hostile")
    name = f"table{NAME}.csv" if os.name == "posix" else "table.csv"  # others forbid such names
    table, model = folder / name, folder / name.replace("csv", "model")
    hostile().to_csv(table, index=False, quoting=csv.QUOTE_NONNUMERIC)
    printed("train", table, "--target", f"target{NAME}", "--out", model, *FAST)
    return table, model


def printed(*args, code=0):
    """All that a command prints, on a terminal that shows colours."""
    result = CliRunner().invoke(app, list(map(str, args)), color=True)
    assert result.exit_code == code, result.output
    assert not FORBIDDEN & set(result.output), result.output
    return result.output


COMMANDS = {
    "info": lambda table, model: ("info", model),
    "evaluate": lambda table, model: ("evaluate", model, table),
    "compare": lambda table, model: (
        *("compare", table, "--target", f"target{NAME}", "--folds", 2, *FAST),
    ),
    "tune": lambda table, model: (
        *("tune", table, "--target", f"target{NAME}", "--method", "holdout", *FAST),
    ),
    "report": lambda table, model: (
        *("report", model, "--data", table, "--out", f"{model}.html", "--overwrite"),
    ),
    "export": lambda table, model: ("export", model, "--out", f"{model}.c", "--overwrite"),
    "export to JSON": lambda table, model: (
        *("export", model, "--out", f"{model}.json", "--overwrite"),
    ),
    "predict into a file": lambda table, model: (
        *("predict", model, table, "--out", f"{model}.csv", "--overwrite"),
    ),
    "predict as JSON": lambda table, model: ("predict", model, table, "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_controls(files, command):
    said = printed(*COMMANDS[command](*files))
    assert len(said) > 20


def test_words_are_shown_escaped(files):
    said = printed("info", files[1])
    assert r"no\x1b[2J\x1b]0;title\x07a b\u202e\x9b31m\x08[/red]" in said
    assert r"(target\x1b[2Ja b\u202e\x9b31m)" in said


def test_neither_do_failures(files):
    table, model = files
    wrong = ("train", table, "--target", f"x{NAME}", "--out", f"{model}.2")
    assert r"x\x1b[2J" in printed(*wrong, code=1)
    assert "Traceback" in printed(*wrong, "--debug", code=1)
    printed("predict", table, model, code=1)
    printed("info", f"missing{NAME}", code=1)
    said = printed("predict", model, table, "--out", f"a{NAME}.txt", code=2)
    assert r"a\x1b[2J" in said
    assert r"a\x1b[2J" in printed("export", model, "--out", f"a{NAME}.txt", code=2)


def test_completion_offers_no_names_with_controls(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"aged,ag{CONTROLS[0]},agent\n1,2,3\n")

    context = SimpleNamespace(params={"data": path}, args=())
    assert complete_column(context, "ag") == ["aged", "agent"]


def test_data_for_programs_is_exact(files):
    table, model = files
    command = [sys.executable, "-m", "co2forest", "predict", model, table, "--keep", f"kind{NAME}"]
    said = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    header, *rows = csv.reader(io.StringIO(said, newline=""))
    frame = hostile()
    assert header == [frame.columns[1], "prediction"]
    assert [row[0] for row in rows] == frame.iloc[:, 1].tolist()
    assert {row[1] for row in rows} == {YES, NO}


@posix
def test_a_terminal_gets_no_controls(files):
    table, model = files
    command = [sys.executable, "-m", "co2forest", "predict", model, table, "--proba", "--keep"]
    said = on_a_terminal([*command, f"kind{NAME},number{NAME}"])
    header, first, *_ = said.splitlines()
    assert header.startswith(r"kind\x1b[2Ja\rb\u202e\x9b31m,number\x1b[2J")
    assert r",yes\x1b[2J\x1b]0;title" in said
    assert float(first.split(",")[1]) == hostile().iloc[0, 0]
    assert not FORBIDDEN & set(said)
    assert not FORBIDDEN & set(on_a_terminal([*command[:3], "evaluate", model, table]))


def on_a_terminal(command):
    """What a command sends to a terminal, whose own line ends are \\r\\n."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 1 << 16):
                pieces.append(piece)
        except OSError:  # how Linux says that nobody writes any more
            pass
        finally:
            os.close(ours)
    said = b"".join(pieces).decode()
    assert process.returncode == 0, said
    return said.replace("\r\n", "\n")


def test_trees_as_text():
    X, y = np.arange(40.0)[:, None], np.repeat([YES, NO], 20)
    model = CO2ForestClassifier(1, random_state=0, mixture=None).fit(X, y)
    for export in (export_text, export_dot):
        text = export(model, feature_names=[f"x{NAME}\n|--- forged"])
        assert not FORBIDDEN & set(text)
        assert r"x\x1b[2J" in text.replace(r"\\", "\\")
        assert not any(line.startswith("|--- forged") for line in text.splitlines())


FORMULAS = ("=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "-1-1", "\uff1d1")


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_a_quote(text):
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "-1.5", "+3", "-2e-5", "-1,5", "007", "'=1", "yes"])
def test_other_texts_stay(text):
    assert without_formula(text) == text


@pytest.fixture
def formulas(tmp_path):
    """A table with formulas in its words, its names and its answers, and a model of it."""
    number = np.linspace(-1, 1, 40)
    table, model = tmp_path / "formulas.csv", tmp_path / "formulas.model"
    kind = np.resize(["=A1", "@b", "-1.5"], 40)
    answer = np.where(number > 0, "=HYPERLINK()", "-no")
    pd.DataFrame({"number": number, "=kind": kind, "answer": answer}).to_csv(table, index=False)
    done("train", table, "--target", "answer", "--out", model, *FAST)
    return "predict", model, table, "--keep", "=kind,number"


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_files_for_spreadsheets(formulas, tmp_path, ending):
    read = {"sep": "\t" if ending == "tsv" else ","}
    done(*formulas, "--out", tmp_path / f"exact.{ending}")
    done(*formulas, "--out", tmp_path / f"safe.{ending}", "--spreadsheet-safe")
    exact, safe = (
        pd.read_csv(tmp_path / f"{name}.{ending}", dtype=str, **read) for name in ("exact", "safe")
    )
    assert exact.columns.tolist() == ["=kind", "number", "prediction"]
    assert safe.columns.tolist() == ["'=kind", "number", "prediction"]
    assert exact["=kind"].tolist()[:3] == ["=A1", "@b", "-1.5"]
    assert safe["'=kind"].tolist()[:3] == ["'=A1", "'@b", "-1.5"]
    assert set(exact["prediction"]) == {"=HYPERLINK()", "-no"}
    assert set(safe["prediction"]) == {"'=HYPERLINK()", "'-no"}
    assert safe["number"].tolist() == exact["number"].tolist()
    assert safe["number"][0] == "-1.0"


def test_standard_output_for_spreadsheets(formulas):
    assert "'=A1," in done(*formulas, "--spreadsheet-safe").stdout
    assert "'" not in done(*formulas).stdout


def test_other_forms_have_no_formulas(formulas, tmp_path):
    option = "--spreadsheet-safe"
    for wrong in (("--json",), ("--out", tmp_path / "a.parquet"), ("--out", tmp_path / "a.npz")):
        last = fails(*formulas, *wrong, option, code=2)
        assert "is for CSV and TSV" in last
        assert not list(tmp_path.glob("a.*"))
