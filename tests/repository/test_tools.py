# SPDX-License-Identifier: BSD-3-Clause
"""What is written down in two places agrees."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

pytestmark = pytest.mark.skipif(
    not (ROOT / "Makefile").exists(), reason="only in a source checkout"
)


def test_pre_commit_has_the_versions_of_make_lint():
    config = (ROOT / ".pre-commit-config.yaml").read_text()
    pinned = set(re.findall(r"[\w-]+==[\d.]+", config))
    assert pinned
    assert pinned <= set(EXTRAS["lint"])


def test_makefile_stays_short():
    assert len((ROOT / "Makefile").read_text().splitlines()) < 150


def commands():
    lines = (ROOT / "benchmarks" / "commands.txt").read_text().splitlines()
    return [line.split(maxsplit=3) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command[0])
def test_benchmark_commands_can_run(command):
    _, needs, run, description = command
    module = run.split("+")[0].replace(".", "/")
    assert (ROOT / "benchmarks" / f"{module}.py").is_file()
    assert set(needs.split("+")) <= {"tools", "package", "environments", *EXTRAS}
    assert description


def test_oldest_constraints_are_the_lower_bounds():
    script = ROOT / "scripts" / "oldest_constraints.py"
    shown = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    lines = shown.stdout.split()
    assert lines == sorted(lines)
    bounded = {r.split(">=")[0].split("[")[0] for r in EXTRAS["test"]}
    assert bounded <= {line.split("==")[0] for line in lines}
