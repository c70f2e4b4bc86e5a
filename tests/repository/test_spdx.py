# SPDX-License-Identifier: BSD-3-Clause
"""Every source file names its licence in its first line, or in its second after a ``#!``."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["src", "native", "tests", "benchmarks", "scripts", "examples", "docs"]
COMMENTS = {
    ".py": "# {}",
    ".sh": "# {}",
    ".cpp": "// {}",
    ".hpp": "// {}",
    ".js": "// {}",
    ".css": "/* {} */",
}

pytestmark = pytest.mark.skipif(not (ROOT / "native").exists(), reason="only in a source checkout")


def has_licence(path):
    lines = path.read_text().splitlines()[:2]
    if lines and lines[0].startswith("#!"):
        del lines[0]
    expected = COMMENTS[path.suffix].format("SPDX-License-Identifier: BSD-3-Clause")
    return lines[:1] == [expected]


def test_every_source_file_names_its_licence():
    files = [p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.suffix in COMMENTS]
    assert len(files) > 400
    assert [str(p.relative_to(ROOT)) for p in files if not has_licence(p)] == []
