# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of CONTRIBUTING.md: their edits and new files, applied to a copy of the sources."""

import re
import shutil
from typing import NamedTuple

from markdown_pages import ROOT

# `path`: at the end of a paragraph, and the block below it.
STEP = re.compile(
    r"(?P<new>New\s+file\s+)?`(?P<path>[^`]+)`:\n\n```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Step(NamedTuple):
    path: str
    text: str
    new: bool  # a whole file, not an edit

    def apply(self, tree):
        """Change a copy of the sources; an AssertionError says what the recipe has wrong."""
        path = tree / self.path
        if self.new:
            assert not path.exists(), f"{self.path} exists already"
            assert path.parent.is_dir(), f"{self.path}: no such folder"
            path.write_text(self.text)
            return
        lines = self.text.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        source = path.read_text()
        assert source.count(before) == 1, f"{self.path} has {source.count(before)} times:\n{before}"
        path.write_text(source.replace(before, after))


def recipe(title):
    """The steps of the section with this heading."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.split(f"\n### {title}\n")[1].split("\n### ")[0]
    steps = [
        Step(found["path"], found["text"], found["new"] is not None)
        for found in STEP.finditer(section)
    ]
    assert len(steps) == section.count("```") // 2, f"a block of '{title}' does not name its file"
    return steps


def copy_of_sources(folder):
    """Sources, tests and what a build needs; compiled modules, too, if they lie among them."""
    tree = folder / "co2forest"
    ignored = shutil.ignore_patterns("__pycache__", "results")
    for name in ("benchmarks", "native", "src", "tests"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    return tree
