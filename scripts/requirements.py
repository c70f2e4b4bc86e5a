# SPDX-License-Identifier: BSD-3-Clause
"""Print requirements from pyproject.toml, one per line, for ``pip install --requirement``.

Usage: requirements.py NAME...

A name is an extra, such as "test"; "backend" for what compiling takes; "build" for that and what
importing the package takes; or "cibuildwheel" for what testing a wheel takes.
"""

import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())


def requirements(name: str) -> list[str]:
    """The requirements of one name."""
    if name == "backend":
        return [*PROJECT["build-system"]["requires"], "cmake", "ninja"]
    if name == "build":
        return [*requirements("backend"), *PROJECT["project"]["dependencies"]]
    if name == "cibuildwheel":
        return PROJECT["tool"]["cibuildwheel"]["test-requires"]
    return PROJECT["project"]["optional-dependencies"][name]


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*requirements(argument), sep="\n")
