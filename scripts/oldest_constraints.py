# SPDX-License-Identifier: BSD-3-Clause
"""Print pip constraints that hold each dependency at its lower bound in pyproject.toml.

Tests that pass with them show that the bounds are right.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def constraints() -> set[str]:
    """One ``name==version`` for each ``name[extras]>=version`` that the tests install."""
    found = set()
    for requirement in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]:
        if match := re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement):
            found.add("==".join(match.groups()))
    return found


if __name__ == "__main__":
    print(*sorted(constraints()), sep="\n")
