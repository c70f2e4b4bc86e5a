# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands of ``co2forest`` on small tables, for the tests of the command line."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from co2forest.cli.app import app

FAST = ("--trees", 5, "--jobs", 1, "--quiet")
TRAIN_FAST = (*FAST, "--rounds", 10)


def run(*args, stdin=None):
    return CliRunner().invoke(app, list(map(str, args)), input=stdin)


def done(*args, stdin=None):
    """A command that must succeed."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def found(*args, stdin=None):
    """What a command prints with --json."""
    return json.loads(done(*args, "--json", stdin=stdin).stdout)


def fails(*args, code=1, stdin=None):
    """The last line of a command that fails, which is all of its complaint."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert not result.stdout or code == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith("co2forest: ") or code == 2
    return last


def customers(n=240, seed=0):
    """Rows with an identifier, a constant, categories, dates and missing values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    plan = rng.choice(["basic", "plus", "pro"], n)
    spent = rng.gamma(3, 15, n).round(2)
    score = 0.06 * (age - 45) + (plan == "basic") + rng.normal(0, 0.5, n)
    frame = pd.DataFrame(
        {
            "id": [f"{seed}-{number:04}" for number in range(n)],
            "age": age,
            "plan": plan,
            "spent": np.where(rng.random(n) < 0.1, np.nan, spent),
            "joined": (pd.Timestamp(2020, 1, 1) + pd.to_timedelta(rng.integers(0, 900, n), "D")),
            "currency": "EUR",
            "churn": np.where(score > 0.4, "yes", "no"),
            "value": (10 * score + spent).round(3),
        }
    )
    return frame.assign(joined=frame["joined"].dt.strftime("%Y-%m-%d"))
