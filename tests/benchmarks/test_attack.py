# SPDX-License-Identifier: BSD-3-Clause
"""The attacks of benchmarks/attack: short ones, and whether they see what goes wrong."""

import re
import sys
import textwrap
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.skipif(
        not Path(__file__).parents[2].joinpath("benchmarks").exists(),
        reason="only a source checkout has the benchmarks",
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and forks"),
    pytest.mark.plain_build,  # the builds with sanitizers have attacks of their own
]


def attack(*options):
    """The exit status of a run."""
    from attack import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["run", *map(str, options)])
        return run.main()


@pytest.mark.parametrize(
    "name", ["fits", "sparse", "images", "files", "pickles", "threads", "saves"]
)
def test_some_tries_of_each_attack(name, capsys):
    assert attack("--attacks", name, "--minutes", 0.02, "--jobs", 1, "--seed", 1) == 0
    # Seals refuse all but one in thousands of pickles with a flipped bit.
    outcome = "refused" if name == "pickles" else "fine"
    assert re.search(rf"\b[1-9]\d* {outcome}", capsys.readouterr().out)


@pytest.mark.slow
def test_two_minutes_of_all(capsys):
    """With a new seed every week would find more, but a test must not fail by chance."""
    assert attack("--minutes", 2, "--seed", 2) == 0, capsys.readouterr().out


def test_all_that_must_not_be_is_seen(monkeypatch, tmp_path):
    """A worker that dies, hangs and answers wrongly, and its next one that goes on."""
    from attack import run

    worker = tmp_path / "worker.py"
    worker.write_text(
        textwrap.dedent(
            """
            import os, signal, sys, time

            first = int(sys.argv[sys.argv.index("--first") + 1])
            print(first, "fine\\t", sep="\\n", flush=True)
            print(first + 1, flush=True)
            if first == 0:
                os.kill(os.getpid(), signal.SIGSEGV)
            if first == 2:
                os.kill(os.getpid(), signal.SIGPROF)
            if first == 4:
                time.sleep(100)
            if first == 6:
                sys.exit("no reason")
            print("wrong\\tanother answer")
            """
        )
    )
    monkeypatch.setattr(run, "WORKER", [sys.executable, str(worker)])
    monkeypatch.setattr(run, "PATIENCE", 3.0)
    counts, found = Counter(), []
    run.work(run.Job("co2forest", "fits", 0, 60.0), 0, counts, found, threading.Lock())
    assert [(f.number, f.outcome, f.detail) for f in found] == [
        (1, "process ended", "SIGSEGV"),
        (3, "hang", "over 5 s of computing"),
        (5, "hang", "no sign of life for 3 s"),
        (7, "process ended", "exit status 1: no reason"),
        (9, "wrong", "another answer"),
    ]
    assert counts["co2forest", "fits", "fine"] == 5
    assert counts["co2forest", "fits", "hang"] == 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "fine"),
        (ValueError("no"), "refused"),
        (IndexError("what?"), "unclear error"),
        (MemoryError(), "over 4 GiB"),
    ],
)
def test_what_a_try_comes_to(error, outcome):
    from attack import worker
    from attack.outcomes import FINE

    def action():
        if error:
            raise error
        return FINE

    assert worker._outcome(lambda: action, (ValueError, TypeError))[0] == outcome


def test_unsound_answers_are_seen(monkeypatch, tmp_path):
    from attack import subjects
    from attack.outcomes import Wrong

    ours = subjects.subject("co2forest")
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = ours.plain().fit(X, X[:, 0] > 0)
    ours.check(model, X, tmp_path / "model")
    answers = iter([1, 2, 3])
    monkeypatch.setattr(ours, "answers", lambda *_: np.array([next(answers)]))
    with pytest.raises(Wrong, match="the pickle predicts something else"):
        ours.check(model, X, tmp_path / "model")


def test_a_run_fills_the_csv_file():
    from attack import run, table

    fields = dict.fromkeys(run.FIELDS, "") | {"run": "a", "minutes": "2", "version": "1"}
    rows = [
        fields | {"library": "co2forest", "attack": "fits", "outcome": "fine", "count": "1000"},
        fields | {"library": "co2forest", "attack": "fits", "outcome": "refused", "count": "234"},
        fields | {"library": "xgboost", "attack": "fits", "outcome": "process ended", "count": "7"},
        fields
        | {"run": "0", "library": "xgboost", "attack": "fits", "outcome": "hang", "count": "9"},
    ]
    text = table.of(sorted(rows, key=lambda row: row["run"]))
    assert "1,234 tries, 2 minutes" in text
    assert "| co2forest | fits | 1234 | 1000 | 234 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "| XGBoost | fits | 7 | 0 | 0 | 0 | 0 | 0 | 0 | 7 |" in text
