# SPDX-License-Identifier: BSD-3-Clause
"""The attacks of benchmarks/robustness, short ones; no optional library is needed."""

import os
import signal
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(
        not Path(__file__).parents[2].joinpath("benchmarks").exists(),
        reason="only a source checkout has the benchmarks",
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and forks"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
    pytest.mark.plain_build,  # its children have a limit of address space
]


def test_deaths_hangs_and_exceptions_are_told_apart():
    from robustness import forks

    assert forks.attempt(lambda: "fine") == ("fine", "")
    assert forks.attempt(lambda: int("x")) == ("exception", "ValueError")
    assert forks.attempt(lambda: bytearray(5 << 30)) == ("exception", "MemoryError")
    assert forks.attempt(lambda: os._exit(3)) == ("killed", "exit status 3")
    assert forks.attempt(lambda: os.kill(os.getpid(), signal.SIGSEGV)) == ("killed", "SIGSEGV")
    assert forks.attempt(lambda: time.sleep(60), seconds=1) == ("hang", "SIGALRM")


@pytest.mark.parametrize(
    ("library", "forged"),
    [("co2forest", {"exception"}), ("random_forest", {"killed", "exception"})],
)
def test_files(library, forged, tmp_path):
    from robustness import files
    from robustness.targets import TARGETS

    target = TARGETS[library]()
    files.save(target, tmp_path)
    files.spoil(tmp_path, trials=6)
    counts = Counter()
    for result in files.load(target, tmp_path):
        counts[result["attack"], result["outcome"]] += result["count"]
    n_formats = len(target.formats())
    assert sum(counts["forged child", outcome] for outcome in forged) == 2 * n_formats
    assert sum(n for (attack, _), n in counts.items() if attack == "damaged file") == 6 * n_formats
    if library == "co2forest":
        assert counts["damaged file", "killed"] == counts["damaged file", "hang"] == 0


def test_a_run_fills_csv_and_document(monkeypatch, tmp_path):
    """With results as processes give them."""
    import store
    from robustness import run, table

    def start(library, attack, **options):
        if library == "random_forest" and attack == "fork":
            return [{"outcome": "killed", "detail": "SIGABRT"}]
        if attack == "Ctrl-C":
            detail = f"{options['threads']} threads at work afterwards"
            return [{"outcome": "KeyboardInterrupt", "value": 0.25, "detail": detail}]
        if attack == "predict twice":
            return [{"outcome": "different", "value": 7}]
        return [{"outcome": "failed", "detail": "no reason"}]

    monkeypatch.setattr(run, "start", start)
    args = Namespace(
        results=tmp_path, attacks=["fork", "interruption", "repetition"], repeats=3, trials=1
    )
    run.run_all(args, "a", ["co2forest", "random_forest"])
    rows = store.rows_of_run(tmp_path / run.CSV, "a")
    assert [row["outcome"] for row in rows if row["library"] == "random_forest"][:3] == 3 * [
        "killed"
    ]
    run.run_all(args, "a", ["co2forest"])  # all of it is done already
    assert store.rows_of_run(tmp_path / run.CSV, "a") == rows
    text = table.tables(rows)
    assert "| not measured | killed: SIGABRT (3) |" in text
    assert "0.25 s, KeyboardInterrupt (3), up to 2 threads work on" in text
    assert "equal predictions | 7 | 7 |" in text
    assert "- co2forest, fork: failed, no reason" in text


def test_an_attack_in_a_process_of_its_own():
    from robustness import run

    (result,) = run.start("co2forest", "fork")
    assert result["outcome"] == "works"
    (result,) = run.start("co2forest", "fork", seconds=0.01)
    assert result["outcome"] == "hang"
