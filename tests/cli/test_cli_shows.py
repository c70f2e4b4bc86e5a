"""``co2forest reproduce`` and ``co2forest demo``."""

import numpy as np
import pytest

from co2forest.cli import _reproduce
from co2forest.datasets import Dataset, DatasetNotFoundError
from table_command import done, fails, found


@pytest.fixture
def small(monkeypatch, blobs):
    """A set in place of the paper's, and the names that were asked for."""
    X, y = blobs
    asked = []

    def load(name, *, folder=None, download=True):
        asked.append((name, download))
        if name != "pendigits":
            raise DatasetNotFoundError(f"{name} is not there")
        return Dataset(name, "complete", X[:200], y[:200], X[200:], y[200:], "", "")

    monkeypatch.setattr(_reproduce, "load_dataset", load)
    return asked


class TestReproduce:
    def test_the_published_table(self):
        table = _reproduce.published()
        assert len(table) == 9
        assert all(set(sizes) == {10, 30, 1000} for sizes in table.values())
        assert table["letter"][30] == _reproduce.Published(2.3, 4.7, 5.0)
        assert table["mnist"][10].oc1 is None

    def test_a_quick_look(self, small):
        answer = found("reproduce", "--quick", "--jobs", 1, "--quiet")
        (result,) = answer["sets"]
        assert result["set"] == "pendigits"  # the first that is there
        assert [row["trees"] for row in result["sizes"]] == [10, 30]
        assert [row["paper_co2"] for row in result["sizes"]] == [1.8, 1.7]
        assert all(0 <= row["error_percent"] < 60 for row in result["sizes"])

    def test_what_is_printed(self, small):
        result = done("reproduce", "--quick", "--jobs", 1)
        line = next(line for line in result.stdout.splitlines() if line.startswith("pendigits"))
        assert line.split()[1] == "10"
        assert "A difference within noise is smaller" in result.stdout
        assert "pendigits: choosing parameters, then growing trees" in result.stderr
        assert all(len(line) <= 81 for line in result.stdout.splitlines())

    def test_sets_that_are_not_there(self, small):
        assert fails("reproduce", "--sets", "letter") == "co2forest: letter is not there"
        assert small == [("letter", True)]
        line = fails("reproduce", "--sets", "leter")
        assert line.startswith("co2forest: --sets: there is no leter; did you mean letter? (there")

    def test_no_set_at_all(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CO2FOREST_CACHE", str(tmp_path))
        monkeypatch.delenv("CO2FOREST_DATA", raising=False)
        line = fails("reproduce")
        assert "no data set of the paper is on this machine: name a folder by --data" in line
        line = fails("reproduce", "--data", tmp_path / "none")
        assert "must name a folder that exists" in line

    def test_errors_are_means_over_blocks(self):
        blocks = _reproduce._Blocks([1, 2], np.array([0, 1]))
        for second_row in ([0.6, 0.4], [0.0, 1.0]):  # wrong, right; right together
            blocks.add(np.array([[1.0, 0.0], second_row]))
        assert blocks.errors() == {1: 25.0, 2: 0.0}


def test_demo(monkeypatch):
    monkeypatch.setattr("co2forest.demo._TREES", (2,))
    rows = found("demo")["measurements"]
    assert [row["method"] for row in rows] == ["random forest", "CO2 forest"]
    printed = done("demo").stdout
    assert "Handwritten digits" in printed
    assert "CO2 forest                   2" in printed
