# SPDX-License-Identifier: BSD-3-Clause
"""The command ``co2forest`` as a process: interruption, exit codes, what it needs."""

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points

import pytest
from typer.testing import CliRunner

import co2forest
from co2forest import __version__
from co2forest.cli import main
from co2forest.cli.app import app
from co2forest.segmentation import ForestSegmenter
from segment_command import SMALL, fails, run


class TestInterrupt:
    def test_training(self, folders, out, monkeypatch):
        def fit(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(ForestSegmenter, "_fit", fit)
        line = fails("train", *folders, "--out", out, *SMALL, code=130)
        assert line == "co2forest: interrupted"
        assert not out.exists()

    def test_prediction(self, folders, stored, out, monkeypatch):
        calls = []

        def write(path, *_):
            calls.append(path)
            if len(calls) == 3:
                raise KeyboardInterrupt
            path.touch()

        monkeypatch.setattr("co2forest.cli.actions.segment.predict.write_label_map", write)
        assert fails("predict", stored, folders[0], "--out", out, "--no-overlay", code=130)
        assert sorted(path.name for path in out.iterdir()) == ["0.png", "1.png"]

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there")
    def test_a_signal(self, folders, out):
        command = ("segment", "train", *folders, "--out", out, "--window", 5, "--trees", 100_000)
        with subprocess.Popen(
            [sys.executable, "-m", "co2forest", *map(str, command), "--jobs", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stderr.readline().startswith("co2forest [")  # its progress
                time.sleep(0.3)  # so that trees are growing
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=240)
            finally:
                process.kill()
        assert process.returncode == 130
        assert errors.splitlines()[-1] == "co2forest: interrupted"
        assert "Traceback" not in errors
        assert not out.exists()
        assert not list(out.parent.glob(".*.tmp"))


class TestMain:
    """The command as a whole."""

    def test_both_names_of_the_command(self, folders, stored, out):
        command = ("segment", "predict", stored, folders[0], "--out", out, "--json", "--jobs", 1)
        done = subprocess.run(
            [sys.executable, "-m", "co2forest", *map(str, command)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(json.loads(done.stdout)["images"]) == 5
        (script,) = entry_points(group="console_scripts", name="co2forest")
        assert script.load() is main

    @pytest.mark.parametrize(
        ("missing", "line"),
        [
            ("typer", "co2forest: the command line needs typer: pip install 'co2forest[cli]'"),
            ("rich", "co2forest: the command line needs rich: pip install 'co2forest[cli]'"),
            ("PIL.Image", "co2forest: image files need Pillow: pip install 'co2forest[images]'"),
        ],
    )
    def test_missing_libraries(self, folders, stored, out, monkeypatch, capsys, missing, line):
        # What is loaded before the test comes back after it.
        importlib.import_module("co2forest.cli.actions.segment.predict")
        again = ("co2forest.cli.", "rich.")  # to be imported once more
        for module in [name for name in sys.modules if name.startswith(again)]:
            monkeypatch.delitem(sys.modules, module)
            package, _, name = module.rpartition(".")
            if package == "co2forest.cli":
                monkeypatch.delattr(f"{package}.{name}", raising=False)
        monkeypatch.setitem(sys.modules, missing, None)
        command = ("co2forest", "segment", "predict", stored, folders[0], "--out", out)
        monkeypatch.setattr(sys, "argv", list(map(str, command)))
        with pytest.raises(SystemExit) as info:
            main()
        assert info.value.code == 1
        printed = capsys.readouterr()
        assert printed.err.startswith(line)
        assert len(printed.err.splitlines()) == 1
        assert not printed.out
        assert not out.exists()

    def test_version_and_help(self):
        result = CliRunner().invoke(app, ["--version"])
        assert (result.exit_code, result.stdout) == (0, f"co2forest {__version__}\n")
        for command in ([], ["segment"], ["segment", "train"], ["segment", "predict"]):
            result = CliRunner().invoke(app, [*command, "--help"])
            assert result.exit_code == 0
            assert "Usage: " in result.stdout

    def test_an_interrupted_start(self, monkeypatch, capsys):
        def load(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("builtins.__import__", load)
        with pytest.raises(SystemExit) as info:
            main()
        assert info.value.code == 130
        assert capsys.readouterr().err == "co2forest: interrupted\n"

    def test_names_of_any_bytes(self, folders, stored, tmp_path):
        out = tmp_path / os.fsdecode(b"\xff\xe4")
        result = run("predict", stored, folders[0], "--out", out, "--quiet")
        assert result.exit_code == 0, result.output
        assert "5 of 5 images labelled" in result.stdout
        assert not result.stderr

    def test_a_pipe_that_nobody_reads(self, folders, stored, out, monkeypatch):
        def say(_):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        monkeypatch.setattr("co2forest.cli.actions.segment.predict.say", say)
        result = run("predict", stored, folders[0], "--out", out, "--quiet")
        assert result.exit_code == 141
        assert not result.stderr
        assert len(list(out.iterdir())) == 10

    @pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
    def test_a_pipe_that_is_closed(self, tables):
        command = ("predict", tables / "churn.model", tables / "test.csv", "--jobs", "1")
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            ended = subprocess.run(
                [sys.executable, "-m", "co2forest", *map(str, command)],
                stdout=closed,
                stderr=subprocess.PIPE,
                check=False,
            )
        assert (ended.returncode, ended.stderr) == (141, b"")


class TestCompletion:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("co2forest tra", ["train"]),
            ("co2forest train FILE --target p", ["plan"]),
            ("co2forest predict MODEL FILE --keep ", ["id", "age", "plan"]),
            ("co2forest report MODEL --data FILE --target a", ["age"]),
            ("co2forest train NONE --target p", []),
            ("co2forest export MODEL --to o", ["onnx"]),
        ],
    )
    def test_commands_values_and_columns(self, tmp_path, line, expected):
        (tmp_path / "t.csv").write_text("id;age; plan\n1;2;3\n")
        words = line.replace("FILE", str(tmp_path / "t.csv"))
        shell = {
            "_CO2FOREST_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        result = CliRunner().invoke(app, [], prog_name="co2forest", env=shell)
        assert result.stdout.split() == expected


def test_names_are_loaded_when_they_are_used():
    assert set(co2forest.__all__) <= set(dir(co2forest))
    for name in co2forest.__all__:
        assert getattr(co2forest, name) is not None
    assert co2forest.tuning.tune_forest is not None
    with pytest.raises(AttributeError, match="module 'co2forest' has no attribute 'forest'"):
        _ = co2forest.forest
