# SPDX-License-Identifier: BSD-3-Clause
"""Damaged model files: refused with a message, or harmless; never a crash and never a hang."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import damage

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no timer that ends a process")

BATCH = 2000  # the start of a process takes as long as a thousand files or more


def run(seed, count):
    """Outcomes of one batch, in a process with 4 GiB of memory and 5 s of computing for a file."""
    result = subprocess.run(
        [sys.executable, os.fspath(Path(damage.__file__)), str(seed), str(count)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert result.returncode == 0, f"{result.returncode}: {result.stderr[-2000:]}"
    return Counter(json.loads(result.stdout))


@pytest.mark.parametrize("seed", range(2))
def test_four_thousand_damaged_files(seed):
    outcomes = run(seed, BATCH)
    assert outcomes.total() == BATCH
    for kind in damage.ACCIDENTS + damage.EDITS:
        assert outcomes[f"{kind.__name__} refused"] > 20
    # Edits with a right checksum are not all refused: the checks of the contents are at work.
    assert outcomes["other_number accepted"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_a_hundred_thousand_damaged_files(seed):
    assert run(seed, 2500).total() == 2500
