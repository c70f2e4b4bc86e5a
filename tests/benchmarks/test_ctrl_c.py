# SPDX-License-Identifier: BSD-3-Clause
"""How long work goes on after Ctrl-C: one work, and the table of all."""

import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(
        not Path(__file__).parents[2].joinpath("benchmarks").exists(),
        reason="only a source checkout has the benchmarks",
    ),
    pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there"),
]


@pytest.mark.plain_build  # in which 0.25 s are enough
def test_a_run_fills_the_csv_file(monkeypatch, tmp_path, capsys):
    import pages
    import store
    from ctrl_c import run, table

    options = ["--moments", "4", "--work", "explain", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run", *options])
    monkeypatch.setattr(pages, "main", lambda: None)
    assert run.main() == 0
    assert "work explain, threads 2, moments 2, ended 2" in capsys.readouterr().out
    rows = store.read(tmp_path / table.CSV)
    assert "| explain | 4 | 4 | " in table.of(rows)
    # A later run of some work counts.
    late = [row | {"run": "9", "computing_most": "0.999", "threads_left": "3"} for row in rows]
    assert table.of([*rows, *late]).count("| explain | 4 | 4 | ") == 1
    assert " / 0.999 | " in table.of([*rows, *late])


def test_work_that_goes_on_fails_the_run(monkeypatch, tmp_path):
    import pages
    from ctrl_c import run

    slow = {"work": "explain", "threads": 1, "moments": 1, "ended": 1, "computing_most": 0.3}
    slow |= {"computing_median": 0.3, "waiting_most": 0.4, "threads_left": 0}
    monkeypatch.setattr(run, "measure", lambda *_: slow)
    monkeypatch.setattr(pages, "main", lambda: None)
    monkeypatch.setattr(sys, "argv", ["run", "--work", "explain", "--results", str(tmp_path)])
    assert run.main() == 1
