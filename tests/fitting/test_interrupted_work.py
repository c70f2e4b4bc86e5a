# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in work of every kind; benchmarks/ctrl_c has more moments of each."""

import json
import os
import subprocess
import sys

import pytest

import interruptions
import long_work
from co2forest import _native
from co2forest.baselines import BaselineForestClassifier
from co2forest.files.registry import ESTIMATORS

pytestmark = [
    pytest.mark.threads,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there"),
]

PATIENCE = float(os.environ.get("CO2FOREST_TEST_PATIENCE", "1"))
COMPUTING = 0.25 * PATIENCE  # seconds of a thread after the signal
GROUPS = 6  # of work, each in a process of its own
NAMES = list(long_work.WORK)


def interrupted(threads, moments, names):
    result = subprocess.run(
        [sys.executable, interruptions.__file__, str(threads), str(moments), *names],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # whose threads compute while they wait
        capture_output=True,
        text=True,
        check=False,
        timeout=280 * PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["work"] for each in found] == names
    for each in found:
        for moment in each["moments"]:
            shown = each["work"], moment
            assert moment["outcome"] == "KeyboardInterrupt", shown
            assert moment["computing"] / threads < COMPUTING, shown
            assert moment["threads_left"] == 0, shown


@pytest.mark.parametrize("group", range(GROUPS))
def test_all_work_ends_soon(group):
    interrupted(1 + group % 2, 2, NAMES[group::GROUPS])


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("group", range(GROUPS))
def test_all_work_ends_soon_at_many_moments(group, threads):
    interrupted(threads, 12, NAMES[group::GROUPS])


def test_every_estimator_loss_and_split_is_interrupted():
    """Also those that the next version adds."""
    fitted = {kind for kind, *_ in long_work.FITS.values()} | {"ForestSegmenter"}
    # These have no split of their own.
    assert fitted == ESTIMATORS.keys() - {"BaselineForestClassifier", "BaselineForestRegressor"}
    splits = BaselineForestClassifier._parameter_constraints["split"][0].options
    assert splits == {"axis", "two_probe", "oc1", "cart_lc", "lda"}
    losses = {params.get("loss", "squared") for _, params, *_ in long_work.FITS.values()}
    assert losses == {loss.name for loss in _native.losses() if loss.chosen_by_user}
    kinds = {rows for *_, rows, _ in long_work.FITS.values()}
    assert kinds == long_work.ROWS.keys()
