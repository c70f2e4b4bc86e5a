# SPDX-License-Identifier: BSD-3-Clause
"""Runs ``co2forest segment`` on small images, for the tests of the command line."""

import numpy as np
from typer.testing import CliRunner

from co2forest.cli.app import app

SMALL = ("--window", 5, "--trees", 2, "--samples-per-tree", 500, "--jobs", 1)


def run(*args):
    return CliRunner().invoke(app, ["segment", *map(str, args)])


def fails(*args, code=1):
    """The one line of a command that fails."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("co2forest [")]
    assert len(lines) == 1 or code == 2, result.stderr
    assert lines[-1].startswith("co2forest: ") or code == 2
    return lines[-1]


def draw(number, height=20, width=24):
    """A light disc on dark ground with noise, and where it is."""
    rng = np.random.default_rng(number)
    row, column = rng.integers(6, 14, 2)
    rows, columns = np.ogrid[:height, :width]
    disc = (rows - row) ** 2 + (columns - column) ** 2 < 30
    image = np.where(disc[:, :, np.newaxis], (180, 120, 60), (70, 90, 110))
    image = np.clip(image + rng.normal(scale=25, size=image.shape), 0, 255).astype(np.uint8)
    return image, np.where(disc, 7, 2).astype(np.uint8)
