# SPDX-License-Identifier: BSD-3-Clause
"""The page about tables runs, and says what comes out."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "tables.md", "exec"), names)
    said = capsys.readouterr().out.splitlines()
    promised = [line[2:] for line in blocks[0].splitlines() if line.startswith("# ")]
    assert said[: len(promised)] == promised
    assert said[-1].endswith("1.0")
    assert names["model"].encoder_.dropped_ == {"picked": "as asked"}
