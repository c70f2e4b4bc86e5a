# SPDX-License-Identifier: BSD-3-Clause
"""Data, fitted forests and scripts that the tests of model files share."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
CODES = np.arange(60) % 3
posix = pytest.mark.skipif(os.name != "posix", reason="not on this system")


def run(code, *arguments):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(os.fspath, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout
